/* Vectorized arithmetic on arrays of means. */
#ifndef SCUMBLE_MEANS_H
#define SCUMBLE_MEANS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scumble/_core/wide.h"

WIDE static void take_all_square_roots(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t i = 0; i < n_values; i++)
        values[i] = sqrt(values[i]);
}

/* Replace values from 1 to 2**120 by their cube roots, with Newton's method. The start value, a
 * constant less a third of the bits of a float, is the inverse cube root within 3.5 %. Each step
 * squares the error, so the fourth one reaches the last bit. */
WIDE static void take_all_cube_roots(double *values, ptrdiff_t n_values)
{
    for (ptrdiff_t i = 0; i < n_values; i++) {
        const double value = values[i], third = value * (1.0 / 3.0);
        float guess = (float)value;
        uint32_t bits;
        memcpy(&bits, &guess, sizeof bits);
        bits = 0x54A21D2Au - bits / 3;
        memcpy(&guess, &bits, sizeof bits);
        double root = guess;
        for (int step = 0; step < 4; step++)
            root *= 4.0 / 3.0 - third * (root * root * root);
        values[i] = value * (root * root);
    }
}

/* Replace geometric means by SCUMBLE scores; rows whose ratios are all equal score exactly 0. */
WIDE static void compare_means(
    double *geometric, const double *arithmetic, const double *spread, ptrdiff_t n_rows)
{
    for (ptrdiff_t i = 0; i < n_rows; i++) {
        const double unequal = spread[i] > 0.0 ? 1.0 : 0.0;
        const double score = (1.0 - geometric[i] / arithmetic[i]) * unequal;
        geometric[i] = score > 0.0 ? score : 0.0;
    }
}

#endif
