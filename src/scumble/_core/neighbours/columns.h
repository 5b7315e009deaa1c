/* Differences of the columns of many rows from a query, which are added to squared distances. */
#ifndef SCUMBLE_COLUMNS_H
#define SCUMBLE_COLUMNS_H

#include <math.h>
#include <stddef.h>

#include "scumble/_core/wide.h"

/* Add one column, or four of them: then the sums are read and written once, not four times. */
#define DEFINE_SUMS(NAME, DIFFERENCE)                                                            \
    WIDE static void NAME(                                                                       \
        double value, const double *column, double *sums, double *n_unknown, ptrdiff_t n_rows)   \
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

/* The largest difference from a number that a missing value, which lies in [0, 1], can have. */
#define FARTHEST(known) (1.0 - (known) > (known) ? 1.0 - (known) : (known))

/* Add squared differences of a column with missing values, as in WEKA. */
WIDE static void add_weka_squares(
    double value, const double *column, double *sums, double *n_unknown, ptrdiff_t n_rows)
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

/* Add one column with missing values: a pair of values of which one is missing adds nothing to the
 * sum, and is counted. */
#define DEFINE_PARTIAL_SUMS(NAME, DIFFERENCE)                                                    \
    WIDE static void NAME(                                                                       \
        double value, const double *column, double *sums, double *n_unknown, ptrdiff_t n_rows)   \
    {                                                                                            \
        for (ptrdiff_t row = 0; row < n_rows; row++) {                                           \
            const int known = (value == value) & (column[row] == column[row]);                   \
            sums[row] += known ? DIFFERENCE(value, column[row]) : 0.0;                           \
            n_unknown[row] += known ? 0.0 : 1.0;                                                 \
        }                                                                                        \
    }

DEFINE_PARTIAL_SUMS(add_partial_squares, SQUARE_OF)
DEFINE_PARTIAL_SUMS(add_partial_mismatches, UNEQUAL)
DEFINE_PARTIAL_SUMS(add_partial_absolutes, ABSOLUTE_OF)

/* The functions by the difference type of a column, see kernels.pyx. */
typedef void (*add_one)(double, const double *, double *, double *, ptrdiff_t);
static const add_one ADD_ONE[] = {
    add_squares, add_mismatches, add_absolutes, add_weka_squares, add_mismatches,
    add_partial_squares, add_partial_mismatches, add_partial_absolutes};
typedef void (*add_four)(const double *, const double *, ptrdiff_t, double *, ptrdiff_t);
static const add_four ADD_FOUR[] = {
    add_squares_of_four, add_mismatches_of_four, add_absolutes_of_four};

/* Scale sums over the known columns up to all columns; infinite where no column is known in both
 * rows. A factor of 1 changes no bit of a sum. */
WIDE static void scale_up(
    double n_total, double n_columns, const double *n_unknown, double *sums, ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        const double known = n_columns - n_unknown[row];
        sums[row] = known > 0.0 ? sums[row] * (n_total / known) : INFINITY;
    }
}

/* Compute squared distances from the norms of two rows and from their product or overlap. */
WIDE static void approximate(
    double norm, const double *norms, const double *common, double factor, double *distances,
    ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++)
        distances[row] = norm + norms[row] - factor * common[row];
}

/* Compute the overlap of a nominal column for many values, see _add_overlap in kernels.pyx. The
 * last term is added, because compilers make a branch of a conditional subtraction. */
WIDE static void compare_nominal(
    double value, double zero, const double *column, double *overlap, ptrdiff_t n_values)
{
    const double query_norm = UNEQUAL(value, zero);
    for (ptrdiff_t i = 0; i < n_values; i++)
        overlap[i] = query_norm + UNEQUAL(column[i], zero) + (column[i] != value ? -1.0 : 0.0);
}

/* Round to integers: next to 1.5 * 2**52, a double has no fractional digits. */
WIDE static void round_all(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t i = 0; i < n_values; i++)
        values[i] = (values[i] + 6755399441055744.0) - 6755399441055744.0;
}

/* Bound the errors of approximate distances. */
WIDE static void bound_errors(
    double error, double norm, const double *norms, double *errors, ptrdiff_t n_rows)
{
    for (ptrdiff_t row = 0; row < n_rows; row++)
        errors[row] = error * (norm + norms[row]);
}

#endif
