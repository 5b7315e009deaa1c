/* Add the differences of columns from a query's values to the squared distances of many rows. */
#ifndef SCUMBLE_COLUMNS_H
#define SCUMBLE_COLUMNS_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* One column, or four: then the sums are read and written once instead of four times. */
#define DEFINE_SUMS(NAME, DIFFERENCE)                                                            \
    WIDE static void NAME(                                                                       \
        double value, const double *column, double *sums, double *unknown, ptrdiff_t n_rows)     \
    {                                                                                            \
        for (ptrdiff_t row = 0; row < n_rows; row++)                                             \
            sums[row] += DIFFERENCE(value, column[row]);                                         \
    }                                                                                            \
    WIDE static void NAME##_of_four(                                                             \
        const double *values, const double *columns, ptrdiff_t stride, double *sums,             \
        ptrdiff_t n_rows)                                                                        \
    {                                                                                            \
        const double first = values[0], second = values[1], third = values[2];                   \
        const double fourth = values[3];                                                         \
        const double *a = columns, *b = a + stride, *c = b + stride, *d = c + stride;            \
        for (ptrdiff_t row = 0; row < n_rows; row++) {                                           \
            double sum = sums[row] + DIFFERENCE(first, a[row]);                                  \
            sum += DIFFERENCE(second, b[row]);                                                   \
            sum += DIFFERENCE(third, c[row]);                                                    \
            sums[row] = sum + DIFFERENCE(fourth, d[row]);                                        \
        }                                                                                        \
    }

#define SQUARE_OF(a, b) (((a) - (b)) * ((a) - (b)))
#define UNEQUAL(a, b) ((a) != (b) ? 1.0 : 0.0)
#define ABSOLUTE_OF(a, b) fabs((a) - (b))

DEFINE_SUMS(add_squares, SQUARE_OF)
DEFINE_SUMS(add_mismatches, UNEQUAL)
DEFINE_SUMS(add_absolutes, ABSOLUTE_OF)

/* How far from a number a missing value can be, which lies in [0, 1]. */
#define FARTHEST(known) (1.0 - (known) > (known) ? 1.0 - (known) : (known))

/* Squares where cells may be missing. */
WIDE static void add_gapped_squares(
    double value, const double *column, double *sums, double *unknown, ptrdiff_t n_rows)
{
    const double when_missing = SQUARE_OF(FARTHEST(value), 0.0);
    const ptrdiff_t n_known = value == value ? n_rows : 0;
    for (ptrdiff_t row = 0; row < n_known; row++) {
        const double square = SQUARE_OF(value, column[row]);
        sums[row] += column[row] != column[row] ? when_missing : square;
    }
    for (ptrdiff_t row = n_known; row < n_rows; row++) /* the value is missing */
        sums[row] += column[row] != column[row] ? 1.0 : SQUARE_OF(FARTHEST(column[row]), 0.0);
}

/* One column where cells may be missing: what is not known in both adds nothing to the sum, and
 * is counted. */
#define DEFINE_PARTIAL_SUMS(NAME, DIFFERENCE)                                                    \
    WIDE static void NAME(                                                                       \
        double value, const double *column, double *sums, double *unknown, ptrdiff_t n_rows)     \
    {                                                                                            \
        for (ptrdiff_t row = 0; row < n_rows; row++) {                                           \
            const int known = (value == value) & (column[row] == column[row]);                   \
            sums[row] += known ? DIFFERENCE(value, column[row]) : 0.0;                           \
            unknown[row] += known ? 0.0 : 1.0;                                                   \
        }                                                                                        \
    }

DEFINE_PARTIAL_SUMS(add_partial_squares, SQUARE_OF)
DEFINE_PARTIAL_SUMS(add_partial_mismatches, UNEQUAL)
DEFINE_PARTIAL_SUMS(add_partial_absolutes, ABSOLUTE_OF)

/* All of these by the kind of a column, see kernels.pyx. */
typedef void (*add_one)(double, const double *, double *, double *, ptrdiff_t);
static const add_one ADD_ONE[] = {
    add_squares, add_mismatches, add_absolutes, add_gapped_squares, add_mismatches,
    add_partial_squares, add_partial_mismatches, add_partial_absolutes};
typedef void (*add_four)(const double *, const double *, ptrdiff_t, double *, ptrdiff_t);
static const add_four ADD_FOUR[] = {
    add_squares_of_four, add_mismatches_of_four, add_absolutes_of_four};

/* Sums over some columns as if over all; infinite where nothing is known of both. A factor of 1
 * leaves the sum as it is, to the bit. */
WIDE static void scale_up(
    double n_total, double n_columns, const double *unknown, double *sums, ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        const double known = n_columns - unknown[row];
        sums[row] = known > 0.0 ? sums[row] * (n_total / known) : INFINITY;
    }
}

/* Distances from norms and what two rows have in common. */
WIDE static void approximate(
    double norm, const double *norms, const double *common, double factor, double *near,
    ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++)
        near[row] = norm + norms[row] - factor * common[row];
}

/* What a nominal column that two sparse rows share takes off the sum of their norms. Added, as
 * subtracting nothing would become a branch. */
WIDE static void compare_nominal(
    double value, double zero, const double *others, double *shared, ptrdiff_t n_others)
{
    const double own = UNEQUAL(value, zero);
    for (ptrdiff_t at = 0; at < n_others; at++)
        shared[at] = own + UNEQUAL(others[at], zero) + (others[at] != value ? -1.0 : 0.0);
}

/* Whole numbers again: beside 1.5 * 2**52 there is no room for digits after the point. */
WIDE static void round_all(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t at = 0; at < n_values; at++)
        values[at] = (values[at] + 6755399441055744.0) - 6755399441055744.0;
}

/* By how much approximate distances may be wrong. */
WIDE static void bound_errors(
    double error, double norm, const double *norms, double *slack, ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++)
        slack[row] = error * (norm + norms[row]);
}

#endif
