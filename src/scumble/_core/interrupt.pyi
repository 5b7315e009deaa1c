# Nothing in it is called from Python; other kernels cimport it.
