r"""The parts of the CSV reader: cells, the choice of columns, and their values.

Why not ``pyarrow.csv``, which is at hand? It was tried (26.0, one core, files as pandas writes
them, until the features stand in one matrix; CPU seconds and memory beyond the start):

=============================  ===============  ===============
file                           here             pyarrow.csv
=============================  ===============  ===============
100,000 x 30 numbers, 16 MB    0.20 s,  57 MB   0.31 s, 145 MB
1,000 x 4,100 numbers, 28 MB   0.26 s,  76 MB   0.56 s, 204 MB
100,000 x 12, text, 7 MB       0.25 s,  67 MB   0.26 s, 102 MB
=============================  ===============  ===============

Its columns have to be turned into rows, and loading it takes 65 ms more than files of numbers
need. Its numbers are right to the last bit, as ours are. But it reads what we refuse, or reads it
otherwise, and nothing in the result tells: ``"2"3`` is the number 23; blanks around words stay
part of them, and of NA; whether a text was quoted is forgotten unless it is missing; a quoted NA
makes a column of numbers one of texts; a line of blanks is a row. A row knows neither its line nor
its column, so every message would need a second reader that does, as exact as the one that stands
here: more lines, not fewer. What Arrow does as well, it does: texts become codes, and label lists
are cut, by its functions.
"""
