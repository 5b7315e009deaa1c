/* Loops over entries that run at the speed of vector instructions.
 *
 * An entry is laid out as layout.pxd says. Comparing and adding 64-bit words gains most from AVX2,
 * which x86-64 does not promise. */
#ifndef SCUMBLE_FIELDS_H
#define SCUMBLE_FIELDS_H

#include "scumble/_core/wide.h"

/* Count the entries before which a cut is possible; -1 where values must be looked up. */
WIDE static int64_t scumble_count_cuts(const uint64_t *entries, int64_t n) {
  int64_t cuts = 0, far = 0;
  for (int64_t at = 0; at < n; at++) {
    int64_t reach = (int64_t)(entries[at] >> 32 & 15);
    far += reach == 15;
    cuts += (int64_t)(entries[at - 1] >> 36) + reach <= (int64_t)(entries[at] >> 36);
  }
  return far ? -1 : cuts;
}

/* Sum a field of some entries. */
WIDE static uint64_t scumble_add_up(const uint64_t *entries, int64_t n, int shift,
                                              uint64_t mask) {
  uint64_t total = 0;
  for (int64_t at = 0; at < n; at++) total += entries[at] >> shift & mask;
  return total;
}

static inline void scumble_sum_runs_of(const uint64_t *entries, int64_t n, const int64_t length,
                                       int shift, uint64_t mask, uint32_t *sums) {
  for (; n > 0; n -= length, entries += length) {
    uint64_t total = 0;
    if (n >= length)
      for (int64_t at = 0; at < length; at++) total += entries[at] >> shift & mask;
    else
      for (int64_t at = 0; at < n; at++) total += entries[at] >> shift & mask;
    *sums++ = (uint32_t)total;
  }
}

/* Sum a field over each run of 8, 16 or 32 entries; the last run may be shorter. The length as a
 * constant lets the compiler unroll the sum. */
WIDE static void scumble_sum_runs(const uint64_t *entries, int64_t n, int64_t length,
                                            int shift, uint64_t mask, uint32_t *sums) {
  if (length == 8)
    scumble_sum_runs_of(entries, n, 8, shift, mask, sums);
  else if (length == 16)
    scumble_sum_runs_of(entries, n, 16, shift, mask, sums);
  else
    scumble_sum_runs_of(entries, n, 32, shift, mask, sums);
}

#endif
