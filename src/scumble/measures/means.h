/* Arithmetic on many means at a time. */
#ifndef SCUMBLE_MEANS_H
#define SCUMBLE_MEANS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scumble/_core/wide.h"

WIDE static void take_all_square_roots(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t at = 0; at < n_values; at++)
        values[at] = sqrt(values[at]);
}

/* Cube roots of values from 1 to 2**120 by Newton's method. A third of a float's bits, taken from
 * a constant, is its inverse cube root to 3.5 %; each step squares the error, so the fourth
 * reaches the last bit. */
WIDE static void take_all_cube_roots(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t at = 0; at < n_values; at++) {
        const double value = values[at], third = value * (1.0 / 3.0);
        float guess = (float)value;
        uint32_t bits;
        memcpy(&bits, &guess, sizeof bits);
        bits = 0x54A21D2Au - bits / 3;
        memcpy(&guess, &bits, sizeof bits);
        double root = guess;
        for (int step = 0; step < 4; step++)
            root *= 4.0 / 3.0 - third * (root * root * root);
        values[at] = value * (root * root);
    }
}

/* Turn geometric means into scores; rows whose ratios do not spread score exactly 0. */
WIDE static void compare_means(
    double *geometric, const double *arithmetic, const double *spread, ptrdiff_t n_rows)
{
    for (ptrdiff_t at = 0; at < n_rows; at++) {
        const double unequal = spread[at] > 0.0 ? 1.0 : 0.0;
        const double score = (1.0 - geometric[at] / arithmetic[at]) * unequal;
        geometric[at] = score > 0.0 ? score : 0.0;
    }
}

#endif
