# Same bits, every time. `make help` lists the commands; overview and lessons: README.md.
# Written for GNU Make 3.81, which macOS ships: no !=, no ::=, no $(file), no grouped targets.

LESSONS := day68_reproducibility precision_reduction fpmp_pi canonical_tree
# LESSON/PROGRAM. Another .cu in a lesson's folder is no program of the course, and is left out.
PROGRAMS := day68_reproducibility/reproducibility precision_reduction/precision_reduction \
	fpmp_pi/fpmp_pi fpmp_pi/fpmp_tour canonical_tree/canonical_tree canonical_tree/wrong_orders \
	canonical_tree/fused_tree canonical_tree/tree_in_graph
PROGRAMS := $(foreach p,$(PROGRAMS),$(if $(wildcard $(p).cu),$(p)))

# ---- What the user may set. $(value) keeps a $ in it, and each is used quoted or as an environment
# variable from here on, so that no shell reads it a second time.
BUILD ?= build
SETTINGS := DEVICE ARCH NVCC CXX CC DEFS SANITIZE LESSON OUTPUT TESTS STRICT SKIPS ALL V ACCEPT JOBS \
	PI_FP_T PI_FP_HEADER PI_LOG2_TERMS CCCL SRC ARGS INCLUDE DIR INTO EXERCISE STUDENT FRESH SALT POINTS N RESET RUN
quote = '$(subst ','\'',$(1))'
LESSON_GIVEN := $(filter command% environment%,$(origin LESSON))
CXX_GIVEN := $(filter command% environment%,$(origin CXX))
ARCH_GIVEN := $(filter environment,$(origin ARCH))
# A cluster's modules may set one of this name.
INCLUDE_GIVEN := $(filter command%,$(origin INCLUDE))
$(foreach s,$(SETTINGS),$(eval override $(s) := $$(value $(s))))
override INCLUDE := $(if $(INCLUDE_GIVEN),$(INCLUDE))
# make run SRC=...: a program of the user's own, named from where make was called.
OWN := $(if $(filter run,$(MAKECMDGOALS)),$(SRC))
CALLED_FROM := $(value PWD)
# The system's own before the one that `make toolkit` fetched: a module that was loaded, or a toolkit
# that fits the driver, is not set aside by a folder. Where this folder has a blank in its name, the
# path has to be relative: NVCC is a list of words.
ifeq ($(NVCC),)
fetched_nvcc := $(if $(word 2,$(CURDIR)),,$(CURDIR)/).toolkit/bin/nvcc
override NVCC := $(shell for n in "$$(command -v nvcc)" /usr/local/cuda/bin/nvcc $(fetched_nvcc); do \
	test ! -x "$$n" || { echo "$$n"; exit; }; done; echo nvcc)
endif
override CCCL := $(or $(CCCL),$(if $(wildcard .cccl/version),.cccl))
# Clusters set an ARCH of their own in the environment; only one that names a card's is meant for us.
ifneq ($(ARCH_GIVEN),)
override ARCH := $(filter sm_%,$(ARCH))
endif
override LESSON := $(if $(LESSON_GIVEN),$(LESSON),$(LESSONS))
HOST_FLAGS := -std=c++17 -O3 -ffp-contract=off
# Exercises are judged on the CPU default, whatever is at hand: there bits are pinned and launches counted.
ifneq ($(filter exercise exercises grade grade-all,$(MAKECMDGOALS)),)
override DEVICE := cpu
# A copy is run with it (RUN=1), and nothing else is built with it.
RUN_SANITIZE := $(SANITIZE)
override SANITIZE :=
endif

# All cores build, unless a -j on the command line says otherwise; a make below takes what it is given.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null),1)
endif
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.DEFAULT_GOAL := build
.PHONY: judge-tools cpu-tools build run check check-all doctor match expected types cccl toolkit embeds exercise exercises grade grade-all bench sanitize clean help test-env test-tools FORCE $(LESSONS)

# ---- Asked before anything is built -------------------------------------------------------------
ifneq ($(strip $(words $(BUILD)) $(foreach c,~ * ? [,$(findstring $(c),$(BUILD)))),1)
$(error BUILD must be one path without spaces or ~ * ? [, not '$(BUILD)')
endif
ifneq ($(filter-out $(LESSONS),$(LESSON))$(if $(LESSON),,none),)
$(error unknown LESSON '$(LESSON)': the lessons are $(LESSONS))
endif
ifneq ($(filter-out address thread undefined,$(SANITIZE))$(word 2,$(SANITIZE)),)
$(error unknown SANITIZE '$(SANITIZE)': one of address, thread, undefined)
endif
# These look at no compiler and no card; doctor asks for itself, and says what it finds missing.
GOALS := $(filter-out help clean cccl toolkit match embeds exercises doctor,$(or $(MAKECMDGOALS),build))
# $(call answer,variables for a script,its command): the script prints one line; "error what" stops make.
answer = $(call unless_error,$(shell $(foreach v,$(1) $(if $(TMPDIR),TMPDIR),$(v)=$(call quote,$($(v)))) bash $(2)))
unless_error = $(if $(filter error,$(firstword $(1))),$(error $(wordlist 2,999,$(1))),$(1))
ifneq ($(GOALS),)
# One make at a time has a build folder; a make below this one, and a test's question, take no lock.
lock_for := $(if $(filter-out 0,$(MAKELEVEL)),,$(if $(filter-out test-env,$(GOALS)),$(shell echo $$PPID)))
build_folder := $(shell bash tools/build_folder.sh $(call quote,$(BUILD)) $(lock_for))
ifneq ($(build_folder),)
$(error $(build_folder))
endif
# Compilers need a place for what is theirs for a moment, and some machines have no /tmp to write to.
ifeq ($(shell test -w "$${TMPDIR:-/tmp}" && echo yes),)
export TMPDIR := $(if $(filter /%,$(BUILD)),,$(CURDIR)/)$(BUILD)/tmp
$(shell mkdir -p $(call quote,$(TMPDIR)))
endif
# Words: gpu|cpu, sm_NN, then why.
CHOICE := $(call answer,NVCC CC CXX CXX_GIVEN BUILD DEVICE ARCH,tools/choose_device.sh)
override DEVICE := $(word 1,$(CHOICE))
override ARCH := $(word 2,$(CHOICE))
DEVICE_WHY := $(wordlist 3,99,$(CHOICE))
# Words: target=..., fma=yes|no, openmp=yes|no, id=COMPILER.
HOST := $(call answer,CXX CC BUILD,tools/host_flags.sh)
host = $(patsubst $(1)=%,%,$(filter $(1)=%,$(HOST)))
FMA := $(call host,fma)
OPENMP := $(call host,openmp)
MFMA := $(if $(filter x86_64-yes,$(call host,target)-$(FMA)),-mfma)
CCBIN := $(if $(CXX_GIVEN),$(CXX))
DEFS_FLAGS := $(call answer,DEFS DEVICE,tools/defs_flags.sh $(if $(OWN),,$(LESSON)))
PI_FLAGS := $(if $(PI_FP_T)$(PI_FP_HEADER)$(PI_LOG2_TERMS),$(call answer,PI_FP_T PI_FP_HEADER PI_LOG2_TERMS CCCL DEVICE,tools/pi_flags.sh))
ifeq ($(if $(SANITIZE),$(DEVICE)),gpu)
$(error SANITIZE=$(SANITIZE) is for the CPU default (DEVICE=cpu); on a card: make sanitize)
endif
strangers := $(if $(OWN),,$(filter-out $(PROGRAMS:=.cu) %/embed.cu,$(wildcard $(LESSON:=/*.cu))))
ifneq ($(strangers),)
$(info left out, as no program of this course: $(strangers))
endif
endif
export $(SETTINGS) BUILD HOST_FLAGS RUN_SANITIZE MFMA FMA OPENMP CCBIN CXX_GIVEN DEVICE_WHY LESSON_GIVEN LESSONS MAKE CALLED_FROM
# Scripts and tests work from other folders too.
export ROOT := $(CURDIR)

# ---- Programs: BUILD/gpu|cpu/fmad|nofmad/NAME ---------------------------------------------------
OUT := $(BUILD)/$(DEVICE)
TOOLS := $(BUILD)/tools
# Fused device code on a CPU needs its FMA; without one that build is left out, and said.
BUILDS := $(if $(filter cpu-no,$(DEVICE)-$(FMA)),nofmad,fmad nofmad)
chosen_programs := $(filter $(LESSON:=/%),$(PROGRAMS))
binaries = $(foreach b,$(BUILDS),$(addprefix $(OUT)/$(b)/,$(notdir $(1))))
vpath %.cu $(LESSONS)

build: $(call binaries,$(chosen_programs))
	@$(if $(filter fmad,$(BUILDS)),,echo 'left out: the fused builds: this CPU has no FMA')

# $(call flags,program): what one program's compile is given, quoted for a shell.
flags = $(DEFS_FLAGS) $(if $(filter fpmp_%,$(1)),$(PI_FLAGS)) \
	$(if $(wildcard canonical_tree/$(1).cu),$(if $(filter yes,$(OPENMP)),$(if $(SANITIZE),,-fopenmp)))
# A stamp holds the compilers and flags that a file was built with, and is touched only when they
# change: no output is ever taken from a binary that was built for something else. A program of the CPU
# default also depends on the runtime, which has a stamp of its own with CC in it.
identity_cpu = $(CXX) $(call host,id) $(HOST_FLAGS) $(MFMA) $(SANITIZE)
identity_gpu = $(NVCC) $(nvcc_id) $(NVCC_PREPEND_FLAGS) $(NVCC_APPEND_FLAGS) $(NVCC_CCBIN) $(ARCH) $(CCBIN) $(HOST_FLAGS) $(call host,id)
nvcc_id := $(if $(filter gpu,$(DEVICE)),$(shell $(NVCC) --version | tail -n 1))
write_stamp = @mkdir -p $(@D); printf '%s\n' $(call quote,$(1)) >$@.$$$$; \
	if cmp -s $@.$$$$ $@; then rm -f $@.$$$$; else mv $@.$$$$ $@; fi
$(BUILD)/cpu/runtime.stamp: FORCE
	$(call write_stamp,$(CC) $(call host,id) $(SAN_FLAGS))
$(OUT)/%.stamp: FORCE
	$(call write_stamp,$(identity_$(DEVICE)) $(call flags,$(*F)))

needed_cpu := $(TOOLS)/cu_rewrite $(patsubst cpu/%.c,$(BUILD)/cpu/runtime/%.o,$(filter-out cpu/cu_rewrite.c,$(wildcard cpu/*.c)))
# Recipes of several commands in one line say which file they work on; V=1 shows the whole compile.
compile = @$(if $(V),,echo '$(if $(filter gpu,$(DEVICE)),NVCC,CXX) $* ($(1))';) bash tools/compile.sh $< $@ $(1) $(call flags,$*)
$(OUT)/fmad/%: %.cu $(OUT)/fmad/%.stamp $(needed_$(DEVICE)) tools/compile.sh
	$(call compile,fmad)
$(OUT)/nofmad/%: %.cu $(OUT)/nofmad/%.stamp $(needed_$(DEVICE)) tools/compile.sh
	$(call compile,nofmad)
-include $(wildcard $(OUT)/*mad/*.d)

# The CPU default's runtime; once more for the tests that run AArch64 programs under emulation. (GNU
# Make 3.81 starts a plain command without a shell, where `command` is none: hence the ||.)
SAN_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -g -fno-omit-frame-pointer)
compile_c = @mkdir -p $(@D); $(if $(V),,echo 'CC $(<F)';) $(1) -std=c11 -O2 -Wall -Wextra -o $@.$$$$ $< $(2) && mv $@.$$$$ $@
$(BUILD)/cpu/runtime/%.o: cpu/%.c $(wildcard cpu/*.h) $(BUILD)/cpu/runtime.stamp
	$(call compile_c,$(CC),$(SAN_FLAGS) -pthread -Icpu -c)
$(BUILD)/cpu/runtime-aarch64/%.o: cpu/%.c $(wildcard cpu/*.h)
	$(call compile_c,aarch64-linux-gnu-gcc,-pthread -Icpu -c)
$(TOOLS)/cu_rewrite: cpu/cu_rewrite.c
	$(call compile_c,$(CC))
$(TOOLS)/match: tools/match.c
	$(call compile_c,$(CC))
$(TOOLS)/gpu_probe: tools/gpu_probe.c
	$(call compile_c,$(CC),-ldl)

# The CPU default with tools/watched_device.c in front of it, for exercises and grading (tools/judge.sh): the
# calls that are watched have another name in it.
watched_calls := cudaMemcpy cudaMemcpyAsync cudaGetDeviceProperties cudaDeviceGetAttribute cudaEventRecord \
	cudaEventSynchronize cudaEventElapsedTime cudaDeviceSynchronize cudaStreamSynchronize cuda_cpu_run
watched := $(BUILD)/cpu/watched/watched_device.o $(patsubst cpu/%.c,$(BUILD)/cpu/watched/%.o,$(filter-out cpu/cu_rewrite.c,$(wildcard cpu/*.c)))
$(BUILD)/cpu/watched/watched_device.o: tools/watched_device.c $(wildcard cpu/*.h)
	$(call compile_c,$(CC),-pthread -Icpu -c)
$(BUILD)/cpu/watched/%.o: cpu/%.c $(wildcard cpu/*.h) Makefile $(BUILD)/cpu/runtime.stamp
	$(call compile_c,$(CC),$(foreach c,$(watched_calls),-D$(c)=unwatched_$(c)) -pthread -Icpu -c)
grade: judge-tools
	@bash tools/as_committed.sh $(LESSON)
	@bash tools/grade.sh
grade-all: judge-tools
	@bash tools/grade_all.sh
judge-tools: $(watched) $(needed_cpu) $(TOOLS)/match

# ---- Commands ------------------------------------------------------------------------------------
# Under make -k a program that does not compile is a row of the table, and hides no other.
keep_going := $(findstring k,$(filter-out --%,$(firstword $(MAKEFLAGS))))
ifneq ($(OWN),)
run: $(if $(filter cpu,$(DEVICE)),$(needed_cpu))
	@bash tools/run_source.sh $(DEFS_FLAGS)
else
run: $(if $(keep_going),,$(call binaries,$(chosen_programs))) $(TOOLS)/match
	+@$(if $(keep_going),$(MAKE) --no-print-directory $(call binaries,$(chosen_programs)) || true;) bash tools/run.sh $(chosen_programs)
endif
cpu-tools: $(needed_cpu)

$(LESSONS):
	+@$(MAKE) --no-print-directory run LESSON=$@

aarch64 := $(if $(filter check test-tools,$(MAKECMDGOALS)),$(shell command -v aarch64-linux-gnu-gcc || true))
test-tools: $(watched) $(TOOLS)/match $(TOOLS)/gpu_probe $(needed_cpu) $(if $(aarch64),$(needed_cpu:$(BUILD)/cpu/runtime/%=$(BUILD)/cpu/runtime-aarch64/%))
check: $(call binaries,$(PROGRAMS)) test-tools
	@bash tools/check.sh $(TESTS)
check-all:
	+@$(MAKE) --no-print-directory check ALL=1

doctor:
	@bash tools/doctor.sh
match:
	@bash tools/match.sh
expected: $(call binaries,$(chosen_programs)) $(TOOLS)/match $(TOOLS)/gpu_probe
	@bash tools/expected.sh $(chosen_programs)
bench: $(call binaries,$(chosen_programs)) $(needed_cpu)
	@bash tools/bench.sh $(LESSON)
types: $(needed_$(DEVICE))
	@bash tools/pi_types.sh
cccl:
	@bash tools/fetch_cccl.sh
toolkit:
	@bash tools/fetch_toolkit.sh
embeds:
	@bash tools/embeds.sh
exercises:
	@bash tools/exercise.sh list
exercise: judge-tools
	@bash tools/exercise.sh $(call quote,$(N))
sanitize: $(if $(filter gpu,$(DEVICE)),$(call binaries,$(chosen_programs)))
	+@bash tools/sanitize.sh $(chosen_programs)
# What a test file that bats runs alone needs to know.
test-env:
	@for name in ROOT BUILD DEVICE DEVICE_WHY ARCH NVCC CXX CC CCBIN HOST_FLAGS MFMA FMA OPENMP SANITIZE; do \
		printf "%s='%s' " $$name "$$(printenv $$name | sed "s/'/'\\\\''/g")"; done; echo
clean:
	@bash tools/build_folder.sh $(call quote,$(BUILD)) clean
help:
	@sed -n 's/^#: //p' Makefile

#: make                        builds every lesson twice for the device at hand, and stops there
#: make run                    builds and runs all: a line per program, and a table of hashes per build
#: make run LESSON=name        one lesson, its output in full (V=1: in full for all)
#: make run SRC=my.cu          a program of your own, in both builds, and what differs (ARGS='...', INCLUDE=dir,
#:                             DEFS; several files in SRC): see cpu/README.md
#: make check                  the test suite (TESTS=tests/x.bats: a part; STRICT=1: a skip fails)
#: make check-all              that and tests/long, which takes minutes (SKIPS: reasons, one a line,
#:                             for which STRICT=1 lets a test be skipped)
#: make doctor                 what is on this machine, what was chosen and why, what is missing
#: make match OUTPUT=file      is this output, from whatever card, what the program must print?
#: make expected               records this machine's outputs (ACCEPT=1: as the expected ones)
#: make types                  every type of fpmp_pi in one table (CCCL's too, where CCCL is at hand)
#: make cccl                   fetches CCCL's headers into .cccl/: no root, nothing installed
#: make toolkit                 fetches a whole nvcc into .toolkit/, used where the system has none
#: make exercises              the exercises and how far you are with each
#: make exercise N=day68-3     begins one, or checks your copy (RESET=1: a fresh copy, the old one kept)
#: make exercise N=day68-3 RUN=1  builds and runs your copy, and checks nothing (DEFS, SANITIZE)
#: make embeds                 Compiler Explorer links and iframes of the programs, into embeds/
#: make grade LESSON=name SRC=file  grades a submission (EXERCISE=n STUDENT=name): see INSTRUCTORS.md
#: make grade-all DIR=folder LESSON=name  grades a folder of them (EXERCISE=n); a table and the reports lie in
#:                             DIR-grades, or INTO=folder
#: make bench LESSON=name      measures, beside what it is compared to
#: make sanitize               compute-sanitizer on a card; on the CPU default three of the compiler's
#: make clean, make help
#:
#: Variables: DEVICE=gpu|cpu   ARCH=sm_NN   NVCC CXX CC   DEFS='-D...'   BUILD=dir   V=1
#:            SANITIZE=address|thread|undefined (CPU default)
#:            PI_FP_T=type PI_FP_HEADER='<...>' PI_LOG2_TERMS=n CCCL=dir (fpmp_pi)
