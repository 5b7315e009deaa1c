"""The decorator ``parameters``; it goes when the last class has an ``__init__`` of its own."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from inspect import cleandoc, get_annotations, isabstract, signature
from typing import Any, TypeVar, dataclass_transform

#: What the docstring of a classifier need not say: it is put there where a class is silent.
_SHARED_PARAMETERS = {
    "categorical_features": """None, indices, names, mask or mapping, default=None
    The nominal columns of X, holding codes 0, 1, ...; see `C45Classifier`.""",
    "random_state": """None, int, Generator or RandomState, default=None
    Seed of the draws.""",
    "n_jobs": """int, default=None
    Number of threads; it changes the time and nothing else.""",
}
_ORDER = {name: number for number, name in enumerate(("ties", *_SHARED_PARAMETERS), 1)}
_SHARED_ATTRIBUTES = """
classes_, n_labels_, label_names_, n_features_in_, feature_names_in_ : various
    See `BaseMultilabelClassifier`."""

Class = TypeVar("Class", bound=type)


@dataclass_transform()
def parameters(*, kw_only: bool = False) -> Callable[[Class], Class]:
    """Make ``__init__`` of the parameters a class lists, and of those its abstract bases list."""

    def decorate(cls: Any) -> Any:
        fields = ({"_": KW_ONLY} if kw_only else {}) | get_annotations(cls)
        listed = getattr(cls, "_listed", {}) | fields
        if isabstract(cls):  # what a subclass lists may come before those by keyword
            cls._listed = {name: each_type for name, each_type in listed.items() if name != "_"}
            return cls
        if not hasattr(cls, "_listed"):
            return dataclass(eq=False, repr=False)(cls)
        listed.setdefault("_", KW_ONLY)
        cls.__annotations__ = dict(sorted(listed.items(), key=lambda item: _ORDER.get(item[0], 0)))
        cls = dataclass(eq=False, repr=False)(cls)
        cls.__doc__ = complete_docstring(cls)
        return cls

    return decorate


def complete_docstring(cls: type) -> str | None:
    """Add what the docstring of a class leaves out and is the same for all classifiers."""
    head, mark, tail = cleandoc(cls.__doc__ or "").partition("\n\nAttributes\n----------\n")
    if not mark:
        return cls.__doc__
    # A dataclass has annotations now, and gets its signature later.
    names = list(dict.fromkeys([*signature(cls).parameters, *get_annotations(cls)]))
    for name, text in _SHARED_PARAMETERS.items():
        if name in names and f"\n{name} : " not in head:
            later = (f"\n{other} : " for other in names[names.index(name) + 1 :])
            index = next((head.find(other) for other in later if other in head), len(head))
            head = f"{head[:index]}\n{name} : {text}{head[index:]}"
    attributes, gap, end = tail.partition("\n\n")
    shared = "" if "\nclasses_, " in attributes else _SHARED_ATTRIBUTES
    return f"{head}{mark}{attributes}{shared}{gap}{end}"
