/*
 * What a rewritten program, the C++ in cuda_runtime.h and the runtime in C share: how a block of CUDA
 * threads runs on one operating-system thread. C11 and C++17 read this file alike.
 */
#ifndef CUDA_CPU_ENGINE_H
#define CUDA_CPU_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_CPU_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define CUDA_CPU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDA_CPU_TSAN 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct uint3 {
    unsigned x, y, z;
} uint3;

/* __thread, not thread_local: in C++ an extern thread_local of unknown initialiser costs a call at
   every access. A fiber never moves to another operating-system thread, so a compiler may keep their
   addresses. */
extern __thread uint3 blockIdx, blockDim, gridDim;
struct cuda_cpu_thread {
    uint3 index;
    unsigned linear; /* its number in the block */
};

/* A stack that CUDA threads run on. One cache line: every switch touches two of them. */
struct cuda_cpu_fiber {
    void *sp, *frame;                   /* while it waits: stack and frame pointer, */
    void (*pc)(void);                   /* and where to go on */
    struct cuda_cpu_fiber *prev, *next; /* the ring of those with a thread in the block */
    struct cuda_cpu_thread thread;
    void *top; /* of the stack: where each block begins anew */
} __attribute__((aligned(64)));

struct cuda_cpu_place {
    const char *file;
    int line;
};

/* The block that runs on this operating-system thread. */
struct cuda_cpu_launch;
struct cuda_cpu_block {
    struct cuda_cpu_fiber *running;
    unsigned generation; /* barriers passed */
    unsigned unstarted;  /* threads still to be started; not kept up to date before the first wait */
    unsigned count;      /* threads in the block */
    const struct cuda_cpu_launch *launch;
    /* Until a thread waits they run in order, and who has returned needs no book. Then this is set, and: */
    unsigned waited;
    unsigned alive;      /* threads that have not returned; 0 before */
    /* In one word, so that a barrier compares once. Low: those of them that wait for nobody; 1 before, so that
       the first wait is noticed. High: the line of the barrier that others wait at, or last waited at. */
    unsigned to_come;
    unsigned pending;    /* lanes that wait in a warp's exchange; the rest of those alive wait at the barrier */
    unsigned at_end;     /* 1 + the number of a thread that has come to the kernel's closing brace, or 0 */
    const struct cuda_cpu_place *end; /* where that is, from then on: no barrier may come after */
    const char *file;    /* of the barrier's line */
    uint32_t left[32];   /* lanes that have returned, by warp; unset before */
};
#define CUDA_CPU_LINE 2048u /* one line in to_come */
/* Always by its name: at some levels g++ 12 with -fsanitize=undefined gets the check of its address wrong. */
extern __thread struct cuda_cpu_block cuda_cpu_block;
/* A switch changes the fiber, and nothing has to be copied for it. */
#define threadIdx (cuda_cpu_block.running->thread.index)

/* A launch. threads is where every fiber starts: it runs CUDA threads of the block until none is left to
   start, and then calls cuda_cpu_leave. */
struct cuda_cpu_launch {
    uint3 grid, block;
    size_t shared_bytes;
    void *stream;
    const void *kernel; /* its address, or null: what attributes are kept under */
    const char *name;   /* as the launch has it */
    void (*threads)(void);
    const void *closure;
    void *(*clone)(const void *closure); /* for graphs, which keep it; null without memory */
    void (*destroy)(void *closure);
};
void cuda_cpu_run(const struct cuda_cpu_launch *launch); /* errors: cudaGetLastError */

/* ThreadSanitizer takes fibers for threads, so that what they share in here would be races: it is to look
   at kernels alone. All else is inlined, which would be the end of the mark. */
#ifdef CUDA_CPU_TSAN
#define CUDA_CPU_UNSEEN __attribute__((no_sanitize("thread")))
#define CUDA_CPU_LOOP static __attribute__((noinline, unused)) CUDA_CPU_UNSEEN
#else
#define CUDA_CPU_UNSEEN
#define CUDA_CPU_LOOP static inline __attribute__((always_inline))
#endif

/* What the sanitizers want to know when a fiber starts. */
void cuda_cpu_entered(void);
/* The end of a fiber in this block: goes to who runs next, and does not come back. Not marked so, since a
   compiler would then call it and not jump, and the processor would miss the next return that it predicts. */
void cuda_cpu_leave(void);
/* A thread has returned for which others may wait. */
void cuda_cpu_thread_left(unsigned warp);

/* Around the CUDA threads that one fiber runs: their numbers are kept in a register. */
CUDA_CPU_LOOP unsigned cuda_cpu_first_thread(void) {
#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
    cuda_cpu_entered();
#endif
    cuda_cpu_block.running->thread.index.y = cuda_cpu_block.running->thread.index.z = 0;
    return cuda_cpu_block.count - cuda_cpu_block.unstarted;
}
CUDA_CPU_LOOP void cuda_cpu_begin_thread(unsigned linear) {
    struct cuda_cpu_thread *t = &cuda_cpu_block.running->thread;
    if (cuda_cpu_block.waited) cuda_cpu_block.unstarted = cuda_cpu_block.count - linear - 1;
    t->linear = linear;
    if (blockDim.y == 1 && blockDim.z == 1) {
        t->index.x = linear;
    } else {
        t->index.x = linear % blockDim.x;
        t->index.y = linear / blockDim.x % blockDim.y;
        t->index.z = linear / blockDim.x / blockDim.y;
    }
}
/* The number of the next thread: after a wait others may have been started since. */
CUDA_CPU_LOOP unsigned cuda_cpu_end_thread(unsigned linear) {
    if (cuda_cpu_block.end && !cuda_cpu_block.at_end) cuda_cpu_block.at_end = linear + 1;
    if (!cuda_cpu_block.waited) return linear + 1;
    cuda_cpu_block.alive--;
    cuda_cpu_block.left[linear / 32] |= UINT32_C(1) << linear % 32;
    if (--cuda_cpu_block.to_come % CUDA_CPU_LINE == 0 || cuda_cpu_block.pending) cuda_cpu_thread_left(linear / 32);
    return cuda_cpu_block.count - cuda_cpu_block.unstarted;
}
/* Does this fiber run it? For ThreadSanitizer each thread has a fiber of its own. */
CUDA_CPU_LOOP int cuda_cpu_more_threads(unsigned next) {
#ifdef CUDA_CPU_TSAN
    (void)next;
    return 0;
#else
    return next < cuda_cpu_block.count;
#endif
}

/* A fiber for the block's next thread. */
struct cuda_cpu_fiber *cuda_cpu_start_fiber(void);
/* For a thread that would wait, where nobody is to come: true where all are at the barrier and go on; false
   where some still run. Where some wait for a warp's exchange, or are at the kernel's end, that ends the program. */
int cuda_cpu_all_wait(void);
/* The barrier with what the sanitizers want to know. */
void cuda_cpu_barrier_annotated(const char *file, int line);
/* The last thread at a barrier, or one at another than the block's last: true where all go on. Where others wait
   at that other, it ends the program. */
int cuda_cpu_last_or_other(const char *file, int line);

/* At the closing brace of each kernel. Who comes here must have passed every barrier of the block; who returns
   before, by `return`, is no longer waited for, as on a card. */
CUDA_CPU_LOOP void cuda_cpu_end_of_kernel(const struct cuda_cpu_place *place) { cuda_cpu_block.end = place; }

/*
 * Saves where this fiber is, and goes on where another was. The compiler saves what else is live, since
 * every register is named as overwritten. It is inlined with all of the barrier into the kernel, and
 * leaves by a jump: a processor predicts a return to go back to the last call, and after a switch that
 * was another fiber's.
 */
static inline __attribute__((always_inline)) void cuda_cpu_exchange_stacks(struct cuda_cpu_fiber *from,
                                                                          struct cuda_cpu_fiber *to) {
#if defined(__x86_64__)
#ifdef __AVX512F__
#define CUDA_CPU_AVX512 \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", \
        "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define CUDA_CPU_AVX512
#endif
    __asm__ volatile(
        "movq %%rsp, 0(%[from])\n\t"
        "movq %%rbp, 8(%[from])\n\t"
        "leaq 1f(%%rip), %%rax\n\t"
        "movq %%rax, 16(%[from])\n\t"
        "movq 0(%[to]), %%rsp\n\t"
        "movq 8(%[to]), %%rbp\n\t"
        "jmpq *16(%[to])\n"
        "1:"
        : [from] "+D"(from), [to] "+S"(to)
        :
        : CUDA_CPU_AVX512 "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
          "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
          "cc");
#elif defined(__aarch64__)
#ifdef __APPLE__
#define CUDA_CPU_X18 /* the system's own there, and no compiler touches it */
#else
#define CUDA_CPU_X18 "x18",
#endif
    register struct cuda_cpu_fiber *x0 __asm__("x0") = from;
    register struct cuda_cpu_fiber *x1 __asm__("x1") = to;
    __asm__ volatile(
        "mov x2, sp\n\t"
        "adr x3, 1f\n\t"
        "stp x2, x29, [x0, #0]\n\t"
        "str x3, [x0, #16]\n\t"
        "ldp x2, x29, [x1, #0]\n\t"
        "ldr x3, [x1, #16]\n\t"
        "mov sp, x2\n\t"
        "br x3\n"
        "1:"
        : "+r"(x0), "+r"(x1)
        :
        : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", CUDA_CPU_X18
          "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
          "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23",
          "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
#else
#error "the fiber switch is written for x86-64 and AArch64"
#endif
}

/* Who runs while this thread waits: first those that have not started, as all must come before anything is due. */
CUDA_CPU_LOOP struct cuda_cpu_fiber *cuda_cpu_next_fiber(void) {
    return cuda_cpu_block.unstarted ? cuda_cpu_start_fiber() : cuda_cpu_block.running->next;
}

static inline __attribute__((always_inline)) void cuda_cpu_barrier(const char *file, int line) {
#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
    cuda_cpu_barrier_annotated(file, line);
#else
    const unsigned generation = cuda_cpu_block.generation;
    /* Others are to come, and to this line? */
    if (--cuda_cpu_block.to_come - (unsigned)line * CUDA_CPU_LINE - 1 >= CUDA_CPU_LINE - 1 && cuda_cpu_last_or_other(file, line)) return;
    do {
        struct cuda_cpu_fiber *from = cuda_cpu_block.running, *to = cuda_cpu_next_fiber();
        cuda_cpu_block.running = to;
        cuda_cpu_exchange_stacks(from, to);
    } while (cuda_cpu_block.generation == generation);
#endif
}

enum cuda_cpu_reduce { CUDA_CPU_COUNT, CUDA_CPU_AND, CUDA_CPU_OR };
int cuda_cpu_barrier_reduce(int predicate, enum cuda_cpu_reduce what, const char *file, int line);

/* One exchange among the lanes of mask: value goes in; *ballot gets a bit a lane whose value is not
   zero, and the result is the value of lane `source` (the own one where that lane takes no part). */
uint64_t cuda_cpu_exchange(uint32_t mask, uint64_t value, unsigned source, uint32_t *ballot);
uint32_t cuda_cpu_active_mask(void);
/* Waits until no thread of the block can go on but those that wait here: so the lanes of a warp that take the same
   path run in lock-step from one such wait to the next. */
void cuda_cpu_lockstep(void);

void *cuda_cpu_dynamic_shared(void);
/* Storage of this block for the static shared variable that `key` stands for; with AddressSanitizer only. */
void *cuda_cpu_static_shared(const void *key, size_t bytes);
/* Is p in this block's shared memory? Asked where a subnormal meets a float atomic. */
int cuda_cpu_is_shared(const volatile void *p);

#ifdef __cplusplus
}
#endif
#endif
