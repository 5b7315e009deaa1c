/* A function marked WIDE is compiled twice, with and without AVX2 instructions; the version that fits
 * the processor is chosen when the module is loaded. AVX2 has no fused multiply-add, so both compute
 * the same bits. Only GCC with glibc supports this; other compilers make one version. */
#ifndef SCUMBLE_WIDE_H
#define SCUMBLE_WIDE_H

#include <stdint.h> /* defines __GLIBC__ */

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) \
    && !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default"), noinline))
#else
#define WIDE
#endif

#endif
