# tools/gpu_probe and tools/doctor.sh. Drivers and compilers are stand-ins made
# here, so that every case comes up on every machine, with a card or without.
# shellcheck disable=SC2016 # the stand-ins' own variables
# shellcheck disable=SC2154 # run --separate-stderr sets stderr and stderr_lines

bats_require_minimum_version 1.5.0

load helper

# driver NAME FLAG...: a libcuda.so.1 in a folder of that name, -D flags say
# how it answers.
driver() {
    mkdir -p "$BATS_FILE_TMPDIR/$1"
    "${CC:-cc}" -shared -fPIC "${@:2}" "$BATS_FILE_TMPDIR/driver.c" \
        -o "$BATS_FILE_TMPDIR/$1/libcuda.so.1"
}

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return
    "${CC:-cc}" -std=c11 -O1 "$ROOT/tools/gpu_probe.c" -o probe -ldl
    cat >driver.c <<'END'
#ifndef INIT
#define INIT 0
#endif
#ifndef COUNT
#define COUNT 1
#endif
#ifndef NAME
#define NAME "NVIDIA H200"
#endif
#ifndef GET
#define GET 0
#endif
#ifndef VERSION
#define VERSION 13000
#endif
static int started;
#ifdef NAMES
int cuGetErrorName(int e, const char **s) { *s = "CUDA_ERROR_X\ny"; return e == 999 ? 0 : 1; }
int cuGetErrorString(int e, const char **s) { *s = "words of the library"; return e == 999 ? 0 : 1; }
#endif
int cuInit(unsigned flags) { started = flags == 0; return INIT; }
int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
int cuDeviceGetCount(int *count) { *count = COUNT; return started ? 0 : 3; }
int cuDeviceGet(int *device, int ordinal) { *device = 40 + ordinal; return GET; }
#ifndef OLD
int cuDeviceGetName(char *name, int size, int device)
{
    const char *from = NAME;
    while (--size > 0 && *from != '\0')
        *name++ = *from++;
    *name = '\0';
    return device == 40 ? 0 : 101;
}
#endif
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : -1;
    return device == 40 ? 0 : 101;
}
END
    driver h200
    driver two -DCOUNT=2 -DVERSION=12040
    driver none -DINIT=100
    driver zero -DCOUNT=0
    driver stale -DINIT=35
    driver ill -DINIT=999
    driver named -DINIT=999 -DNAMES
    driver novel -DINIT=777 -DNAMES
    driver busy -DGET=46
    driver old -DOLD
    driver odd '-DNAME="a\nreason=card\033[2J"'
    driver long "-DNAME=\"$(printf 'Card%.0s' {1..40})\""
    mkdir torn
    echo 'no library' >torn/libcuda.so.1
    cp torn/libcuda.so.1 torn/libcuda.so
    mkdir fallback
    cp h200/libcuda.so.1 fallback/libcuda.so
    # Compilers that answer at once. "half" is one without its library.
    mkdir bin
    local tool
    for tool in bash env nproc getconf mktemp rm; do
        ln -s "$(command -v "$tool")" bin/
    done
    stub make 'exit 0'
    stub apt-get 'exit 0'
    stub uname 'echo x86_64'
    stub cc '[[ $1 != -dump* ]] || echo 12.2.0'
    stub g++ '[[ $1 != -dump* ]] || echo 13.1.0'
    stub clang++ '[[ $1 != -dumpfullversion ]] || exit 1; [[ $1 != -dumpversion ]] || echo 14.0.6'
    stub half '[[ $* == *-dump* ]]'
    stub nvcc 'echo "Cuda compilation tools, release 13.0, V13.0.88"'
    stub bats 'echo "Bats 1.8.2"'
    stub parallel 'echo "GNU parallel 20221122"'
    stub aarch64-linux-gnu-g++ 'exit 0'
    stub qemu-aarch64-static 'exit 0'
    mkdir -p lib/bats-support lib/bats-assert
    touch lib/bats-support/load.bash lib/bats-assert/load.bash
}

stub() {
    printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"bin/$1"
    chmod +x "bin/$1"
}

setup() {
    cp -a "$BATS_FILE_TMPDIR/bin" "$BATS_TEST_TMPDIR/bin"
}

probe() { run env LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/$1" "$BATS_FILE_TMPDIR/probe"; }

# without TOOL...: takes them from the machine that doctor sees.
without() { (cd "$BATS_TEST_TMPDIR/bin" && rm "$@"); }

# doctor VARIABLE=VALUE...: the screen of a machine where all is there, with
# the given differences.
doctor() {
    run --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin" NVCC=nvcc CXX=g++ CC=cc DEVICE=gpu \
        ARCH=sm_90 BUILD=build DEVICE_WHY='nvcc and a usable card are there' OPENMP=yes FMA=yes \
        GPU_PROBE="$BATS_FILE_TMPDIR/probe" LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/h200" \
        BATS_LIB_PATH="$BATS_FILE_TMPDIR/lib" BATS_FOLDERS= "$@" bash "$ROOT/tools/doctor.sh"
    fits
}

# One screen: no more than 24 lines of 80 columns, whatever happens.
fits() {
    ((${#lines[@]} <= 24)) || fail "${#lines[@]} lines: $output"
    local line
    for line in "${lines[@]}"; do
        ((${#line} <= 80)) || fail "${#line} columns: $line"
    done
}

# row LABEL TEXT: the screen has this row.
row() {
    assert_line "$(printf '%-14s %s' "$1" "$2")"
}

# ---- gpu_probe ----------------------------------------------------------------

@test "gpu_probe: a usable card is 0, four lines" {
    probe h200
    assert_success
    assert_output $'driver=13000\ndevices=1\nname=NVIDIA H200\narch=sm_90'
    probe two
    assert_success
    assert_line 'devices=2'
    assert_line 'driver=12040'
}

@test "gpu_probe: no usable card is 77, one line with the reason" {
    unset CUDA_VISIBLE_DEVICES
    local -A reason=(
        [none]='no device'
        [zero]='no device'
        [stale]='the driver is too old'
        [ill]='driver error 999, unknown error (CUDA_ERROR_UNKNOWN)'
        [named]='driver error 999, words of the library (CUDA_ERROR_X?y)'
        [novel]='driver error 777'
        [busy]='driver error 46, the device is busy or unavailable (CUDA_ERROR_DEVICE_UNAVAILABLE)'
        [old]='the driver library lacks functions of the CUDA driver API'
        [torn]='no driver library (libcuda.so.1)'
    )
    local case
    for case in "${!reason[@]}"; do
        probe "$case"
        assert_failure 77
        assert_output "reason=${reason[$case]}"
    done
    CUDA_VISIBLE_DEVICES='' probe none
    assert_failure 77
    assert_output 'reason=no device, as CUDA_VISIBLE_DEVICES is set'
}

@test "gpu_probe: libcuda.so serves where libcuda.so.1 is not" {
    # The real driver, where there is one, would be found first.
    probe nothing
    [[ $output == 'reason=no driver library'* ]] || skip 'this machine has a driver'
    probe fallback
    assert_success
    assert_line 'arch=sm_90'
}

@test "gpu_probe: a card's name cannot make a line of its own" {
    probe odd
    assert_success
    assert_equal "${#lines[@]}" 4
    assert_line 'name=a?reason=card?[2J'
}

# ---- doctor -------------------------------------------------------------------

@test "doctor: a machine where all is there" {
    doctor
    assert_success
    assert_equal "$stderr" ''
    # The folder of this run is in that row, and a long one takes a second row.
    assert_output --regexp $'(^|\n)toolkit +nvcc 13\\.0(\n| ) *\\(/'
    row driver 'for CUDA up to 13.0'
    row card 'NVIDIA H200 (sm_90)'
    row compilers 'g++ 13.1.0 (C++), cc 12.2.0 (C), clang++ 14.0.6'
    assert_line --regexp '^CPU +[0-9]+ of [0-9]+ cores allowed, FMA, OpenMP$'
    row device 'gpu, sm_90: nvcc and a usable card are there'
    row tests 'Bats 1.8.2, bats-support found, bats-assert found'
    row AArch64 'cross compiler found, emulator found'
    row missing 'nothing that make run needs'
    row next 'make run'
    refute_output --partial 'apt-get'
}

@test "doctor: without nvcc nothing speaks of CUDA's errors" {
    without nvcc
    doctor DEVICE=cpu ARCH=sm_75 DEVICE_WHY='no nvcc' LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/ill"
    assert_success
    row toolkit 'no nvcc: optional, the CPU default does without'
    row 'driver, card' 'none to use: optional, like the toolkit'
    row device 'cpu: no nvcc'
    row next 'make run'
    refute_output --partial 'error'
    refute_output --partial 'CUDA'
    doctor NVCC= DEVICE=cpu DEVICE_WHY='no nvcc' LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/ill"
    assert_success
    row toolkit 'no nvcc: optional, the CPU default does without'
}

@test "doctor: a card and no nvcc, make toolkit is named" {
    without nvcc
    doctor DEVICE=cpu DEVICE_WHY='no nvcc here for the card, NVIDIA H200: make toolkit fetches one'
    assert_success
    row toolkit 'no nvcc for the card: make toolkit fetches one (no root)'
    row card 'NVIDIA H200 (sm_90)'
    row device 'cpu: no nvcc here for the card, NVIDIA H200: make toolkit fetches'
    row missing 'nothing that make run needs'
    row next 'make toolkit, then make run'
    doctor
    assert_failure 2
    row MISSING 'nvcc and a usable card for DEVICE=gpu'
    row next 'make toolkit, then make run'
}

@test "doctor: nvcc and no card, the reason is said" {
    doctor DEVICE=cpu DEVICE_WHY='no usable card' LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/ill"
    assert_success
    row 'driver, card' 'none to use: driver error 999, unknown error (CUDA_ERROR_UNKNOWN)'
    doctor DEVICE=cpu GPU_PROBE="$BATS_FILE_TMPDIR/not-built"
    assert_success
    row 'driver, card' 'none to use: not asked, for want of a C compiler'
    doctor DEVICE=cpu GPU_PROBE="$BATS_FILE_TMPDIR/bin/half"
    assert_success
    row 'driver, card' 'none to use: no answer from tools/gpu_probe'
}

@test "doctor: DEVICE=gpu where none can serve, the next command is the CPU's" {
    doctor LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/none"
    assert_failure 2
    row MISSING 'nvcc and a usable card for DEVICE=gpu'
    row next 'make run DEVICE=cpu'
    without nvcc
    doctor LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/none"
    row next 'make run DEVICE=cpu'
}

@test "doctor: several cards" {
    doctor LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/two"
    assert_success
    row driver 'for CUDA up to 12.4'
    row card 'NVIDIA H200 (sm_90), first of 2 (CUDA_VISIBLE_DEVICES picks)'
}

@test "doctor: no C++ compiler, no C compiler, no make are 2, with the package" {
    without g++
    doctor
    assert_failure 2
    assert_equal "$stderr" "doctor: make run needs a C++ compiler ('g++' does not compile): \
sudo apt-get install g++"
    row next 'sudo apt-get install g++'
    refute_line "$(printf '%-14s %s' next 'make run')"
    doctor CXX=clang++ # another one serves
    assert_success
    without cc
    doctor CXX=clang++
    assert_failure 2
    assert_equal "$stderr" "doctor: make run needs a C compiler ('cc' does not compile): \
sudo apt-get install gcc libc6-dev"
    doctor CXX=clang++ CC=clang++
    assert_success
    without make
    doctor CXX=clang++ CC=clang++
    assert_failure 2
    assert_equal "$stderr" 'doctor: make run needs GNU Make: sudo apt-get install make'
    doctor
    assert_failure 2
    assert_equal "${#stderr_lines[@]}" 1
    assert_line --partial 'sudo apt-get install g++ gcc libc6-dev make'
}

@test "doctor: a compiler that is there and does not compile is missing" {
    doctor CXX=half
    assert_failure 2
    assert_line --partial "a C++ compiler ('half' does not compile)"
    doctor CXX=
    assert_failure 2
    doctor CC=half
    assert_failure 2
    doctor CXX='env g++' # a compiler behind another command, as ccache is
    assert_success
    assert_output --partial 'env g++ 13.1.0 (C++)'
}

@test "doctor: a mistyped CXX does not ask for an installation" {
    ln -s cc "$BATS_TEST_TMPDIR/bin/gcc"
    doctor CXX=gpp
    assert_failure 2
    row next 'make run CXX=g++ CC=gcc'
}

@test "doctor: what make check lacks is named with its packages" {
    without bats
    doctor BATS_LIB_PATH="$BATS_FILE_TMPDIR"
    assert_success
    row tests 'Bats missing, bats-support missing, bats-assert missing'
    row 'for make check' 'sudo apt-get install bats bats-support bats-assert'
    row next 'make run'
    rm -f "$BATS_TEST_TMPDIR/bin/apt-get"
    doctor BATS_LIB_PATH= BATS_FOLDERS="/nowhere:$BATS_FILE_TMPDIR/lib"
    row 'for make check' 'install what Debian calls bats'
}

@test "doctor: what is optional is called so" {
    without clang++ aarch64-linux-gnu-g++
    doctor FMA=no OPENMP=no
    assert_success
    row compilers 'g++ 13.1.0 (C++), cc 12.2.0 (C), no clang++ (optional)'
    row AArch64 'no cross compiler, emulator found (optional)'
    assert_line --partial 'allowed, no FMA (no fused builds), no OpenMP'
    row optional 'sudo apt-get install clang g++-aarch64-linux-gnu'
    without qemu-aarch64-static
    doctor
    row AArch64 'no cross compiler, no emulator (optional)'
    assert_line --partial 'g++-aarch64-linux-gnu qemu-user'
    refute_output --partial 'parallel'
    (cd "$BATS_TEST_TMPDIR" && rm bin/parallel && stub parallel 'echo "parallel of moreutils"')
    doctor
    assert_output --regexp $'\noptional .* qemu-user\\s+parallel\n'
    ln -s g++ "$BATS_TEST_TMPDIR/bin/clang++-19"
    doctor CXX=clang++-19 OPENMP=no
    assert_line --partial 'libomp-dev'
}

@test "doctor: on AArch64 no cross compiler is asked for" {
    without aarch64-linux-gnu-g++ qemu-aarch64-static
    (cd "$BATS_TEST_TMPDIR" && stub uname 'echo aarch64')
    doctor
    assert_success
    row AArch64 'this machine is one'
    refute_output --partial 'apt-get'
}

@test "doctor: cores are those that the process may use" {
    command -v taskset >/dev/null || skip 'no taskset here'
    local first
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    run taskset -c "$first" env PATH="$BATS_TEST_TMPDIR/bin" NVCC=nvcc CXX=g++ CC=cc DEVICE=cpu \
        ARCH=sm_75 BUILD=build DEVICE_WHY=- OPENMP=yes FMA=yes GPU_PROBE=none OMP_NUM_THREADS=7 \
        bash "$ROOT/tools/doctor.sh"
    assert_line --partial "1 of $(getconf _NPROCESSORS_CONF) cores allowed"
    doctor OMP_NUM_THREADS=1
    assert_line --partial "$(env -u OMP_NUM_THREADS nproc) of $(getconf _NPROCESSORS_CONF) cores allowed"
}

@test "doctor: the worst machine still fits one screen" {
    local long
    long=$(printf 'a long reason %.0s' {1..30})
    without g++ cc clang++ make bats aarch64-linux-gnu-g++ qemu-aarch64-static
    doctor CXX="clang $long" CC="$long" DEVICE_WHY="$long" BUILD="/nowhere/$long" FMA=no OPENMP=no \
        BATS_LIB_PATH=/nowhere LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/two"
    assert_failure 2
    doctor DEVICE_WHY="${long// /_}" BUILD="/nowhere/${long// /_}" LD_LIBRARY_PATH="$BATS_FILE_TMPDIR/long"
    assert_failure 2
    assert_line --partial 'CardCard'
}

@test "doctor: a variable that is not set is 2, one line" {
    run --separate-stderr env -i PATH="$PATH" NVCC=nvcc bash "$ROOT/tools/doctor.sh"
    assert_failure 2
    assert_equal "$output" ''
    assert_equal "$stderr" 'doctor.sh: CXX is not set: call it as make doctor'
}
