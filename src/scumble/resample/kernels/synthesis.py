"""Compiled loops that make synthetic rows between a seed and its partner.

Factors are drawn for the columns in which the two differ, in column order: dense and sparse rows
then take the same draws, and equal columns take none.
"""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel


@kernel
def _between(seed, partner, factor, is_integer):
    """Interpolate; the clip keeps rounding from stepping past an end."""
    value = seed + (partner - seed) * factor
    value = min(max(value, min(seed, partner)), max(seed, partner))
    return np.rint(value) if is_integer else value


@kernel
def _vote(codes):
    """Most frequent code, of equally frequent ones the lowest."""
    best, best_count = codes[0], 0
    for at in range(len(codes)):
        if 2 * best_count > len(codes):
            break
        count = 0
        for other in range(len(codes)):
            count += codes[other] == codes[at]
        if count > best_count or (count == best_count and codes[at] < best):
            best, best_count = codes[at], count
    return best


@kernel
def count_draws_dense(values, n_values, seeds, partners, coin, start, stop, n_draws):
    """Count the factors that synthetic rows start..stop need."""
    for at in range(start, stop):
        count = 0
        for column in range(values.shape[1]):
            if coin or n_values[column] == 0:
                count += values[seeds[at], column] != values[partners[at], column]
        n_draws[at] = count


@kernel
def fill_dense(
    values,
    n_values,
    is_integer,
    seeds,
    partners,
    neighbours,
    n_found,
    coin,
    draw_starts,
    drawn,
    start,
    stop,
    out,
):
    """Write synthetic rows start..stop."""
    codes = np.empty(neighbours.shape[1])
    for at in range(start, stop):
        seed, partner = values[seeds[at]], values[partners[at]]
        draw = draw_starts[at]
        for column in range(values.shape[1]):
            nominal = n_values[column] > 0
            if nominal and not coin:
                for near in range(n_found[at]):
                    codes[near] = values[neighbours[at, near], column]
                out[at, column] = _vote(codes[: n_found[at]])
            elif seed[column] == partner[column]:
                out[at, column] = seed[column]
            else:
                factor = drawn[draw]
                draw += 1
                if nominal:
                    out[at, column] = seed[column] if factor < 0.5 else partner[column]
                else:
                    out[at, column] = _between(
                        seed[column], partner[column], factor, is_integer[column]
                    )


@kernel
def measure_sparse(
    indptr,
    indices,
    data,
    n_values,
    seeds,
    partners,
    neighbours,
    n_found,
    coin,
    start,
    stop,
    n_draws,
    room,
):
    """Count the factors that synthetic rows start..stop need, and bound their elements."""
    for at in range(start, stop):
        a, a_end = indptr[seeds[at]], indptr[seeds[at] + 1]
        b, b_end = indptr[partners[at]], indptr[partners[at] + 1]
        room[at] = a_end - a + b_end - b
        if not coin:
            for near in range(n_found[at]):
                row = neighbours[at, near]
                room[at] += indptr[row + 1] - indptr[row]
        count = 0
        while a < a_end or b < b_end:
            differs = True
            if b == b_end or (a < a_end and indices[a] < indices[b]):
                column = indices[a]
                a += 1
            elif a == a_end or indices[b] < indices[a]:
                column = indices[b]
                b += 1
            else:
                column = indices[a]
                differs = data[a] != data[b]
                a += 1
                b += 1
            if differs and (coin or n_values[column] == 0):
                count += 1
        n_draws[at] = count
        room[at] = min(room[at], len(n_values))


@kernel
def _spread(indices, data, begin, end, keep, wanted, lines, line, touched, is_touched, n_touched):
    """Spread a sparse row over a line, noting the columns; only those ``wanted`` (2: all)."""
    for place in range(begin, end):
        column = indices[place]
        if keep[column] == wanted or wanted == 2:
            lines[column, line] = data[place]
            if not is_touched[column]:
                is_touched[column] = True
                touched[n_touched] = column
                n_touched += 1
    return n_touched


@kernel
def fill_sparse(
    indptr,
    indices,
    data,
    n_values,
    is_integer,
    seeds,
    partners,
    neighbours,
    n_found,
    coin,
    draw_starts,
    drawn,
    starts,
    start,
    stop,
    out_indices,
    out_data,
    lengths,
):
    """Write synthetic rows start..stop, each from its place in ``starts`` on."""
    n_columns = len(n_values)
    # Lines: the seed, the partner, then the neighbours (nominal columns only, for the vote).
    lines = np.zeros((n_columns, 2 + neighbours.shape[1]))
    is_nominal = (n_values > 0).astype(np.int8)
    is_touched = np.zeros(n_columns, np.bool_)
    touched = np.empty(n_columns, np.int64)
    for at in range(start, stop):
        count = 0
        for line, row in ((0, seeds[at]), (1, partners[at])):
            count = _spread(
                indices,
                data,
                indptr[row],
                indptr[row + 1],
                is_nominal,
                2 if coin else 0,
                lines,
                line,
                touched,
                is_touched,
                count,
            )
        if not coin:
            for near in range(n_found[at]):
                row = neighbours[at, near]
                count = _spread(
                    indices,
                    data,
                    indptr[row],
                    indptr[row + 1],
                    is_nominal,
                    1,
                    lines,
                    2 + near,
                    touched,
                    is_touched,
                    count,
                )
        columns = np.sort(touched[:count])
        end = starts[at]
        draw = draw_starts[at]
        for column in columns:
            seed, partner = lines[column, 0], lines[column, 1]
            if is_nominal[column] and not coin:
                value = _vote(lines[column, 2 : 2 + n_found[at]])
            elif seed == partner:
                value = seed
            else:
                factor = drawn[draw]
                draw += 1
                if is_nominal[column]:
                    value = seed if factor < 0.5 else partner
                else:
                    value = _between(seed, partner, factor, is_integer[column])
            if value != 0.0:
                out_indices[end] = column
                out_data[end] = value
                end += 1
            lines[column] = 0.0
            is_touched[column] = False
        lengths[at] = end - starts[at]


@kernel
def close_gaps(starts, lengths, new_starts, indices, data, new_indices, new_data):
    """Move rows that were given more room than they needed together."""
    for row in range(len(lengths)):
        begin, place = starts[row], new_starts[row]
        for at in range(lengths[row]):
            new_indices[place + at] = indices[begin + at]
            new_data[place + at] = data[begin + at]
