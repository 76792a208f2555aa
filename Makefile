# Same bits, every time. `make help` lists the commands; overview and lessons: README.md.
# Written for GNU Make 3.81, which macOS ships: no !=, no ::=, no $(file), no grouped targets.

LESSONS := day68_reproducibility precision_reduction fpmp_pi canonical_tree
LESSONS := $(foreach l,$(LESSONS),$(if $(wildcard $(l)/*.cu),$(l)))

BUILD ?= build
LESSON ?= $(LESSONS)
DEFS ?=
SANITIZE ?=
# fpmp_pi's type, its header and size, and CCCL's headers: what `make cccl` fetched, where it did.
PI_FP_T ?=
PI_FP_HEADER ?=
PI_LOG2_TERMS ?=
CCCL ?= $(if $(wildcard .cccl/version),$(abspath .cccl))
ifeq ($(origin NVCC),undefined)
NVCC := $(shell command -v nvcc || { test -x /usr/local/cuda/bin/nvcc && echo /usr/local/cuda/bin/nvcc; } || echo nvcc)
endif

# All cores build, unless a -j on the command line says otherwise; a make below takes what it is given.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null),1)
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: build run check check-all doctor match expected types cccl bench sanitize clean help test-env FORCE
.DEFAULT_GOAL := build

# ---- What was asked for, checked before anything is built -------------------------------------
ifneq ($(strip $(words $(BUILD)) $(foreach c,~ * ? [,$(findstring $(c),$(BUILD)))),1)
$(error BUILD must be one path without spaces or ~ * ? [, not '$(BUILD)')
endif
ifneq ($(wildcard $(BUILD)),$(patsubst %/.,%,$(wildcard $(BUILD)/.)))
$(error BUILD='$(BUILD)' is a file, not a folder)
endif
ifneq ($(words $(CURDIR)),1)
$(error make cannot work in a folder whose path has blanks: '$(CURDIR)')
endif
# By whatever name: this folder, one above it, or one of its own that is no build.
build_path := $(abspath $(BUILD)) $(realpath $(BUILD))
sources := $(addprefix $(CURDIR)/,.git .ci cpu tests tools expected_output $(LESSONS))
ifneq ($(filter $(addsuffix /%,$(build_path)),$(CURDIR)/.)$(filter / $(sources) $(addsuffix /%,$(sources)),$(build_path)),)
$(error BUILD='$(BUILD)' is a folder of sources, and `make clean` removes BUILD)
endif
ifeq ($(strip $(LESSON)),)
$(error LESSON is empty: the lessons are $(LESSONS))
endif
ifneq ($(filter-out $(LESSONS),$(LESSON)),)
$(error unknown LESSON '$(LESSON)': the lessons are $(LESSONS))
endif
ifneq ($(filter-out address thread undefined,$(SANITIZE))$(word 2,$(SANITIZE)),)
$(error unknown SANITIZE '$(SANITIZE)': one of address, thread, undefined)
endif

# These look at no compiler and no card.
ifneq ($(filter-out help clean cccl,$(or $(MAKECMDGOALS),build)),)
# Clusters set an ARCH of their own in the environment; only one that names a card's is meant for us.
ifeq ($(origin ARCH),environment)
ifeq ($(filter sm_%,$(ARCH)),)
override ARCH :=
endif
endif
# Words: gpu|cpu, sm_NN, then why; or "error" and what is wrong.
CHOICE := $(shell NVCC='$(NVCC)' CC='$(CC)' BUILD='$(BUILD)' DEVICE='$(DEVICE)' ARCH='$(ARCH)' bash tools/choose_device.sh)
ifeq ($(filter gpu cpu,$(firstword $(CHOICE))),)
$(error $(or $(wordlist 2,99,$(CHOICE)),tools/choose_device.sh did not answer))
endif
# A second := on the command line's own variables needs override.
override DEVICE := $(word 1,$(CHOICE))
override ARCH := $(word 2,$(CHOICE))
DEVICE_WHY := $(wordlist 3,99,$(CHOICE))
# Words: target=..., fma=yes|no, openmp=yes|no, id=COMPILER; or "error" and what is wrong.
HOST := $(shell CXX='$(CXX)' CC='$(CC)' BUILD='$(BUILD)' bash tools/host_flags.sh)
# `make doctor` runs without a compiler too: that is what it is asked about.
ifeq ($(filter target=%,$(HOST)),)
ifneq ($(MAKECMDGOALS),doctor)
$(error $(or $(wordlist 2,99,$(HOST)),tools/host_flags.sh did not answer))
endif
endif
FMA := $(patsubst fma=%,%,$(filter fma=%,$(HOST)))
OPENMP := $(patsubst openmp=%,%,$(filter openmp=%,$(HOST)))
HOST_ID := $(patsubst id=%,%,$(filter id=%,$(HOST)))
HOST_TARGET := $(patsubst target=%,%,$(filter target=%,$(HOST)))
ifneq ($(SANITIZE),)
ifneq ($(DEVICE),cpu)
$(error SANITIZE=$(SANITIZE) is for the CPU default (DEVICE=cpu); on a card: make sanitize)
endif
endif
endif

quote = '$(subst ','\'',$(1))'
pi_env = PI_FP_T=$(call quote,$(PI_FP_T)) PI_FP_HEADER=$(call quote,$(PI_FP_HEADER)) \
	PI_LOG2_TERMS=$(call quote,$(PI_LOG2_TERMS)) CCCL=$(call quote,$(CCCL))
ifneq ($(PI_FP_T)$(PI_FP_HEADER)$(PI_LOG2_TERMS),)
ifneq ($(DEVICE),)
PI_FLAGS := $(shell $(pi_env) DEVICE=$(DEVICE) bash tools/pi_flags.sh)
ifeq ($(firstword $(PI_FLAGS)),error)
$(error $(wordlist 2,99,$(PI_FLAGS)))
endif
FLAGS_fpmp_pi := $(PI_FLAGS)
FLAGS_fpmp_tour := $(PI_FLAGS)
endif
endif

# ---- Programs: every .cu of a lesson, each built with and without contraction -----------------
program_names = $(basename $(notdir $(wildcard $(addsuffix /*.cu,$(1)))))
lesson_of = $(strip $(foreach l,$(LESSONS),$(if $(wildcard $(l)/$(1).cu),$(l))))
PROGRAMS := $(call program_names,$(LESSONS))
NOFMAD := $(addsuffix _nofmad,$(PROGRAMS))
chosen := $(call program_names,$(LESSON))
# Fused device code on a CPU needs its FMA; without one that build is left out, and said.
fused_chosen := $(if $(filter cpu-no,$(DEVICE)-$(FMA)),,$(chosen))
builds = $(fused_chosen) $(addsuffix _nofmad,$(chosen))
vpath %.cu $(LESSONS)

# ---- Flags -----------------------------------------------------------------------------------
# Host code must give the same bits everywhere, and gcc contracts it by default on AArch64.
HOST_FLAGS := -std=c++17 -O3 -ffp-contract=off
openmp = $(if $(filter canonical_tree,$(call lesson_of,$(1))),$(if $(filter yes,$(OPENMP)),$(if $(SANITIZE),,-fopenmp)))
# Flags that only one program has: $(call program_flags,program).
program_flags = $(FLAGS_$(1)) $(DEFS)

# A CUDA thread's stack is small: no frame may reach beyond the guard at its end (cpu/engine.c).
STACK := -fstack-clash-protection
MFMA := $(if $(filter x86_64-yes,$(HOST_TARGET)-$(FMA)),-mfma)
SAN_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -g -fno-omit-frame-pointer)
CPU_CFLAGS := -std=c11 -O2 $(SAN_FLAGS) -pthread
# $(call cpu_flags,program,1 or 0). What stands beside the .cu is found from the generated file too.
cpu_flags = $(HOST_FLAGS) $(STACK) $(MFMA) $(SAN_FLAGS) -DCUDA_CPU_FMAD=$(2) -Icpu -iquote $(call lesson_of,$(1)) $(call openmp,$(1)) $(call program_flags,$(1))
# CXX picks nvcc's host compiler too, where it was named.
CCBIN := $(if $(filter default undefined,$(origin CXX)),,-ccbin $(CXX))
# $(call gpu_flags,program,-fmad=false or nothing)
gpu_flags = $(CCBIN) -std=c++17 -O3 -arch=$(ARCH) $(2) -Xcompiler -ffp-contract=off $(addprefix -Xcompiler ,$(call openmp,$(1))) $(call program_flags,$(1))

# A stamp holds the compiler and the flags a file was built with, and is touched only when they
# change: no output is ever taken from a binary that was built for something else.
write_stamp = @mkdir -p $(@D); printf '%s\n' $(call quote,$(1)) | cmp -s - $@ || printf '%s\n' $(call quote,$(1)) > $@

CPU_DIR := $(BUILD)/cpu
GPU_DIR := $(BUILD)/gpu
TOOLS := $(BUILD)/tools
CPU_HEADERS := $(wildcard cpu/*.h)
RUNTIME_SOURCES := $(filter-out cpu/cu_rewrite.c,$(wildcard cpu/*.c))
RUNTIME := $(patsubst cpu/%.c,$(CPU_DIR)/%.o,$(RUNTIME_SOURCES))
SUITE := $(addprefix $(BUILD)/$(DEVICE)/,$(builds))

build: $(SUITE)
	@$(if $(filter cpu-no,$(DEVICE)-$(FMA)),echo 'left out: the fused builds of $(chosen): this CPU has no FMA')

# ---- CPU default: rewrite the .cu, compile it as C++ with the runtime in cpu/ ------------------
$(TOOLS)/cu_rewrite: cpu/cu_rewrite.c
	@mkdir -p $(@D)
	$(CC) -std=c11 -O2 -Wall -Wextra -o $@.tmp $< && mv $@.tmp $@

$(CPU_DIR)/gen/%.cpp: %.cu $(TOOLS)/cu_rewrite
	@mkdir -p $(@D)
	@$(TOOLS)/cu_rewrite $< $@.d $@ > $@.tmp && mv $@.tmp $@

$(CPU_DIR)/flags/.runtime: FORCE
	$(call write_stamp,$(CC) $(CPU_CFLAGS) $(HOST_ID))
$(RUNTIME): $(CPU_DIR)/%.o: cpu/%.c $(CPU_HEADERS) $(CPU_DIR)/flags/.runtime
	@mkdir -p $(@D)
	$(CC) $(CPU_CFLAGS) -Icpu -c -o $@.tmp $< && mv $@.tmp $@

$(addprefix $(CPU_DIR)/flags/,$(PROGRAMS)): $(CPU_DIR)/flags/%: FORCE
	$(call write_stamp,$(CXX) $(call cpu_flags,$*,1) $(HOST_ID))
$(addprefix $(CPU_DIR)/flags/,$(NOFMAD)): $(CPU_DIR)/flags/%_nofmad: FORCE
	$(call write_stamp,$(CXX) $(call cpu_flags,$*,0) $(HOST_ID))

compile_cpu = $(CXX) $(call cpu_flags,$*,$(1)) -MMD -MP -MT $@ -MF $@.d -o $@.tmp $< $(RUNTIME) -pthread && mv $@.tmp $@
$(addprefix $(CPU_DIR)/,$(PROGRAMS)): $(CPU_DIR)/%: $(CPU_DIR)/gen/%.cpp $(RUNTIME) $(CPU_DIR)/flags/%
	$(call compile_cpu,1)
$(addprefix $(CPU_DIR)/,$(NOFMAD)): $(CPU_DIR)/%_nofmad: $(CPU_DIR)/gen/%.cpp $(RUNTIME) $(CPU_DIR)/flags/%_nofmad
	$(call compile_cpu,0)

# The runtime once more, for the tests that run AArch64 programs under emulation. (GNU Make 3.81 starts
# a plain command without a shell, where `command` is none: hence the ||.)
AARCH64_RUNTIME := $(if $(filter check,$(MAKECMDGOALS)),$(if $(shell command -v aarch64-linux-gnu-gcc || true),$(RUNTIME_SOURCES:cpu/%.c=$(BUILD)/aarch64/%.o)))
$(BUILD)/aarch64/%.o: cpu/%.c $(CPU_HEADERS)
	@mkdir -p $(@D)
	aarch64-linux-gnu-gcc -std=c11 -O2 -pthread -Icpu -c -o $@.tmp $< && mv $@.tmp $@

# ---- GPU -------------------------------------------------------------------------------------
$(addprefix $(GPU_DIR)/flags/,$(PROGRAMS)): $(GPU_DIR)/flags/%: FORCE
	$(call write_stamp,$(NVCC) $(call gpu_flags,$*,) $(HOST_ID) $(NVCC_ID))
$(addprefix $(GPU_DIR)/flags/,$(NOFMAD)): $(GPU_DIR)/flags/%_nofmad: FORCE
	$(call write_stamp,$(NVCC) $(call gpu_flags,$*,-fmad=false) $(HOST_ID) $(NVCC_ID))
NVCC_ID = $(shell $(NVCC) --version | tail -n 1)

compile_gpu = $(NVCC) $(call gpu_flags,$*,$(1)) -MMD -MP -MT $@ -MF $@.d -o $@.tmp $< && mv $@.tmp $@
$(addprefix $(GPU_DIR)/,$(PROGRAMS)): $(GPU_DIR)/%: %.cu $(GPU_DIR)/flags/%
	$(call compile_gpu,)
$(addprefix $(GPU_DIR)/,$(NOFMAD)): $(GPU_DIR)/%_nofmad: %.cu $(GPU_DIR)/flags/%_nofmad
	$(call compile_gpu,-fmad=false)

-include $(wildcard $(CPU_DIR)/*.d $(CPU_DIR)/gen/*.d $(GPU_DIR)/*.d)

# ---- Tools -----------------------------------------------------------------------------------
TOOL_CFLAGS := -std=c11 -O2 -Wall -Wextra
$(TOOLS)/match: tools/match.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -o $@.tmp $< && mv $@.tmp $@
$(TOOLS)/gpu_probe: tools/gpu_probe.c
	@mkdir -p $(@D)
	$(CC) $(TOOL_CFLAGS) -o $@.tmp $< -ldl && mv $@.tmp $@

# ---- Commands --------------------------------------------------------------------------------
# What the scripts and tests need to know of all this, as environment variables.
script_env = ROOT=$(call quote,$(CURDIR)) BUILD=$(call quote,$(abspath $(BUILD))) DEVICE=$(DEVICE) ARCH=$(ARCH) \
	DEVICE_WHY=$(call quote,$(DEVICE_WHY)) NVCC=$(call quote,$(NVCC)) CXX=$(call quote,$(CXX)) CC=$(call quote,$(CC)) \
	FMA=$(FMA) OPENMP=$(OPENMP) MFMA=$(MFMA) HOST_FLAGS=$(call quote,$(HOST_FLAGS)) STACK=$(STACK) DEFS=$(call quote,$(DEFS)) \
	SANITIZE=$(SANITIZE) RUNTIME=$(call quote,$(abspath $(RUNTIME))) PROBE=$(call quote,$(abspath $(TOOLS)/gpu_probe)) ALL=$(ALL) $(pi_env)
program_list = $(foreach p,$(chosen),$(call lesson_of,$(p))/$(p))

run: $(SUITE) $(TOOLS)/match
	@$(script_env) bash tools/run.sh $(program_list)

check: $(addprefix $(BUILD)/$(DEVICE)/,$(if $(filter cpu-no,$(DEVICE)-$(FMA)),,$(PROGRAMS)) $(NOFMAD)) $(TOOLS)/match $(TOOLS)/gpu_probe $(TOOLS)/cu_rewrite $(RUNTIME) $(AARCH64_RUNTIME)
	@$(script_env) bash tools/check.sh $(TESTS)

check-all:
	@$(MAKE) check ALL=1

# The probe may fail to build, for want of a compiler; doctor says so.
doctor:
	@mkdir -p $(TOOLS); $(CC) $(TOOL_CFLAGS) -o $(TOOLS)/gpu_probe tools/gpu_probe.c -ldl 2>/dev/null || true
	@$(script_env) bash tools/doctor.sh

match: $(TOOLS)/match
	@$(if $(OUTPUT),,echo 'make match needs OUTPUT=file: what the program printed' >&2; exit 2;) \
	$(TOOLS)/match $(if $(filter command% environment%,$(origin LESSON)),--lesson $(LESSON)) expected_output $(call quote,$(OUTPUT))

expected: $(SUITE) $(TOOLS)/match
	@$(script_env) ACCEPT=$(ACCEPT) bash tools/expected.sh $(program_list)

bench: $(SUITE) $(RUNTIME) $(TOOLS)/cu_rewrite
	@$(script_env) bash tools/bench.sh $(LESSON)

types: $(RUNTIME) $(TOOLS)/cu_rewrite
	@$(script_env) bash tools/pi_types.sh

cccl:
	@bash tools/fetch_cccl.sh

sanitize: $(SUITE)
	@$(script_env) bash tools/sanitize.sh $(program_list)

test-env:
	@echo $(call quote,$(script_env))

clean:
	rm -rf $(BUILD)

help:
	@sed -n 's/^#: //p' Makefile

#: make                        builds every lesson twice for the device at hand, and stops there
#: make run                    builds and runs all: a verdict a gate, and a table of hashes a build
#: make run LESSON=name        one lesson
#: make check                  the test suite (TESTS=tests/x.bats: a part; STRICT=1: a skip fails)
#: make check-all              that and what takes minutes longer
#: make doctor                 what is on this machine, what was chosen and why, what is missing
#: make match OUTPUT=file      is this output, from whatever card, what the program must print?
#: make expected               records this machine's outputs (ACCEPT=1: as the expected ones)
#: make types                  every type of fpmp_pi in one table (CCCL's too, where CCCL is at hand)
#: make cccl                   fetches CCCL's headers into .cccl/: no root, nothing installed
#: make bench LESSON=name      measures, beside what it is compared to
#: make sanitize               compute-sanitizer on a card; on the CPU default address and thread
#: make clean, make help
#:
#: Variables: DEVICE=gpu|cpu   ARCH=sm_NN   NVCC CXX CC   DEFS='-D...'   BUILD=dir
#:            SANITIZE=address|thread|undefined (CPU default)
#:            PI_FP_T=type PI_FP_HEADER='<...>' PI_LOG2_TERMS=n CCCL=dir (fpmp_pi)
