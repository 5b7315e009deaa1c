/* Sums of absolute differences of one row and many points, at the speed of vector instructions. */
#ifndef SCUMBLE_DIFFERENCES_H
#define SCUMBLE_DIFFERENCES_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* Add |x[0] - p| for the points' numbers p of one column, which lie in line a; |x[1] - p| for those
 * in the line a stride below it; and so on. */
WIDE static void add_four_differences(double *restrict out, ptrdiff_t n, const double *restrict x,
                                      const double *restrict a, ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  for (ptrdiff_t at = 0; at < n; at++)
    out[at] += (fabs(x[0] - a[at]) + fabs(x[1] - b[at])) + (fabs(x[2] - c[at]) + fabs(x[3] - d[at]));
}

WIDE static void add_differences_of(double *restrict out, ptrdiff_t n, double x,
                                    const double *restrict a) {
  for (ptrdiff_t at = 0; at < n; at++) out[at] += fabs(x - a[at]);
}

#endif
