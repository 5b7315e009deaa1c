/* Lines of numbers added up, as multiples or as differences, at the speed of vector instructions. */
#ifndef SCUMBLE_LINES_H
#define SCUMBLE_LINES_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* Add x[0] times line a, x[1] times the line a stride below it and so on, to one line. */
WIDE static void add_four(double *line, ptrdiff_t n, const double *x, const double *a,
                          ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  for (ptrdiff_t at = 0; at < n; at++)
    line[at] += x[0] * a[at] + x[1] * b[at] + x[2] * c[at] + x[3] * d[at];
}

/* The same for four lines, a stride apart, that lie apart from the others: the sums of each are
 * those of add_four, and what is read serves all. */
WIDE static void add_four_to_four(double *restrict line, ptrdiff_t n, const double *restrict x,
                                  const double *restrict a, ptrdiff_t stride) {
  const double *b = a + stride, *c = b + stride, *d = c + stride;
  double *second = line + stride, *third = second + stride, *fourth = third + stride;
  for (ptrdiff_t at = 0; at < n; at++) {
    line[at] += x[0] * a[at] + x[1] * b[at] + x[2] * c[at] + x[3] * d[at];
    second[at] += x[4] * a[at] + x[5] * b[at] + x[6] * c[at] + x[7] * d[at];
    third[at] += x[8] * a[at] + x[9] * b[at] + x[10] * c[at] + x[11] * d[at];
    fourth[at] += x[12] * a[at] + x[13] * b[at] + x[14] * c[at] + x[15] * d[at];
  }
}

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
