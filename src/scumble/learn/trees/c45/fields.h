/* Loops over entries that the compiler turns into vector instructions.
 *
 * The layout of an entry is defined in layout.pxd. Comparing and adding 64-bit words is much faster
 * with AVX2, which not every x86-64 processor has: `WIDE` compiles a function for both. */
#ifndef SCUMBLE_FIELDS_H
#define SCUMBLE_FIELDS_H

#include "scumble/_core/wide.h"

/* Count the entries before which a cut is possible; -1 if values have to be looked up. */
WIDE static int64_t scumble_count_cuts(const uint64_t *entries, int64_t n) {
  int64_t n_cuts = 0, n_look_ups = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t cut_distance = (int64_t)(entries[i] >> 32 & 15);
    n_look_ups += cut_distance == 15;
    n_cuts += (int64_t)(entries[i - 1] >> 36) + cut_distance <= (int64_t)(entries[i] >> 36);
  }
  return n_look_ups ? -1 : n_cuts;
}

/* Sum a bit field of n entries. */
WIDE static uint64_t scumble_sum_field(const uint64_t *entries, int64_t n, int shift,
                                       uint64_t mask) {
  uint64_t total = 0;
  for (int64_t i = 0; i < n; i++) total += entries[i] >> shift & mask;
  return total;
}

/* Sum a bit field over each run of `length` entries; the last run may be shorter. */
static inline void scumble_sum_runs_of(const uint64_t *entries, int64_t n, const int64_t length,
                                       int shift, uint64_t mask, uint32_t *sums) {
  for (; n > 0; n -= length, entries += length) {
    uint64_t total = 0;
    if (n >= length)
      for (int64_t i = 0; i < length; i++) total += entries[i] >> shift & mask;
    else
      for (int64_t i = 0; i < n; i++) total += entries[i] >> shift & mask;
    *sums++ = (uint32_t)total;
  }
}

/* Sum a bit field over each run of 8, 16 or 32 entries. The length is passed on as a constant, so
 * that the compiler unrolls the sum. */
WIDE static void scumble_sum_runs(const uint64_t *entries, int64_t n, int64_t length, int shift,
                                  uint64_t mask, uint32_t *sums) {
  if (length == 8)
    scumble_sum_runs_of(entries, n, 8, shift, mask, sums);
  else if (length == 16)
    scumble_sum_runs_of(entries, n, 16, shift, mask, sums);
  else
    scumble_sum_runs_of(entries, n, 32, shift, mask, sums);
}

#endif
