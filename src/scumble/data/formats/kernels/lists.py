"""Compiled parser of lists of labels in text: brackets and quotes, or a separator."""

from __future__ import annotations

import numpy as np

from scumble._core.jit import kernel

# What can be wrong with a list.
FINE = 0
NO_LIST = 1
UNCLOSED = 2
NO_COMMA = 3
NO_LABEL = 4
AFTER_LIST = 5

COMMA, BACKSLASH, SINGLE, DOUBLE = (np.uint8(ord(c)) for c in ",\\'\"")
OPEN = np.frombuffer(b"[({", np.uint8)
CLOSE = np.frombuffer(b"])}", np.uint8)
EMPTY_SET = np.frombuffer(b"set()", np.uint8)
# Words that stand for a missing label, not for a label of that name.
NONE = np.frombuffer(b"None", np.uint8)
NULL = np.frombuffer(b"null", np.uint8)
NAN = np.frombuffer(b"nan", np.uint8)
BIG_NAN = np.frombuffer(b"NaN", np.uint8)


@kernel
def parse_lists(text, offsets, tokens, escaped, counts):
    """Read each cell as a list of Python or JSON: ``['a', "b"]``, ``[1, 2]``, ``(a, b)``.

    Each label leaves (start, end) in ``tokens`` and in ``escaped`` whether it holds backslashes;
    each cell its number of labels in ``counts``. An empty cell is an empty list.

    Returns (fault, its cell, number of labels).
    """
    n_tokens = 0
    for cell in range(len(offsets) - 1):
        before = n_tokens
        fault, n_tokens = _parse_list(
            text, offsets[cell], offsets[cell + 1], tokens, escaped, n_tokens
        )
        if fault:
            return fault, cell, 0
        counts[cell] = n_tokens - before
    return FINE, 0, n_tokens


@kernel
def split_lists(text, offsets, separator, tokens, counts):
    """Cut each cell at a separator; blanks around labels do not count, nor empty labels."""
    n_tokens = 0
    width = len(separator)
    for cell in range(len(offsets) - 1):
        before = n_tokens
        end = offsets[cell + 1]
        start = offsets[cell]
        at = start
        while at <= end:
            if at == end or _is_at(text, at, end, separator):
                low, high = _trim(text, start, at)
                if high > low:
                    tokens[n_tokens, 0] = low
                    tokens[n_tokens, 1] = high
                    n_tokens += 1
                at += width
                start = at
            else:
                at += 1
        counts[cell] = n_tokens - before
    return n_tokens


@kernel
def _parse_list(text, start, end, tokens, escaped, n_tokens):
    at, end = _trim(text, start, end)
    if at == end or (end - at == len(EMPTY_SET) and _is_at(text, at, end, EMPTY_SET)):
        return FINE, n_tokens
    close = np.uint8(0)
    for i in range(len(OPEN)):
        if text[at] == OPEN[i]:
            close = CLOSE[i]
    if close == 0:
        return NO_LIST, n_tokens
    at = _skip(text, at + 1, end)
    while at < end and text[at] != close:
        fault, low, high, at, has_escape = _parse_label(text, at, end, close)
        if fault:
            return fault, n_tokens
        tokens[n_tokens, 0] = low
        tokens[n_tokens, 1] = high
        escaped[n_tokens] = has_escape
        n_tokens += 1
        at = _skip(text, at, end)
        if at < end and text[at] == COMMA:
            at = _skip(text, at + 1, end)
        elif at < end and text[at] != close:
            return NO_COMMA, n_tokens
    if at == end:
        return UNCLOSED, n_tokens
    return (FINE if at == end - 1 else AFTER_LIST), n_tokens


@kernel
def _parse_label(text, at, end, close):
    """Read one label; give (fault, start, end, what follows it, whether it holds backslashes)."""
    if at + 1 < end and text[at] == 117 and (text[at + 1] == SINGLE or text[at + 1] == DOUBLE):
        at += 1  # Python 2 wrote u'text'
    start = at
    if text[at] == SINGLE or text[at] == DOUBLE:
        quote = text[at]
        has_escape = False
        at += 1
        while at < end and text[at] != quote:
            if text[at] == BACKSLASH:
                has_escape = True
                at += 1
            at += 1
        if at >= end:
            return UNCLOSED, start, at, at, False
        return FINE, start + 1, at, at + 1, has_escape
    while at < end and text[at] != COMMA and text[at] != close:
        if text[at] == SINGLE or text[at] == DOUBLE or text[at] == BACKSLASH:
            return NO_COMMA, start, at, at, False
        for i in range(len(OPEN)):
            if text[at] == OPEN[i] or text[at] == CLOSE[i]:
                return NO_LABEL, start, at, at, False
        at += 1
    low, high = _trim(text, start, at)
    if high == low or _is_none(text, low, high):
        return NO_LABEL, low, high, at, False
    return FINE, low, high, at, False


@kernel
def _is_none(text, low, high):
    if high - low == 4:
        return _is_at(text, low, high, NONE) or _is_at(text, low, high, NULL)
    if high - low == 3:
        return _is_at(text, low, high, NAN) or _is_at(text, low, high, BIG_NAN)
    return False


@kernel
def _is_at(text, at, end, word):
    if end - at < len(word):
        return False
    for i in range(len(word)):
        if text[at + i] != word[i]:
            return False
    return True


@kernel
def _skip(text, at, end):
    while at < end and (text[at] == 32 or 9 <= text[at] <= 13):
        at += 1
    return at


@kernel
def _trim(text, start, end):
    start = _skip(text, start, end)
    while end > start and (text[end - 1] == 32 or 9 <= text[end - 1] <= 13):
        end -= 1
    return start, end
