"""The number types of arrays that kernels read."""

from libc.stdint cimport int32_t, int64_t

# scipy counts in 32 bits as long as they suffice, for indptr and indices alike.
ctypedef fused index_t:
    int32_t
    int64_t
