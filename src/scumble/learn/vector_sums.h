/* Sums of multiples, or of absolute differences, of arrays of numbers, with vector instructions. */
#ifndef SCUMBLE_VECTOR_SUMS_H
#define SCUMBLE_VECTOR_SUMS_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* Add four multiples to a target of n numbers: x[0] times the array at a, x[1] times the one that
 * starts a stride later, and so on. */
WIDE static void add_four_multiples(double *target, ptrdiff_t n, const double *x, const double *a,
                                    ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  for (ptrdiff_t i = 0; i < n; i++)
    target[i] += x[0] * a[i] + x[1] * b[i] + x[2] * c[i] + x[3] * d[i];
}

/* Add four multiples to each of four targets, which start a stride apart and do not overlap with
 * the arrays. Each sum is the same as in add_four_multiples; the arrays are read once for all four. */
WIDE static void add_four_multiples_to_four(double *restrict target, ptrdiff_t n,
                                            const double *restrict x, const double *restrict a,
                                            ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  double *second = target + stride, *third = second + stride, *fourth = third + stride;
  for (ptrdiff_t i = 0; i < n; i++) {
    target[i] += x[0] * a[i] + x[1] * b[i] + x[2] * c[i] + x[3] * d[i];
    second[i] += x[4] * a[i] + x[5] * b[i] + x[6] * c[i] + x[7] * d[i];
    third[i] += x[8] * a[i] + x[9] * b[i] + x[10] * c[i] + x[11] * d[i];
    fourth[i] += x[12] * a[i] + x[13] * b[i] + x[14] * c[i] + x[15] * d[i];
  }
}

/* Add to target[i] the sum over four columns k of |x[k] - column_k[i]|. The first column is at a,
 * the others start a stride apart. */
WIDE static void add_four_differences(double *restrict target, ptrdiff_t n,
                                      const double *restrict x, const double *restrict a,
                                      ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  for (ptrdiff_t i = 0; i < n; i++)
    target[i] += (fabs(x[0] - a[i]) + fabs(x[1] - b[i])) + (fabs(x[2] - c[i]) + fabs(x[3] - d[i]));
}

/* Add to target[i] the difference |x - a[i]|. */
WIDE static void add_differences(double *restrict target, ptrdiff_t n, double x,
                                 const double *restrict a) {
  for (ptrdiff_t i = 0; i < n; i++) target[i] += fabs(x - a[i]);
}

#endif
