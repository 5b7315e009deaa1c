"""Columns sorted once, for every tree that will be grown on them.

A column becomes a list of entries ``code << 36 | reach << 32 | row`` in ascending order. Rows in
no entry have the column's default code: zero for a number, the most frequent value for a nominal
column. The code of a number is its place among the column's distinct values; ``reach`` is how far
back the nearest value lies that is not too close to cut between (`FAR`: look it up). Missing
values come last.
"""

from __future__ import annotations

import math

import numpy as np

from scumble._core.jit import inner_kernel, kernel
from scumble.learn.kernels.arithmetic import U

MISSING = 0xFFFFFFE
NO_DEFAULT = 0xFFFFFFF
FAR = 15  # this many codes back, or more
TILE = 8
GAP = 1e-5  # values must differ by more than this to be cut apart
_SIGN = np.uint64(1 << 63)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_BYTE = np.uint64(255)
_EIGHT = np.uint64(8)
_CODE = np.uint64(36)
_REACH = np.uint64(32)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_HALF_RANGE = np.uint64(1 << 31)


@kernel
def sort_dense(X, n_values, start, stop, entries, values, begins, ends, defaults, n_codes):
    """Prepare columns start..stop of a dense matrix; column c owns n entries and n values."""
    n = X.shape[0]
    tile = np.empty((TILE, n), np.float64)
    numbers = np.empty(n, np.float64)
    rows = np.empty(n, np.uint64)
    keys = np.empty((4, n), np.uint64)
    for column in range(start, stop):
        at = column * n
        turn = (column - start) % TILE
        if turn == 0:
            for row in range(n):  # several columns at a time: they share the row's cache lines
                for other in range(min(TILE, stop - column)):
                    tile[U(other), U(row)] = X[U(row), U(column + other)]
        if n_values[column] > 0:
            for row in range(n):
                numbers[row] = tile[turn, row]
            _store_nominal(numbers, n_values[column], column, at, entries, begins, ends, defaults)
            n_codes[column] = n_values[column]
            continue
        k = np.int64(0)
        for row in range(n):
            value = tile[U(turn), U(row)]
            numbers[U(k)] = value
            rows[U(k)] = U(row)
            k += value != 0.0
        _store_numeric(
            numbers, rows, k, n, keys, column, at, entries, values, begins, ends, defaults, n_codes
        )


@kernel
def sort_sparse(
    n, indptr, indices, data, n_values, shift, starts, start, stop,
    entries, values, begins, ends, defaults, n_codes,
):  # fmt: skip
    """Prepare columns of a CSC matrix; column c becomes column c + shift of the whole."""
    longest = 1
    for c in range(start, stop):
        longest = max(longest, indptr[c + 1] - indptr[c])
        if n_values[c + shift] > 0 and starts[c + shift + 1] - starts[c + shift] >= n:
            longest = max(longest, n)
    numbers = np.empty(longest, np.float64)
    rows = np.empty(longest, np.uint64)
    keys = np.empty((4, longest), np.uint64)
    for c in range(start, stop):
        column = c + shift
        at = starts[column]
        if n_values[column] > 0:
            n_codes[column] = n_values[column]
            if starts[column + 1] - at >= n:
                numbers[:n] = 0.0
                for place in range(indptr[c], indptr[c + 1]):
                    numbers[U(indices[place])] = data[U(place)]
                _store_nominal(
                    numbers[:n], n_values[column], column, at, entries, begins, ends, defaults
                )
                continue
            k = _copy_nonzero(indptr[c], indptr[c + 1], indices, data, numbers, rows)
            _store_zero_default(
                numbers, rows, k, n_values[column], column, at, entries, begins, ends, defaults
            )
            continue
        k = _copy_nonzero(indptr[c], indptr[c + 1], indices, data, numbers, rows)
        _store_numeric(
            numbers, rows, k, n, keys, column, at, entries, values, begins, ends, defaults, n_codes
        )


@inner_kernel
def _copy_nonzero(start, stop, indices, data, numbers, rows):
    k = np.int64(0)
    for place in range(start, stop):
        value = data[U(place)]
        numbers[U(k)] = value
        rows[U(k)] = U(indices[U(place)])
        k += value != 0.0
    return k


@inner_kernel
def _store_nominal(codes, n_codes, column, at, entries, begins, ends, defaults):
    """Store a nominal column given in full; its most frequent value is left out."""
    sizes = np.zeros(n_codes + 2, np.int64)
    for row in range(len(codes)):
        sizes[_nominal_code(codes[row], n_codes)] += 1
    default = 0
    for code in range(1, n_codes):
        if sizes[code] > sizes[default]:
            default = code
    sizes[default] = 0
    place = at
    for code in range(n_codes + 1):
        size = sizes[code]
        sizes[code] = place
        place += size
    begins[column] = at
    ends[column] = place
    defaults[column] = default
    for row in range(len(codes)):
        code = _nominal_code(codes[row], n_codes)
        if code != default:
            stored = U(MISSING) if code == n_codes else U(code)
            entries[U(sizes[code])] = stored << _CODE | U(row)
            sizes[code] += 1


@inner_kernel
def _store_zero_default(codes, rows, k, n_codes, column, at, entries, begins, ends, defaults):
    """Store a nominal column of which only the nonzero codes are given."""
    sizes = np.zeros(n_codes + 2, np.int64)
    for i in range(k):
        sizes[_nominal_code(codes[i], n_codes)] += 1
    place = at
    for code in range(n_codes + 1):
        size = sizes[code]
        sizes[code] = place
        place += size
    begins[column] = at
    ends[column] = place
    defaults[column] = 0
    for i in range(k):
        code = _nominal_code(codes[i], n_codes)
        stored = U(MISSING) if code == n_codes else U(code)
        entries[U(sizes[code])] = stored << _CODE | rows[i]
        sizes[code] += 1


@inner_kernel
def _nominal_code(value, n_codes):
    return n_codes if math.isnan(value) else int(value)


@inner_kernel
def _store_numeric(
    numbers, rows, k, n, keys, column, at, entries, values, begins, ends, defaults, n_codes
):
    """Store a numeric column of which the nonzero numbers (and gaps) are given."""
    order, ascending = _sorted_order(numbers, k, keys)
    begins[column] = at
    ends[column] = at + k
    defaults[column] = NO_DEFAULT
    zero_waits = k < n
    code = -1
    far = -1  # the last code whose value is far enough below
    last = 0.0
    reach = U(1)
    for i in range(k):
        value = ascending[U(i)]
        row = order[U(i)] if k == n else rows[order[U(i)]]
        if math.isnan(value):
            entries[U(at + i)] = U(MISSING) << _CODE | row
            continue
        if zero_waits and value > 0.0:
            zero_waits = False
            code += 1
            defaults[column] = code
            values[U(at + code)] = 0.0
            last = 0.0
        if code < 0 or value != last:
            code += 1
            values[U(at + code)] = value
            last = value
            while far + 1 < code and values[U(at + far + 1)] + GAP < value:
                far += 1
            reach = U(min(code - far, FAR))
        entries[U(at + i)] = U(code) << _CODE | reach << _REACH | row
    if zero_waits:
        code += 1
        defaults[column] = code
        values[U(at + code)] = 0.0
    n_codes[column] = code + 1


@inner_kernel
def _sorted_order(numbers, k, keys):
    """Return the places of numbers[:k] in ascending order, equal ones in order of appearance.

    The numbers in this order are returned beside them: to look them up would be slower. They are
    sorted by the upper half of their bits first, together with their places in one word. That
    leaves next to nothing to do, or else all of it is done again with all bits.
    """
    bits = numbers.view(np.uint64)
    key, order = keys[0], keys[1]
    least, most = _ALL, U(0)
    for i in range(k):
        raw = bits[U(i)]
        if math.isnan(numbers[U(i)]):
            raw = _ALL
        elif raw & _SIGN:
            raw = ~raw
        else:
            raw = raw | _SIGN
        key[U(i)] = raw
        order[U(i)] = U(i)
        if raw != _ALL:
            least, most = min(least, raw), max(most, raw)
    if k <= 48:
        _insertion_sort(key, order, k, k * k)
        return order, _decoded(key, k)
    shift = U(0)
    while most > least and (most - least) >> shift >= _HALF_RANGE:
        shift += U(1)
    packed = keys[2]
    for i in range(k):
        upper = _LOW if key[U(i)] == _ALL else (key[U(i)] - least) >> shift
        packed[U(i)] = upper << _HALF | U(i)
    packed, spare = _radix_sort(packed, keys[3], U(4), k)
    for i in range(k):
        place = packed[U(i)] & _LOW
        order[U(i)] = place
        spare[U(i)] = key[place]
    if not _insertion_sort(spare, order, k, 8 * k):
        spare, order = _radix_sort_both(spare, order, key, packed, k)
    return order, _decoded(spare, k)


@inner_kernel
def _decoded(key, k):
    """Turn sortable keys into numbers again."""
    for i in range(k):
        raw = key[U(i)]
        key[U(i)] = raw ^ _SIGN if raw & _SIGN else ~raw
    return key.view(np.float64)


@inner_kernel
def _insertion_sort(key, order, k, most_moves):
    """Sort what is nearly sorted; give up, and return False, after many moves."""
    for i in range(1, k):
        moving = key[U(i)]
        if key[U(i - 1)] <= moving:
            continue
        place = order[U(i)]
        at = i
        while at > 0 and key[U(at - 1)] > moving:
            key[U(at)] = key[U(at - 1)]
            order[U(at)] = order[U(at - 1)]
            at -= 1
        key[U(at)] = moving
        order[U(at)] = place
        most_moves -= i - at
        if most_moves < 0:
            return False
    return True


@inner_kernel
def _radix_sort(key, other_key, first_digit, k):
    """Sort by bytes from one on, lowest first; return the sorted array and the other.

    A byte that all keys share costs nothing but its count.
    """
    counts = np.zeros((8, 256), np.int64)
    for i in range(k):
        raw = key[U(i)] >> first_digit * _EIGHT
        for digit in range(first_digit, U(8)):
            counts[digit, raw & _BYTE] += 1
            raw >>= _EIGHT
    for digit in range(first_digit, U(8)):
        shift = digit * _EIGHT
        count = counts[digit]
        if count[(key[0] >> shift) & _BYTE] == k:
            continue
        _make_places(count)
        for i in range(k):
            raw = key[U(i)]
            bucket = (raw >> shift) & _BYTE
            other_key[U(count[bucket])] = raw
            count[bucket] += 1
        key, other_key = other_key, key
    return key, other_key


@inner_kernel
def _radix_sort_both(key, order, other_key, other_order, k):
    """Sort keys and with them their places, by all bytes."""
    for digit in range(U(8)):
        shift = digit * _EIGHT
        count = np.zeros(256, np.int64)
        for i in range(k):
            count[(key[U(i)] >> shift) & _BYTE] += 1
        if count[(key[0] >> shift) & _BYTE] == k:
            continue
        _make_places(count)
        for i in range(k):
            raw = key[U(i)]
            bucket = (raw >> shift) & _BYTE
            to = U(count[bucket])
            other_key[to] = raw
            other_order[to] = order[U(i)]
            count[bucket] += 1
        key, other_key = other_key, key
        order, other_order = other_order, order
    return key, order


@inner_kernel
def _make_places(count):
    """Turn the sizes of buckets into their beginnings."""
    place = 0
    for value in range(256):
        size = count[value]
        count[value] = place
        place += size


@inner_kernel
def first_bad_code(numbers, n_codes):
    """Return the place of the first number that is no code below n_codes, or -1."""
    for i in range(len(numbers)):
        value = numbers[i]
        if math.isnan(value):
            continue
        if value < 0.0 or value >= n_codes or value != math.floor(value):
            return i
    return -1


@kernel
def list_items(columns, first, starts, stops, codes, n_in_row):
    """Find the groups of equal codes in nominal columns, and how many each row has.

    The group of missing values is left out. Returns the number of groups; run once with empty
    ``codes`` to learn it.
    """
    n_items = 0
    for column in range(len(columns.begins)):
        if len(codes):
            first[column] = n_items
        if columns.n_values[column] == 0:
            continue
        at, stop = columns.begins[column], columns.ends[column]
        while at < stop:
            code = columns.entries[U(at)] >> _CODE
            start = at
            while at < stop and columns.entries[U(at)] >> _CODE == code:
                if len(codes):
                    n_in_row[columns.entries[U(at)] & U(0xFFFFFFFF)] += 1
                at += 1
            if len(codes):
                starts[n_items] = start
                stops[n_items] = at
                codes[n_items] = np.int32(code)
            n_items += 1
    if len(codes):
        first[len(columns.begins)] = n_items
    return n_items


@kernel
def items_by_row(entries, starts, stops, places, indices):
    """Write the items of every row in ascending order; ``places`` are the rows' beginnings."""
    for item in range(len(starts)):
        for at in range(starts[item], stops[item]):
            row = entries[U(at)] & U(0xFFFFFFFF)
            indices[U(places[row])] = item
            places[row] += 1
