"""A CSV file from its first row to a data set."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from scumble._core.errors import ReadError
from scumble._core.files import Source
from scumble.data.dataset import Feature, MultilabelDataset
from scumble.data.formats.delimited.cells import Cells, sniff_delimiter, split, text_blocks
from scumble.data.formats.delimited.layout import Options, find_layout
from scumble.data.formats.delimited.values import Features, Flags, Lists
from scumble.data.formats.kernels.numbers import NO_NUMBER, parse_float


def read_table(
    source: Source, options: Options, delimiter: str | None, encoding: str
) -> MultilabelDataset:
    """Read a file, and once more where columns that began with numbers hold text after all."""
    table = Table(source, options, delimiter, encoding, set())
    if table.features.late:
        known = table.features.late | set(table.features.texts)
        texts = {int(table.features.columns[k]) for k in known}
        table = Table(source, options, delimiter, encoding, texts)
    return table.dataset()


class Table:
    """One pass over a file."""

    def __init__(
        self,
        source: Source,
        options: Options,
        delimiter: str | None,
        encoding: str,
        texts: set[int],
    ) -> None:
        self.source = source
        text = text_blocks(source, encoding)
        start = next(text, b"")
        if delimiter is None:
            delimiter, _ = sniff_delimiter(source, start[:65536])
        blocks = split(source, chain([start], text), delimiter)
        first = next(blocks, None)
        if first is None:
            raise source.error("the file is empty. Expected a table.")
        self.layout = layout = find_layout(source, first, options)
        if layout.names is not None:
            first = first[1:]
        self.features = Features(layout.features, texts)
        self.weights = Features([] if layout.weights is None else [layout.weights], set())
        self.labels: Flags | Lists = (
            Flags(source, layout.labels, layout.label_names)
            if layout.label_lists is None
            else Lists(source, layout.label_lists, options.label_separator)
        )
        for cells in chain([first], blocks):
            self._add(cells)

    def _add(self, cells: Cells) -> None:
        if not len(cells):
            return
        self.features.add(cells)
        self.labels.add(cells)
        if self.layout.weights is not None:
            weights = self.weights.add(cells).ravel()
            bad = np.isnan(weights) | (weights < 0) | np.isinf(weights)
            if not self.weights.state[0, 0] or bad.any():
                raise self._bad_weight(cells, self.layout.weights)

    def _bad_weight(self, cells: Cells, column: int) -> ReadError:
        for row in range(len(cells)):
            text = cells.cell(row, column)
            kind, weight = parse_float(text.strip().encode())
            if kind == NO_NUMBER or not 0 <= weight < np.inf:
                break
        return self.source.error(
            f"the weight is {text!r}. Expected a number >= 0.",
            line=int(cells.lines[row]),
            column=column + 1,
        )

    def dataset(self) -> MultilabelDataset:
        """Put everything together."""
        X, categories = self.features.matrix()
        keep = [k for k in range(X.shape[1]) if not self._is_no_feature(k, X)]
        features = self._feature_list(keep, categories)
        Y, names = self.labels.matrix()
        return MultilabelDataset(
            X if len(keep) == X.shape[1] else X[:, keep],
            Y,
            features=features,
            labels=names,
            name=self.source.stem,
            weights=None if self.layout.weights is None else self.weights.matrix()[0].ravel(),
            label_parents=self.layout.parents,
        )

    def _is_no_feature(self, k: int, X: np.ndarray[Any, Any]) -> bool:
        """Tell whether a column numbers the rows, or has neither name nor values."""
        column = self.layout.features[k]
        is_number, is_whole, has_values = self.features.state[k]
        if column in self.layout.unnamed and is_number and not has_values:
            return True
        if column != 0 or not self.layout.may_number_rows or not (is_number and is_whole):
            return False
        numbers = X[:, k]
        return bool(
            len(X) > 1
            and numbers[0] in (0, 1)
            and np.all(np.diff(numbers) > 0)
            and numbers[-1] < 2 * len(X)
        )

    def _feature_list(
        self, keep: list[int], categories: dict[int, tuple[str, ...]]
    ) -> list[Feature]:
        features: list[Feature] = []
        for at, k in enumerate(keep):
            name = (
                f"x{at}"
                if self.layout.names is None
                else self.layout.names[self.layout.features[k]]
            )
            if k in categories:
                features.append(Feature(name, "nominal", categories[k]))
            else:
                _, is_whole, has_values = self.features.state[k]
                features.append(Feature(name, integer=bool(is_whole and has_values)))
        return features
