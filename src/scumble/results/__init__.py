"""Cells, their store on disk, and the executors that compute them."""
