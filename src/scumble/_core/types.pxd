"""The integer types of the arrays that kernels read."""

from libc.stdint cimport int32_t, int64_t

# SciPy uses 32 bits for indptr and indices where they suffice, else 64 bits.
ctypedef fused index_t:
    int32_t
    int64_t
