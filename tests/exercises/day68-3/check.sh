# shellcheck shell=bash
standard || true
