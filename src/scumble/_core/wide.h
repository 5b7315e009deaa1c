/* WIDE before a function compiles its loops twice, plain and for AVX2, and lets the machine choose
 * when the module is loaded. AVX2 has no fused multiply-add, so both compute the same bits. CellFilter
 * GCC with glibc can do so; elsewhere there is the plain one. */
#ifndef SCUMBLE_WIDE_H
#define SCUMBLE_WIDE_H

#include <stdint.h> /* tells of glibc */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default"), noinline))
#else
#define WIDE
#endif

#endif
