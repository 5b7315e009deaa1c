"""Which columns of the input mean what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from scumble._core.errors import ReadError
from scumble.scale.engines.base import Column, Dialect


@dataclass(frozen=True)
class Layout:
    """The columns of the input, and how statements name them."""

    columns: tuple[Column, ...]  # all of them
    label: Column  # the one with labels
    # Those that name the instance; there may be none where each row is an instance.
    instances: tuple[str, ...]
    separator: str | None  # what stands between the labels of a text
    dialect: Dialect  # how the engine spells names and texts

    @property
    def has_lists(self) -> bool:
        """Whether a row holds all labels of an instance."""
        return self.label.is_list or self.separator is not None

    @property
    def others(self) -> tuple[str, ...]:
        """Columns that pass through."""
        known = {self.label.name, *self.instances}
        return tuple(column.name for column in self.columns if column.name not in known)

    def ids(self, prefix: str = "") -> str:
        """Name the instance columns."""
        return ", ".join(prefix + self.dialect.quote(name) for name in self.instances)

    def ids_first(self, prefix: str = "") -> str:
        """Name the instance columns with a comma behind them, where there are any."""
        return f"{self.ids(prefix)}, " if self.instances else ""

    def same_ids(self, left: str, right: str) -> str:
        """Compare the instances of two tables."""
        names = map(self.dialect.quote, self.instances)
        return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)

    def label_in(self, prefix: str = "") -> str:
        """Write the labels of a row of the input."""
        name = prefix + self.dialect.quote(self.label.name)
        if self.separator is not None:
            mark = self.dialect.text(self.separator)
            return self.dialect.split.replace("$1", name).replace("$2", mark)
        if self.label.kind == "other":
            return f"CAST({name} AS {self.dialect.string_list if self.has_lists else 'STRING'})"
        return name

    def instance_text(self) -> str:
        """Write an instance's name as one text."""
        names = (f"CAST({self.dialect.quote(name)} AS STRING)" for name in self.instances)
        return ", '/', ".join(names)


def find_layout(
    columns: Sequence[Column],
    dialect: Dialect,
    *,
    where: str,
    label_column: str | None = None,
    instance_column: str | Sequence[str] | None = None,
    separator: str | None = None,
) -> Layout:
    """Match what the user says with the columns there are."""
    known = {column.name: column for column in columns}
    named = label_column or _guess_label(columns, where)
    label = known[_checked(named, known, "label_column", where)]
    given = (instance_column,) if isinstance(instance_column, str) else instance_column or ()
    instances = tuple(_checked(name, known, "instance_column", where) for name in given)
    if label.name in instances:
        raise ReadError(
            f"the column {label.name!r} cannot name both labels and instances.", path=where
        )
    layout = Layout(tuple(columns), label, instances, separator, dialect)
    if instances or layout.has_lists:
        return layout
    return replace(layout, instances=(_checked("instance", known, "instance_column", where),))


def _guess_label(columns: Sequence[Column], where: str) -> str:
    lists = [column for column in columns if column.is_list and column.kind != "other"]
    named = [column for column in columns if column.name == "label"]
    found = lists if len(lists) == 1 else named
    if len(found) == 1:
        return found[0].name
    raise ReadError(
        "which column holds the labels? Expected exactly one column of lists, or one called "
        f"'label'. Found {_listed(column.name for column in columns)}. Say label_column=...",
        path=where,
    )


def _checked(name: str, known: dict[str, Column], parameter: str, where: str) -> str:
    if name in known:
        return name
    raise ReadError(
        f"there is no column {name!r}. Expected one of {_listed(known)}. Check {parameter}.",
        path=where,
    )


def _listed(names: Iterable[object]) -> str:
    shown = [repr(name) for name in names]
    return ", ".join(shown[:12]) + (", ..." if len(shown) > 12 else "")
