/* Sums of absolute differences of one row and many points, at the speed of vector instructions. */
#ifndef SCUMBLE_DIFFERENCES_H
#define SCUMBLE_DIFFERENCES_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* Add to out[i] the sum over four columns k of |x[k] - column_k[i]|. The columns of the points lie
 * a stride apart, the first at a. */
WIDE static void add_four_differences(double *restrict out, ptrdiff_t n, const double *restrict x,
                                      const double *restrict a, ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  for (ptrdiff_t at = 0; at < n; at++)
    out[at] += (fabs(x[0] - a[at]) + fabs(x[1] - b[at])) + (fabs(x[2] - c[at]) + fabs(x[3] - d[at]));
}

/* The same for one column. */
WIDE static void add_differences_of(double *restrict out, ptrdiff_t n, double x,
                                    const double *restrict a) {
  for (ptrdiff_t at = 0; at < n; at++) out[at] += fabs(x - a[at]);
}

#endif
