/* Between the runtime's two halves: engine.c runs blocks, api.c is the CUDA Runtime API over it. */
#ifndef CUDA_CPU_INTERNAL_H
#define CUDA_CPU_INTERNAL_H

#include "engine.h"

/* Runs a launch whose configuration is known to be valid, and returns when it has ended. */
void cuda_cpu_execute(const struct cuda_cpu_launch *launch);
/* Ends the program where a kernel launches a kernel. */
void cuda_cpu_refuse_in_kernel(void);

/* The number of cores that this process may use. */
unsigned cuda_cpu_cores(void);

#endif
