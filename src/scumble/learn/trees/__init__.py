"""Decision trees: C4.5 as in WEKA's J48, and trees as text."""
