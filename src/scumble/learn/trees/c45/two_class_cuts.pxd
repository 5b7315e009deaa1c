"""The best cuts of numeric columns, for two classes where rows are counted."""

from scumble.learn.trees.c45.grower cimport Grower

cdef void find_numeric_cuts(Grower* g) noexcept nogil
