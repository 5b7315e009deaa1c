/* Count the scores above a value and those equal to it. */
#ifndef SCUMBLE_COUNTING_H
#define SCUMBLE_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "scumble/_core/wide.h"

WIDE static void count_above(
    double value, const double *scores, ptrdiff_t n_scores, int64_t *above, int64_t *tied)
{
    int64_t n_above = 0, n_tied = 0;
    for (ptrdiff_t i = 0; i < n_scores; i++) {
        n_above += scores[i] > value;
        n_tied += scores[i] == value;
    }
    *above = n_above;
    *tied = n_tied;
}

#endif
