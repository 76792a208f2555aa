#!/usr/bin/env bash
# Finds out what the host compilers can do: prints `target=... fma=yes|no openmp=yes|no id=...`, or
# `error what...` for make to stop with. In: CXX, CC, BUILD; CPUINFO, which a test sets. Called while make
# reads the Makefile, so it prints one line and never fails.
set -u

for name in "$CXX" "$CC"; do
    # A compiler may be given with flags; its first word is the program.
    command -v "${name%% *}" >/dev/null || {
        echo "error the compiler '$name' is not found; install one (Debian: apt-get install g++) or name it: CXX=... CC=..."
        exit 0
    }
done

id=$({ $CXX --version; $CC --version; } 2>/dev/null | sed -n '1p;/[0-9]\.[0-9]/p' | tr -c 'A-Za-z0-9.\n' '_' | tr '\n' '+')
case $($CXX -dumpmachine 2>/dev/null) in
    x86_64* | amd64*) target=x86_64 ;;
    aarch64* | arm64*) target=aarch64 ;;
    *) echo "error '$CXX' builds for neither x86-64 nor AArch64, and the CPU default knows these two"; exit 0 ;;
esac

fma=yes # every AArch64 has it
if [ $target = x86_64 ]; then
    cpuinfo=${CPUINFO:-/proc/cpuinfo}
    if [ -r "$cpuinfo" ]; then
        grep -m 1 '^flags' "$cpuinfo" | grep -qw fma || fma=no
    else
        sysctl -n machdep.cpu.features 2>/dev/null | grep -qw FMA || fma=no
    fi
fi

# Asking for OpenMP needs a link, so the answer is kept for this compiler.
cache=$BUILD/tmp/openmp.$(printf '%s' "$CXX $id" | cksum | cut -d ' ' -f 1)
if [ ! -s "$cache" ]; then
    mkdir -p "$BUILD/tmp"
    echo '#include <omp.h>
int main() { return omp_get_max_threads() < 1; }' > "$cache.$$.cpp"
    openmp=no
    if $CXX -fopenmp -o "$cache.$$" "$cache.$$.cpp" 2>/dev/null; then openmp=yes; fi
    rm -f "$cache.$$" "$cache.$$.cpp"
    echo $openmp > "$cache.$$" && mv "$cache.$$" "$cache"
fi
echo "target=$target fma=$fma openmp=$(cat "$cache") id=$id"
