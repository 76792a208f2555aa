/*
 * Runs blocks of CUDA threads on a CPU.
 *
 * Blocks: a pool of operating-system threads takes them from a counter, so that atomics of different
 * blocks really arrive in an order that nobody chose. The thread that launches works along.
 * Threads: a block stays on one operating-system thread. Its CUDA threads run one after the other on
 * one fiber until one has to wait; then the next ones are started on fibers of their own, and a
 * barrier is a switch to the next fiber of a ring. A kernel without a barrier needs one fiber.
 * A thread that returns is no longer waited for, neither at a barrier nor in a warp's exchange.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __linux__
#include <link.h>
#include <sched.h>
#endif

#include "engine.h"
#include "internal.h"

#define UNSEEN CUDA_CPU_UNSEEN

#ifdef CUDA_CPU_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CUDA_CPU_TSAN
#include <sanitizer/tsan_interface.h>
/* Declared here as some compilers' headers lack them. */
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
enum { TSAN_SYNC = 0, TSAN_NO_SYNC = 1 };
#define RELEASE(place) __tsan_release(place)
#define ACQUIRE(place) __tsan_acquire(place)
#else
#define RELEASE(place) ((void)0)
#define ACQUIRE(place) ((void)0)
#endif

enum {
    MAX_THREADS = 1024,
    WARP = 32,
    MAX_WORKERS = 256,
#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
    STACK_BYTES = 256 * 1024, /* instrumented frames are larger */
#else
    STACK_BYTES = 64 * 1024,
#endif
    /* Compilers probe a large frame every so many bytes (g++ on AArch64; on x86-64 every 4,096). */
    GUARD_BYTES = 64 * 1024,
    /* A guarded stack splits a mapping in two, and Linux allows a process 65,530. */
    MAX_GUARDED = 24000
};
#ifdef CUDA_CPU_TSAN
/* From clang 14 and g++ 13 on, ThreadSanitizer keeps 255 threads apart: of more, it forgets what most of them
 * did. So there are two workers then, and in a block every 113th thread counts as one and the same: few
 * programs have threads at that distance meet. */
#if (defined(__clang__) && __clang_major__ >= 14) || (!defined(__clang__) && __GNUC__ >= 13)
enum { TSAN_THREADS = 113, TSAN_WORKERS = 2 };
#else
enum { TSAN_THREADS = MAX_THREADS, TSAN_WORKERS = MAX_WORKERS };
#endif
#endif

/* ---- Workers and fibers ---------------------------------------------------------------------- */

struct annotation { /* what the sanitizers keep of a fiber */
#ifdef CUDA_CPU_ASAN
    void *fake;
    const void *bottom;
    size_t bytes;
#endif
#ifdef CUDA_CPU_TSAN
    void *tsan;
#endif
    char unused;
};

struct lane { /* what a lane brings to an exchange and takes from it */
    uint64_t value, result;
    uint32_t source, ballot;
    bool done, inside; /* the exchange has been; the lane has not gone on from it */
    bool in_lockstep;  /* it waits in cuda_cpu_lockstep, and in no exchange */
};

struct shared_variable { /* AddressSanitizer only: a static __shared__ variable of this block */
    struct shared_variable *next;
    const void *key;
    void *data;
    size_t bytes;
};

struct worker {
    struct cuda_cpu_fiber fibers[MAX_THREADS];
    struct cuda_cpu_fiber scheduler; /* the operating-system thread's own stack */
    struct annotation annotations[MAX_THREADS + 1];
    unsigned made, used; /* fibers that exist; that were started in this block */
    struct cuda_cpu_fiber *ring;
    unsigned in_lockstep; /* lanes that wait so */
    unsigned count_true; /* predicates not zero among those that have arrived */
    unsigned result_count, result_threads;
    /* Exchanges in progress, by warp: the mask of each and the lanes that have come. A lane is in one at a time. */
    struct exchange {
        uint32_t mask, arrived;
    } exchanges[WARP][WARP];
    struct lane lanes[MAX_THREADS];
    void *dynamic;
    size_t dynamic_bytes;
    struct shared_variable *variables;
    char started, passing[2], finished; /* places for ThreadSanitizer's order: block begins, barrier, thread ends */
};

__thread uint3 blockIdx, blockDim, gridDim;
__thread struct cuda_cpu_block cuda_cpu_block;
static __thread struct worker *self;

/* Workers may find the same fault at once: the first says so and ends the program, the others wait for that. */
static void speak_alone(void) {
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&taken))
        for (;;) pause();
}

static _Noreturn void die(const char *what) {
    speak_alone();
    fflush(stdout);
    fprintf(stderr, "CPU default: %s\n", what);
    _Exit(2);
}

#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
/* The scheduler stands behind the fibers, and so do its annotations. */
static struct annotation *annotation(struct worker *w, const struct cuda_cpu_fiber *f) {
    return &w->annotations[f - w->fibers];
}
#endif

UNSEEN static void switch_to(struct worker *w, struct cuda_cpu_fiber *to) {
    struct cuda_cpu_fiber *from = cuda_cpu_block.running;
    (void)w;
    cuda_cpu_block.running = to;
#ifdef CUDA_CPU_ASAN
    __sanitizer_start_switch_fiber(&annotation(w, from)->fake, annotation(w, to)->bottom, annotation(w, to)->bytes);
#endif
#ifdef CUDA_CPU_TSAN
    __tsan_switch_to_fiber(annotation(w, to)->tsan,
                           from == &w->scheduler || to == &w->scheduler ? TSAN_SYNC : TSAN_NO_SYNC);
#endif
    cuda_cpu_exchange_stacks(from, to);
#ifdef CUDA_CPU_ASAN
    __sanitizer_finish_switch_fiber(annotation(w, from)->fake, NULL, NULL);
#endif
}

#if !defined(CUDA_CPU_ASAN) && !defined(CUDA_CPU_TSAN)
/* A fault just below the stack of the thread that runs: say so, where a bare signal would tell nothing. */
static void on_fault(int number, siginfo_t *info, void *context) {
    static const char what[] = "CPU default: the local variables of a CUDA thread need more than 64 KB, which is all that it has here\n";
    const struct cuda_cpu_fiber *f = cuda_cpu_block.running;
    (void)context;
    if (f && f != &self->scheduler) {
        const size_t below = (size_t)((const char *)f->top - (const char *)info->si_addr);
        if (info->si_code > 0 && below > STACK_BYTES - 8192 && below < STACK_BYTES + GUARD_BYTES + 8192) {
            speak_alone();
            (void)!write(STDERR_FILENO, what, sizeof what - 1);
            _Exit(2);
        }
    }
    signal(number, SIG_DFL); /* and the same access again */
    if (info->si_code <= 0) raise(number); /* there was none: somebody sent it */
}
/* For each worker: a handler cannot stand on the stack that has no room. */
static void watch_faults(void) {
    const stack_t other = {.ss_sp = malloc(64 * 1024), .ss_size = 64 * 1024};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    if (other.ss_sp && sigaltstack(&other, NULL) == 0 && sigaction(SIGSEGV, NULL, &before) == 0 &&
        before.sa_handler == SIG_DFL)
        sigaction(SIGSEGV, &action, NULL);
}
#else
static void watch_faults(void) {} /* the sanitizers have their own */
#endif

UNSEEN __attribute__((noinline)) static void make_fiber(struct worker *w, unsigned index) {
    static atomic_uint guarded;
    struct cuda_cpu_fiber *f = &w->fibers[index];
    /* A page more, or all stacks stand a power of two apart and share cache sets: 18 % slower. */
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t guard = atomic_fetch_add(&guarded, 1) < MAX_GUARDED ? GUARD_BYTES + page : 0;
    char *memory = mmap(NULL, guard + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) die("out of memory for the stacks of a block's threads");
    /* A mapping refused for its number leaves the stack without a guard, which does no harm. */
    if (guard) (void)mprotect(memory, guard, PROT_NONE);
    /* All stacks start at one offset in a page, so their tops would share a few cache sets: spread them. */
    char *top = memory + guard + STACK_BYTES - (index * 320) % 4096 / 16 * 16;
    /* Both ABIs want a multiple of 16; x86-64 as it was before the call's return address was pushed. */
#if defined(__x86_64__)
    top -= 8;
    memset(top, 0, 8);
#endif
    f->top = top;
#ifdef CUDA_CPU_ASAN
    annotation(w, f)->bottom = memory + guard;
    annotation(w, f)->bytes = STACK_BYTES;
#endif
#ifdef CUDA_CPU_TSAN
    annotation(w, f)->tsan =
        index < TSAN_THREADS ? __tsan_create_fiber(0) : annotation(w, &w->fibers[index - TSAN_THREADS])->tsan;
#endif
}

/* A fiber for the block's next threads, put at the end of the ring: it begins at the top of its stack. */
UNSEEN struct cuda_cpu_fiber *cuda_cpu_start_fiber(void) {
    struct worker *w = self;
    struct cuda_cpu_fiber *f = &w->fibers[w->used++];
    if (w->used > w->made) make_fiber(w, w->made++);
    f->sp = f->top;
    f->frame = NULL;
    f->pc = cuda_cpu_block.launch->threads;
    if (!w->ring) w->ring = f->prev = f;
    f->next = w->ring;
    f->prev = w->ring->prev;
    f->prev->next = f;
    f->next->prev = f;
    return f;
}

#if defined(CUDA_CPU_ASAN) || defined(CUDA_CPU_TSAN)
UNSEEN void cuda_cpu_entered(void) {
    struct worker *w = self;
#ifdef CUDA_CPU_ASAN
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(NULL, &bottom, &bytes);
    struct annotation *scheduler = annotation(w, &w->scheduler);
    if (scheduler->bottom == NULL) { /* the first fiber comes from the scheduler, and so learns its stack */
        scheduler->bottom = bottom;
        scheduler->bytes = bytes;
    }
#endif
    ACQUIRE(&w->started);
}
#endif

UNSEEN void cuda_cpu_leave(void) {
    struct worker *w = self;
    struct cuda_cpu_fiber *me = cuda_cpu_block.running, *next;
    if (!cuda_cpu_block.waited) cuda_cpu_block.unstarted = cuda_cpu_block.count - me->thread.linear - 1;
    next = cuda_cpu_next_fiber();
    RELEASE(&w->finished);
    if (next == me) {
        w->ring = NULL;
        next = &w->scheduler;
    } else {
        me->prev->next = me->next;
        me->next->prev = me->prev;
        if (w->ring == me) w->ring = me->next;
    }
    switch_to(w, next);
    __builtin_unreachable();
}

UNSEEN static _Noreturn void deadlock(struct worker *w) {
    speak_alone();
    fflush(stdout);
    fprintf(stderr, "CPU default: the threads of block (%u,%u,%u) wait for each other for ever:\n", blockIdx.x, blockIdx.y,
            blockIdx.z);
    for (int in_exchange = 0; in_exchange < 2; in_exchange++) {
        unsigned n = 0;
        const struct cuda_cpu_fiber *f = w->ring, *first = NULL;
        do {
            const unsigned warp = f->thread.linear / WARP, lane = f->thread.linear % WARP;
            uint32_t lanes = 0;
            for (unsigned i = 0; i < WARP; i++) lanes |= w->exchanges[warp][i].arrived;
            if ((int)(lanes >> lane & 1) == in_exchange) {
                if (!first) first = f;
                n++;
            }
            f = f->next;
        } while (f != w->ring);
        if (first)
            fprintf(stderr, "  thread (%u,%u,%u)%s %s\n", first->thread.index.x, first->thread.index.y, first->thread.index.z,
                    n > 1 ? " and others" : "",
                    in_exchange ? "in a warp function whose mask names lanes that do not come" : "at a barrier");
    }
    _Exit(2);
}

UNSEEN static void let_others_run(struct worker *w) { switch_to(w, cuda_cpu_next_fiber()); }

/* ---- Barriers -------------------------------------------------------------------------------- */

/* Up to now the block's threads ran in order: those before this one have returned, and only those. */
UNSEEN static void first_wait(void) {
    const unsigned linear = cuda_cpu_block.running->thread.linear;
    for (unsigned warp = 0; warp * WARP < cuda_cpu_block.count; warp++)
        cuda_cpu_block.left[warp] = linear >= (warp + 1) * WARP ? ~UINT32_C(0)
                        : linear > warp * WARP      ? (UINT32_C(1) << (linear - warp * WARP)) - 1
                                                    : 0;
    cuda_cpu_block.alive = cuda_cpu_block.count - linear;
    cuda_cpu_block.to_come = cuda_cpu_block.to_come / CUDA_CPU_LINE * CUDA_CPU_LINE + cuda_cpu_block.alive;
    cuda_cpu_block.unstarted = cuda_cpu_block.alive - 1;
    cuda_cpu_block.waited = 1;
}

/* Ends the program: a thread waits at the block's barrier, and another is elsewhere. */
UNSEEN static _Noreturn void divergent(uint3 waits, uint3 other, const char *where, const char *file, int line) {
    speak_alone();
    fflush(stdout);
    fprintf(stderr,
            "CPU default: divergent barriers in kernel %s, block (%u,%u,%u): thread (%u,%u,%u) waits at %s:%d, "
            "thread (%u,%u,%u) %s %s:%d\n",
            cuda_cpu_block.launch->name, blockIdx.x, blockIdx.y, blockIdx.z, waits.x, waits.y, waits.z, cuda_cpu_block.file,
            (int)(cuda_cpu_block.to_come / CUDA_CPU_LINE), other.x, other.y, other.z, where, file, line);
    _Exit(2);
}

UNSEEN int cuda_cpu_last_or_other(const char *file, int line) {
    const unsigned here = (unsigned)line * CUDA_CPU_LINE, to_come = cuda_cpu_block.to_come % CUDA_CPU_LINE;
    const bool other = cuda_cpu_block.to_come - to_come != here || strcmp(cuda_cpu_block.file, file) != 0;
    if (other && to_come + cuda_cpu_block.pending + 1 < cuda_cpu_block.alive) {
        /* Those before this one in the ring ran last. */
        const struct cuda_cpu_fiber *f = cuda_cpu_block.running->prev;
        while (self->lanes[f->thread.linear].inside) f = f->prev;
        divergent(f->thread.index, cuda_cpu_block.running->thread.index, "at", file, line);
    }
    cuda_cpu_block.file = file;
    cuda_cpu_block.to_come = here + to_come;
    return cuda_cpu_all_wait();
}

UNSEEN static void end_lockstep(struct worker *w) {
    for (unsigned i = 0; i < cuda_cpu_block.count; i++) {
        if (!w->lanes[i].in_lockstep) continue;
        w->lanes[i].in_lockstep = false;
        w->lanes[i].done = true;
        cuda_cpu_block.pending--;
        cuda_cpu_block.to_come++;
    }
    w->in_lockstep = 0;
}

UNSEEN int cuda_cpu_all_wait(void) {
    struct worker *w = self;
    if (!cuda_cpu_block.waited) {
        first_wait();
        cuda_cpu_block.to_come--;
    }
    if (cuda_cpu_block.to_come % CUDA_CPU_LINE) return 0;
    if (w->in_lockstep) {
        end_lockstep(w);
        return 0;
    }
    if (cuda_cpu_block.pending) deadlock(w);
    if (cuda_cpu_block.at_end) {
        const unsigned t = cuda_cpu_block.at_end - 1, row = t / blockDim.x;
        divergent(cuda_cpu_block.running->prev->thread.index,
                  (uint3){t % blockDim.x, row % blockDim.y, row / blockDim.y}, "is at the end of the kernel,",
                  cuda_cpu_block.end->file, cuda_cpu_block.end->line);
    }
    w->result_count = w->count_true;
    w->result_threads = cuda_cpu_block.alive;
    w->count_true = 0;
    cuda_cpu_block.to_come += cuda_cpu_block.alive;
    cuda_cpu_block.generation++;
    return 1;
}

UNSEEN void cuda_cpu_barrier_annotated(const char *file, int line) {
    /* Two places in turn: with one alone, who has passed this barrier and arrived at the next one would be
       ordered before who has yet to pass this one, and no race between the two barriers would show. */
    const unsigned generation = cuda_cpu_block.generation;
    RELEASE(&self->passing[generation % 2]);
    cuda_cpu_block.to_come--;
    if (!cuda_cpu_last_or_other(file, line)) { /* each asks, so that another file shows too */
        do {
            let_others_run(self);
        } while (cuda_cpu_block.generation == generation);
    }
    ACQUIRE(&self->passing[generation % 2]);
}

UNSEEN int cuda_cpu_barrier_reduce(int predicate, enum cuda_cpu_reduce what, const char *file, int line) {
    self->count_true += predicate != 0;
    cuda_cpu_barrier(file, line);
    /* The results stand until the next barrier is passed, and none is before all threads have read them. */
    const unsigned count = self->result_count, threads = self->result_threads;
    return what == CUDA_CPU_COUNT ? (int)count : what == CUDA_CPU_AND ? count == threads : count != 0;
}

/* ---- Warps ----------------------------------------------------------------------------------- */

UNSEEN static uint32_t lanes_of_warp(unsigned warp) {
    const unsigned lanes = cuda_cpu_block.count - warp * WARP;
    return (lanes >= WARP ? ~UINT32_C(0) : (UINT32_C(1) << lanes) - 1) & ~cuda_cpu_block.left[warp];
}

UNSEEN uint32_t cuda_cpu_active_mask(void) {
    if (!cuda_cpu_block.waited) first_wait();
    return lanes_of_warp(cuda_cpu_block.running->thread.linear / WARP);
}

/* Ends an exchange if every lane of its mask that is still there has come. */
UNSEEN static bool end_exchange(struct worker *w, unsigned warp, struct exchange *e) {
    const uint32_t arrived = e->arrived, due = e->mask & lanes_of_warp(warp);
    if (!arrived || (arrived & due) != due) return false;
    struct lane *lanes = w->lanes + warp * WARP;
    uint32_t ballot = 0;
    for (unsigned i = 0; i < WARP; i++)
        if (arrived >> i & 1 && lanes[i].value != 0) ballot |= UINT32_C(1) << i;
    for (unsigned i = 0; i < WARP; i++) {
        if (!(arrived >> i & 1)) continue;
        const unsigned source = lanes[i].source;
        lanes[i].result = source < WARP && arrived >> source & 1 ? lanes[source].value : lanes[i].value;
        lanes[i].ballot = ballot;
        lanes[i].done = true;
        cuda_cpu_block.pending--;
        cuda_cpu_block.to_come++;
    }
    e->arrived = 0;
    return true;
}

UNSEEN uint64_t cuda_cpu_exchange(uint32_t mask, uint64_t value, unsigned source, uint32_t *ballot) {
    struct worker *w = self;
    const unsigned linear = cuda_cpu_block.running->thread.linear, warp = linear / WARP, lane = linear % WARP;
    if (!cuda_cpu_block.waited) first_wait();
    if (!(mask >> lane & 1)) die("a lane calls a warp function with a mask that does not name it");
    /* The exchange of this mask, or the first that is free. */
    struct exchange *e = w->exchanges[warp], *free = NULL;
    for (; e < w->exchanges[warp] + WARP && !(e->arrived && e->mask == mask); e++)
        if (!e->arrived && !free) free = e;
    if (e == w->exchanges[warp] + WARP) e = free;
    struct lane *mine = &w->lanes[linear];
    *mine = (struct lane){.value = value, .source = source, .inside = true};
    RELEASE(&w->exchanges[warp]);
    e->arrived |= UINT32_C(1) << lane;
    e->mask = mask;
    cuda_cpu_block.pending++;
    cuda_cpu_block.to_come--;
    if (!end_exchange(w, warp, e)) {
        (void)cuda_cpu_all_wait(); /* for ever? */
        while (!mine->done) let_others_run(w);
    }
    ACQUIRE(&w->exchanges[warp]);
    mine->inside = false;
    *ballot = mine->ballot;
    return mine->result;
}

UNSEEN void cuda_cpu_lockstep(void) {
    struct worker *w = self;
    if (!cuda_cpu_block.waited) first_wait();
    struct lane *mine = &w->lanes[cuda_cpu_block.running->thread.linear];
    *mine = (struct lane){.inside = true, .in_lockstep = true};
    RELEASE(&w->exchanges[cuda_cpu_block.running->thread.linear / WARP]);
    w->in_lockstep++;
    cuda_cpu_block.pending++;
    cuda_cpu_block.to_come--;
    (void)cuda_cpu_all_wait();
    while (!mine->done) let_others_run(w);
    ACQUIRE(&w->exchanges[cuda_cpu_block.running->thread.linear / WARP]);
    mine->inside = false;
}

UNSEEN void cuda_cpu_thread_left(unsigned warp) {
    struct worker *w = self;
    if (cuda_cpu_block.pending)
        for (unsigned i = 0; i < WARP; i++) end_exchange(w, warp, &w->exchanges[warp][i]);
    if (cuda_cpu_block.alive) (void)cuda_cpu_all_wait();
}

/* ---- Shared memory --------------------------------------------------------------------------- */

UNSEEN void *cuda_cpu_dynamic_shared(void) { return self->dynamic; }

UNSEEN void *cuda_cpu_static_shared(const void *key, size_t bytes) {
    for (struct shared_variable *v = self->variables; v; v = v->next)
        if (v->key == key) return v->data;
    struct shared_variable *v = malloc(sizeof *v);
    if (!v || posix_memalign(&v->data, 128, bytes) != 0) die("out of memory for shared memory");
    memset(v->data, 0xff, bytes); /* NaN to who reads before writing */
    v->key = key;
    v->bytes = bytes;
    v->next = self->variables;
    self->variables = v;
    return v->data;
}

UNSEEN static void free_variables(struct worker *w) {
    for (struct shared_variable *v = w->variables, *next; v; v = next) {
        next = v->next;
        free(v->data);
        free(v);
    }
    w->variables = NULL;
}

static bool in_range(const volatile void *p, const void *from, size_t bytes) {
    return (uintptr_t)p >= (uintptr_t)from && (uintptr_t)p - (uintptr_t)from < bytes;
}

#ifdef __linux__
/* A module's thread-local storage on this thread: where static shared variables are. */
static int in_thread_local(struct dl_phdr_info *info, size_t size, void *p) {
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && in_range(p, info->dlpi_tls_data, info->dlpi_phdr[i].p_memsz)) return 1;
    return 0;
}
#endif

UNSEEN int cuda_cpu_is_shared(const volatile void *p) {
    if (in_range(p, self->dynamic, self->dynamic_bytes)) return 1;
    for (struct shared_variable *v = self->variables; v; v = v->next)
        if (in_range(p, v->data, v->bytes)) return 1;
#ifdef __linux__
    return dl_iterate_phdr(in_thread_local, (void *)(uintptr_t)p);
#else
    return 0;
#endif
}

/* ---- Blocks and launches --------------------------------------------------------------------- */

UNSEEN static struct worker *this_worker(void) {
    if (!self) {
        void *memory;
        if (posix_memalign(&memory, 64, sizeof *self) != 0) die("out of memory for a worker");
        self = memset(memory, 0, sizeof *self);
#ifdef CUDA_CPU_TSAN
        annotation(self, &self->scheduler)->tsan = __tsan_get_current_fiber();
#endif
        watch_faults();
    }
    return self;
}

UNSEEN static void run_block(struct worker *w, const struct cuda_cpu_launch *launch, unsigned long index) {
    const unsigned long gx = launch->grid.x, gy = launch->grid.y;
    const unsigned count = launch->block.x * launch->block.y * launch->block.z;
    blockIdx = (uint3){(unsigned)(index % gx), (unsigned)(index / gx % gy), (unsigned)(index / gx / gy)};
    cuda_cpu_block.waited = cuda_cpu_block.alive = cuda_cpu_block.pending = 0;
    cuda_cpu_block.to_come = 1;
    cuda_cpu_block.count = cuda_cpu_block.unstarted = count;
    cuda_cpu_block.at_end = 0;
    cuda_cpu_block.end = NULL;
    w->used = 0;
    cuda_cpu_block.running = &w->scheduler;
#ifdef CUDA_CPU_ASAN
    /* From the heap, and of just this size, so that AddressSanitizer sees its end. */
    void *dynamic = NULL;
    if (posix_memalign(&dynamic, 128, launch->shared_bytes) != 0) die("out of memory for dynamic shared memory");
    memset(dynamic, 0xff, launch->shared_bytes);
    w->dynamic = dynamic;
    w->dynamic_bytes = launch->shared_bytes;
#endif
#ifdef CUDA_CPU_TSAN
    /* All now and here: a fiber comes after all that its maker did before, which would order a block's threads. */
    while (w->made < count) make_fiber(w, w->made++);
#endif
    RELEASE(&w->started);
    switch_to(w, cuda_cpu_start_fiber());
    ACQUIRE(&w->finished);
#ifdef CUDA_CPU_ASAN
    free(w->dynamic);
    w->dynamic = NULL;
    w->dynamic_bytes = 0;
#endif
    free_variables(w);
}

static struct {
    pthread_mutex_t lock;
    pthread_cond_t start, done;
    unsigned workers; /* this thread and the pool's */
    unsigned long epoch;
    unsigned busy;
    const struct cuda_cpu_launch *launch;
    unsigned long blocks, chunk; /* neighbours are taken together: their data are, too, and fetched ahead */
    atomic_ulong next;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .start = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

UNSEEN static void work(const struct cuda_cpu_launch *launch) {
    struct worker *w = this_worker();
    cuda_cpu_block.launch = launch;
    blockDim = launch->block;
    gridDim = launch->grid;
#ifndef CUDA_CPU_ASAN
    if (launch->shared_bytes > w->dynamic_bytes) {
        free(w->dynamic);
        if (posix_memalign(&w->dynamic, 1024, launch->shared_bytes) != 0) die("out of memory for dynamic shared memory");
        w->dynamic_bytes = launch->shared_bytes;
    }
#endif
    for (;;) {
        const unsigned long first = atomic_fetch_add_explicit(&pool.next, pool.chunk, memory_order_relaxed);
        if (first >= pool.blocks) break;
        const unsigned long end = first + pool.chunk < pool.blocks ? first + pool.chunk : pool.blocks;
        for (unsigned long index = first; index < end; index++) run_block(w, launch, index);
    }
}

static void *worker_main(void *unused) {
    unsigned long seen = 0;
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.epoch == seen) pthread_cond_wait(&pool.start, &pool.lock);
        seen = pool.epoch;
        const struct cuda_cpu_launch *launch = pool.launch;
        pthread_mutex_unlock(&pool.lock);
        work(launch);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0) pthread_cond_signal(&pool.done);
    }
    return NULL;
}

unsigned cuda_cpu_cores(void) {
#ifdef __linux__
    /* What this process may use, not what the machine has: a batch job or taskset is obeyed. */
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return (unsigned)CPU_COUNT(&set);
#endif
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : (unsigned)n;
}

/* Starts the pool once. A thread that cannot be started is done without: a limit on processes ends no run. */
static void start_pool(void) {
    unsigned want = cuda_cpu_cores();
    const char *asked = getenv("CUDA_CPU_WORKERS");
    if (asked && *asked) {
        char *end;
        const unsigned long n = strtoul(asked, &end, 10);
        if (*end || n < 1 || n > MAX_WORKERS) die("CUDA_CPU_WORKERS must be a number from 1 to 256");
        want = (unsigned)n;
    }
    if (want > MAX_WORKERS) want = MAX_WORKERS;
#ifdef CUDA_CPU_TSAN
    if (want > TSAN_WORKERS) want = TSAN_WORKERS;
#endif
    /* Half of what this user may start is left to the program's own threads. */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NPROC, &limit) == 0 && want > limit.rlim_cur / 2)
        want = limit.rlim_cur < 4 ? 1 : (unsigned)(limit.rlim_cur / 2);
    pool.workers = 1;
    while (pool.workers < want) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker_main, NULL) != 0) break;
        pthread_detach(thread);
        pool.workers++;
    }
}

void cuda_cpu_refuse_in_kernel(void) {
    if (cuda_cpu_block.running && cuda_cpu_block.running != &self->scheduler)
        die("a kernel launches a kernel: dynamic parallelism is not covered here");
}

void cuda_cpu_execute(const struct cuda_cpu_launch *launch) {
    static pthread_mutex_t one_launch = PTHREAD_MUTEX_INITIALIZER;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_pool);
    pthread_mutex_lock(&one_launch);
    pool.blocks = (unsigned long)launch->grid.x * launch->grid.y * launch->grid.z;
    pool.chunk = pool.blocks / (64ul * pool.workers) + 1;
    atomic_store(&pool.next, 0);
    const bool alone = pool.blocks == 1; /* nobody is woken for one block */
    if (!alone) {
        pthread_mutex_lock(&pool.lock);
        pool.launch = launch;
        pool.busy = pool.workers - 1;
        pool.epoch++;
        pthread_cond_broadcast(&pool.start);
        pthread_mutex_unlock(&pool.lock);
    }
    work(launch);
    if (!alone) {
        pthread_mutex_lock(&pool.lock);
        while (pool.busy) pthread_cond_wait(&pool.done, &pool.lock);
        pthread_mutex_unlock(&pool.lock);
    }
    pthread_mutex_unlock(&one_launch);
}
