"""The compiled parts of the tree learner. One module a step: prepare, grow, prune, predict."""
