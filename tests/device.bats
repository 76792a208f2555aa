# tools/choose_device.sh, and what doctor says of the same machine: a card, a driver and an nvcc that
# fit or do not. Driver and nvcc are stand-ins made here, so that every case comes up on every machine.
# shellcheck disable=SC2016 # the stand-ins' own variables
# shellcheck disable=SC2154 # run --separate-stderr sets stderr

bats_require_minimum_version 1.5.0

load helper

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    # A driver that answers as the environment says: CARD=90 is a card of sm_90, SERVES=12040 a driver
    # for CUDA 12.4.
    mkdir driver bin
    "${CC:-cc}" -shared -fPIC -x c -o driver/libcuda.so.1 - <<'END'
#include <stdlib.h>
#include <string.h>
static int card(void) { return getenv("CARD") ? atoi(getenv("CARD")) : 90; }
int cuInit(unsigned flags) { return getenv("INIT") ? atoi(getenv("INIT")) : (int)flags; }
int cuDriverGetVersion(int *v) { *v = getenv("SERVES") ? atoi(getenv("SERVES")) : 13000; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *s, int n, int d) { strncpy(s, "A Card", n); return d; }
int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? card() / 10 : card() % 10; return d; }
END
    "${CC:-cc}" -std=c11 -O1 "$ROOT/tools/gpu_probe.c" -o probe -ldl
    # An nvcc of RELEASE that builds for CODES. It fails with the message COMPILE, where that is set; its
    # program runs where it was built for a card in RUNS, else it says SAYS. Each compile is a line of calls.
    cat >bin/nvcc <<'END'
#!/usr/bin/env bash
case " $* " in
    *' --version '*) echo "Cuda compilation tools, release ${RELEASE:-13.0}, V${RELEASE:-13.0}.88"; exit ;;
    *' --list-gpu-code '*) printf 'sm_%s\n' ${CODES:-75 80 90 100}; exit ;;
esac
echo "$*" >>"$CALLS"
while [ $# -gt 0 ]; do
    case $1 in -arch=*) arch=${1#-arch=sm_} ;; -o) out=$2 ;; *.cu) source=$1 ;; esac
    shift
done
grep -q '<<<1, 1>>>' "$source" || exit 3
[ -z "${COMPILE:-}" ] || { printf '%b\n' "$COMPILE" >&2; exit 1; }
case " ${RUNS-75 80 90 100} " in
    *" $arch "*) echo 'exit 0' ;;
    *) echo "echo '${SAYS:-CUDA error 209, no kernel image (cudaErrorNoKernelImageForDevice)}'; exit ${STATUS:-1}" ;;
esac >"$out"
sed -i '1i #!/usr/bin/env bash' "$out"
chmod +x "$out"
END
    printf '#!/bin/sh\nexit 0\n' >bin/g++-12
    chmod +x bin/*
}

# choose VARIABLE=VALUE...: the answer on a machine with a card of sm_90 and nvcc 13.0, with the differences.
choose() {
    run --separate-stderr env PATH="$BATS_FILE_TMPDIR/bin:$PATH" LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/driver" \
        CALLS="$BATS_TEST_TMPDIR/calls" GPU_PROBE="$BATS_FILE_TMPDIR/probe" NVCC=nvcc CC="${CC:-cc}" CXX=g++ \
        CXX_GIVEN= DEVICE= ARCH= DEVICE_WHY= FMA= OPENMP= BUILD="$BATS_TEST_TMPDIR/build" "$@" bash "${SCRIPT:-$ROOT/tools/choose_device.sh}"
    [ -n "${SCRIPT:-}" ] || { assert_success; assert_equal "${#lines[@]}" 1; assert_equal "$stderr" ''; }
}
# misfit REASON VARIABLE=VALUE...: the CPU with this reason; an error where DEVICE=gpu was asked for.
misfit() {
    choose "${@:2}"
    assert_output --regexp "^cpu sm_[0-9]+ nvcc and the card do not fit: "
    assert_output --partial "$1"
    choose DEVICE=gpu "${@:2}"
    assert_output --regexp '^error DEVICE=gpu: .*; without the card: make DEVICE=cpu$'
    assert_output --partial "$1"
}
compiles() { cat "$BATS_TEST_TMPDIR/calls" 2>/dev/null | wc -l; }

@test "device: nvcc and a card that fit; the CPU where one is not there or not wanted" {
    choose
    assert_output 'gpu sm_90 nvcc and a card are there: A Card'
    choose DEVICE=gpu
    assert_output 'gpu sm_90 asked for'
    choose ARCH=sm_80
    assert_output 'gpu sm_80 nvcc and a card are there: A Card'
    choose NVCC=no-such-nvcc
    assert_output 'cpu sm_75 no nvcc here for the card, A Card: make toolkit fetches one'
    choose NVCC=no-such-nvcc INIT=100
    assert_output 'cpu sm_75 no nvcc here'
    choose NVCC=no-such-nvcc DEVICE=gpu
    assert_output "error DEVICE=gpu needs nvcc, and 'no-such-nvcc' is not found; make toolkit fetches one; without it: make DEVICE=cpu"
    choose DEVICE=cpu COMPILE=broken
    assert_output 'cpu sm_75 asked for'
    choose DEVICE=tpu
    assert_output "error unknown DEVICE 'tpu': gpu or cpu"
    choose ARCH=sm_60
    assert_output --partial "error unknown ARCH 'sm_60': this nvcc builds for sm_75 sm_80 sm_90 sm_100"
    choose ARCH=native
    assert_output --partial "error unknown ARCH 'native': write it as sm_75, sm_90, ..."
}

@test "device: without a card nothing is compiled, and the driver's error is in words" {
    choose INIT=999 COMPILE=broken
    assert_output 'cpu sm_75 no usable card: driver error 999, unknown error (CUDA_ERROR_UNKNOWN)'
    assert_equal "$(compiles)" 0
    # Built for a card elsewhere: what can be found out is that nvcc compiles at all.
    choose INIT=100 DEVICE=gpu RUNS=
    assert_output 'gpu sm_75 asked for'
    choose INIT=100 DEVICE=gpu RELEASE=12.9 COMPILE='nvcc fatal   : it is broken'
    assert_output --partial 'error DEVICE=gpu: nvcc 12.9 cannot compile (it is broken)'
}

@test "device: a card that the toolkit no longer builds for, or does not know yet" {
    misfit 'nvcc 13.0 no longer builds for this card (sm_61; its oldest is sm_75): install CUDA 12.9 or older and give NVCC=/path/to/nvcc' CARD=61
    misfit 'no longer builds for this card (sm_37; its oldest is sm_50): install CUDA 11.8 or older' CARD=37 CODES='50 75' RELEASE=12.4
    # The nearest older one is tried, and named only where its program ran.
    misfit 'does not know this card (sm_120): give ARCH=sm_100, which runs on it, or install a newer toolkit' CARD=120
    misfit 'does not know this card (sm_120; the nearest is sm_100): install a newer toolkit and give NVCC=/path/to/nvcc' CARD=120 RUNS=90
    choose CARD=120 ARCH=sm_100
    assert_output 'gpu sm_100 nvcc and a card are there: A Card'
}

@test "device: a driver older than the toolkit, where its programs do not run" {
    misfit 'the driver serves CUDA up to 12.4 and nvcc is 13.0: update the driver, or install a toolkit 12.x' SERVES=12040 RUNS=
    choose SERVES=12040
    assert_output --partial 'gpu sm_90'
    misfit 'the driver cannot compile the PTX of nvcc 12.9: update the driver, or give ARCH=sm_90' \
        SERVES=12040 RELEASE=12.9 RUNS= SAYS='CUDA error 222, unsupported (cudaErrorUnsupportedPtxVersion)'
}

@test "device: nvcc that cannot compile: its first line, and what to do about it" {
    local gnu='In file included from a:1:\n/usr/include/crt/host_config.h:132:2: error: #error -- unsupported GNU version! gcc versions later than'
    misfit "(host_config.h:132:2: error: #error -- unsupported GNU version" COMPILE="$gnu 12 are not supported!"
    assert_output --partial "give it an older host compiler: NVCC='nvcc -ccbin g++-12'"
    refute_output --partial 'install'
    misfit 'install an older host compiler (Debian: apt-get install g++-6)' COMPILE="$gnu 6 are not supported!"
    misfit "it needs a host compiler that it can use: install g++, or name one: NVCC='nvcc -ccbin g++'" COMPILE='nvcc fatal   : Failed to preprocess host compiler properties.'
    misfit 'it needs a host compiler that it can use' COMPILE='h.h:9: error: -- unsupported clang version!'
    misfit "the toolkit's headers and the system's clash: name a newer nvcc, NVCC=/path/to/nvcc, or an older host compiler, NVCC='nvcc -ccbin g++-N'" \
        COMPILE='/usr/include/bits/mathcalls.h(79): error: exception specification is incompatible with that of previous function "cospi"'
    misfit '(sh: 1: cicc: not found): a part of the toolkit is missing: install the whole toolkit, or name another nvcc: NVCC=/path/to/nvcc' COMPILE='sh: 1: cicc: not found'
    misfit 'a part of the toolkit is missing' COMPILE='<built-in>: fatal error: cuda_runtime.h: No such file or directory'
    misfit 'a part of the toolkit is missing' COMPILE='/usr/bin/ld: cannot find -lcudart_static'
    misfit 'look at NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, which nvcc adds to its command line' COMPILE="nvcc fatal   : Unknown option '-x1'" NVCC_APPEND_FLAGS=-x1
    misfit 'reinstall the toolkit, or name another nvcc: NVCC=/path/to/nvcc' COMPILE='a fault of another kind'
    misfit '...)' COMPILE="error: $(printf 'long %.0s' {1..90})"
    [ ${#output} -lt 400 ] || fail "${#output} characters"
}

@test "device: a program that is built and does not run, and one of another card's ARCH" {
    misfit 'a test program that nvcc 13.0 built does not run: CUDA error 46, busy (cudaErrorDevicesUnavailable)' RUNS= SAYS='CUDA error 46, busy (cudaErrorDevicesUnavailable)'
    misfit 'does not run: its kernel wrote 0' RUNS= SAYS='its kernel wrote 0'
    misfit 'does not run: it ended with status 139' RUNS= SAYS=' ' STATUS=139
    choose ARCH=sm_100 RUNS=90
    assert_output --partial 'cpu sm_100 nvcc and the card do not fit: what nvcc builds for ARCH=sm_100 does not run on this card (sm_90): leave ARCH out, or give ARCH=sm_90'
    # Asked for both: a build for a card elsewhere.
    choose ARCH=sm_100 RUNS=90 DEVICE=gpu
    assert_output --partial 'gpu sm_100 asked for, with an ARCH; what nvcc builds'
}

@test "device: NVCC with flags and blanks, CXX where it was named" {
    choose NVCC='  nvcc  --threads 2 '
    assert_output --partial 'gpu sm_90'
    choose CXX='g++-12' CXX_GIVEN=command
    run cat "$BATS_TEST_TMPDIR/calls"
    assert_line --index 0 --partial '--threads 2 -std=c++17 -arch=sm_90'
    assert_line --index 1 --partial -- '-ccbin g++-12 -std=c++17'
}

@test "device: an answer is kept, renewed with nvcc, its environment, driver or card, and a failure is not kept" {
    local n=0 change
    choose
    choose
    assert_equal "$(compiles)" 1
    for change in RELEASE=13.1 NVCC_PREPEND_FLAGS=-g NVCC_APPEND_FLAGS=-g NVCC_CCBIN=g++-12 SERVES=13010 \
        CARD=100 ARCH=sm_80 'NVCC=nvcc -v' CXX_GIVEN=command; do
        choose "$change"
        n=$((n + 1))
        assert_equal "$change $(compiles)" "$change $((1 + n))"
        choose "$change"
        assert_equal "$change $(compiles)" "$change $((1 + n))"
    done
    # Another card, though what is asked for is the same.
    choose ARCH=sm_80 CARD=100
    n=$((n + 1))
    assert_equal "another card $(compiles)" "another card $((1 + n))"
    for _ in once again; do
        choose RELEASE=13.2 COMPILE=broken
        assert_output --partial 'do not fit'
    done
    choose RELEASE=13.2
    assert_output --partial 'gpu sm_90'
    run ls -A "$BATS_TEST_TMPDIR/build/tmp"
    refute_output --partial 'device.'
}

@test "device: a folder that cannot be written keeps no answer and hinders none" {
    touch "$BATS_TEST_TMPDIR/file" && mkdir "$BATS_TEST_TMPDIR/tmp"
    choose BUILD="$BATS_TEST_TMPDIR/file/build" GPU_PROBE= TMPDIR="$BATS_TEST_TMPDIR/tmp"
    assert_output 'gpu sm_90 nvcc and a card are there: A Card'
    run ls -A "$BATS_TEST_TMPDIR/tmp"
    assert_output ''
    choose BUILD="$BATS_TEST_TMPDIR/file/build" TMPDIR="$BATS_TEST_TMPDIR/file"
    assert_output "error no folder for temporary files: neither $BATS_TEST_TMPDIR/file/build nor TMPDIR can be written"
}

@test "device: doctor says the same, and that something is missing" {
    SCRIPT=$ROOT/tools/doctor.sh
    choose
    assert_success
    assert_line --regexp '^device  +gpu, sm_90: nvcc and a card are there: A Card$'
    assert_line --regexp '^missing  +nothing that make run needs$'
    choose CARD=61
    assert_success
    assert_line --partial 'cpu: nvcc and the card do not fit: nvcc 13.0 no longer'
    assert_line --regexp '^missing  +what would fit the card'
    refute_output --partial 'nothing that make run needs'
    choose CARD=61 DEVICE=gpu
    assert_failure 2
    assert_line --partial 'none: DEVICE=gpu: nvcc 13.0 no longer builds'
    assert_line --regexp '^next  +make run DEVICE=cpu$'
    # No compiler, and no folder to write to.
    touch "$BATS_TEST_TMPDIR/file" && mkdir "$BATS_TEST_TMPDIR/tmp"
    choose GPU_PROBE= CC=nope CXX=nope BUILD="$BATS_TEST_TMPDIR/file/build" TMPDIR="$BATS_TEST_TMPDIR/tmp"
    assert_failure 2
    assert_line --partial 'cannot be written'
    assert_line --partial "a C++ compiler ('nope' does not compile)"
    choose GPU_PROBE= BUILD="$BATS_TEST_TMPDIR/file/build" TMPDIR="$BATS_TEST_TMPDIR/tmp"
    assert_failure 2
    assert_line --regexp '^card  +A Card \(sm_90\)$'
    assert_line --regexp '^next  +make run BUILD=dir$'
    run ls -A "$BATS_TEST_TMPDIR/tmp"
    assert_output ''
}
