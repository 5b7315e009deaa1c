"""The parts of the CSV format: cells, the choice of columns, their values, and the writer."""
