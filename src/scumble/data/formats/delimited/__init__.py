r"""The parts of the CSV reader: cells, roles of columns, and their values.

Why not ``pyarrow.csv``, which is installed anyway? It was measured (version 26.0, one core, files
as pandas writes them, up to the feature matrix; CPU seconds and additional memory):

=============================  ===============  ===============
file                           this package     pyarrow.csv
=============================  ===============  ===============
100,000 x 30 numbers, 16 MB    0.20 s,  57 MB   0.31 s, 145 MB
1,000 x 4,100 numbers, 28 MB   0.26 s,  76 MB   0.56 s, 204 MB
100,000 x 12, text, 7 MB       0.25 s,  67 MB   0.26 s, 102 MB
=============================  ===============  ===============

Its columns have to be converted to rows, and importing it takes 65 ms that files of numbers do not
need. Both readers parse numbers exactly. But Arrow accepts, or reads differently, what this reader
refuses, without a trace in the result: ``"2"3`` becomes the number 23; blanks around words remain
part of them, also around NA; the result does not say whether a text was quoted, unless it is
missing; a quoted NA turns a column of numbers into one of texts; a line of blanks is a row. It
reports neither the line nor the column of a cell, so error messages would need a second reader that
is as exact as this one. Arrow is used where it does the same: to encode texts as codes and to split
label lists.
"""
