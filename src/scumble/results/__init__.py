"""Results: cells, their store on disk, and the executors that compute them.

The public names are exported by `scumble.experiment`. `scumble.evaluate.compare` stores its results
here as well.
"""
