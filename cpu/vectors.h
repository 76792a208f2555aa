/*
 * The vector types of CUDA and their make functions, with a card's sizes and alignments (CUDA C++ Programming Guide,
 * "Built-in Vector Types"). uint3 is engine.h's.
 */
#ifndef CUDA_CPU_VECTORS_H
#define CUDA_CPU_VECTORS_H

#include "engine.h"

#define CUDA_CPU_MAKE static inline __attribute__((always_inline, unused))
#define CUDA_CPU_VECTORS(name, type, align2, align4)                                                                \
    struct name##1 { type x; };                                                                                     \
    struct __attribute__((aligned(align2))) name##2 { type x, y; };                                                 \
    struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };                                           \
    CUDA_CPU_MAKE name##1 make_##name##1(type x) { return {x}; }                                                    \
    CUDA_CPU_MAKE name##2 make_##name##2(type x, type y) { return {x, y}; }                                         \
    CUDA_CPU_MAKE name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                              \
    CUDA_CPU_MAKE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
struct char3 { signed char x, y, z; };
struct uchar3 { unsigned char x, y, z; };
struct short3 { short x, y, z; };
struct ushort3 { unsigned short x, y, z; };
struct int3 { int x, y, z; };
struct long3 { long x, y, z; };
struct ulong3 { unsigned long x, y, z; };
struct longlong3 { long long x, y, z; };
struct ulonglong3 { unsigned long long x, y, z; };
struct float3 { float x, y, z; };
struct double3 { double x, y, z; };
CUDA_CPU_VECTORS(char, signed char, 2, 4)
CUDA_CPU_VECTORS(uchar, unsigned char, 2, 4)
CUDA_CPU_VECTORS(short, short, 4, 8)
CUDA_CPU_VECTORS(ushort, unsigned short, 4, 8)
CUDA_CPU_VECTORS(int, int, 8, 16)
CUDA_CPU_VECTORS(uint, unsigned, 8, 16)
CUDA_CPU_VECTORS(long, long, 16, 16)
CUDA_CPU_VECTORS(ulong, unsigned long, 16, 16)
CUDA_CPU_VECTORS(longlong, long long, 16, 16)
CUDA_CPU_VECTORS(ulonglong, unsigned long long, 16, 16)
CUDA_CPU_VECTORS(float, float, 8, 16)
CUDA_CPU_VECTORS(double, double, 16, 16)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
#endif
