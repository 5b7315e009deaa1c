"""Messages of the rooms, which speak of parameters, in the words of the shell: options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: What parameters are called in the shell, where they have another name there.
CALLED = {
    "random_state": "seed",
    "n_jobs": "jobs",
    "n_neighbors": "k",
    "n_splits": "folds",
    "splitter": "folds",
    "metrics": "metric",
    "treatments": "resample",
    "resampler": "resample",
    "parameters": "param",
}
#: Parameters of readers that have no option of their own; ``--option`` passes them on.
OF_READERS = (
    "encoding", "delimiter", "decimal", "header", "label_column", "label_separator",
    "weight_column", "ignore", "text", "category", "n_features", "n_labels", "zero_based", "part",
)  # fmt: skip
#: Our options, the first there is, and what other commands or packages call them.
OURS = {
    ("--resample",): ("--method", "--treat", "--resampler", "-m"),
    ("--classifier",): ("--model", "--learner", "--estimator"),
    ("--output", "--html"): ("--out",),
    ("--html", "--store"): ("--output", "-o"),
    ("--whole",): ("--dataset",),
    ("--jobs",): ("--n-jobs", "--threads"),
    ("--seed",): ("--random-state",),
    ("--k", "--param"): ("--n-neighbors", "--neighbors"),
    ("--percent",): ("--sampling-strategy", "--ratio", "--percentage"),
    ("--folds",): ("--cv",),
    ("--metric",): ("--scoring", "--score"),
    ("--probabilities",): ("--proba",),
    ("--quiet",): ("--silent", "--verbose"),
    ("--labels",): ("--target", "--label"),
}
CALLED_ELSEWHERE = {theirs: ours for ours, others in OURS.items() for theirs in others}
PARAMETER = re.compile(r"[Tt]he '(\w+)' parameter of (\w+)")
#: Names and values of users, which stand in quotes, are passed over: a column may be called seed=1.
QUOTED = r"(?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)"
ASSIGNED = rf"{QUOTED}|\b(\w+)=(\['[^\]]*\]|\[\.\.\.\]|\.\.\.|'[^']*'|-?\w[\w.]*)"
#: How readers speak of a parameter without its value.
NAMED = (
    rf"'(label_column)'(?=, the column)|{QUOTED}|"
    r"\b(label_column|label_separator|ignore|text|category|keep)(?= names\b)"
)
LEAST = re.compile(r"(an int|a number) in \[(-?[\w.]+), inf\)")


def in_the_shell(message: str, options: Mapping[str, str], given: Iterable[str] = ()) -> str:
    """Say a message with the options of a command, given by the names of their parameters.

    What the user has given, such as a path, is repeated as it is.

    Examples
    --------
    >>> from scumble.cli.words import in_the_shell
    >>> in_the_shell("Say labels=[...] or labels=-5.", {"labels": "--labels"})
    'Say --labels ... or --labels -5.'
    >>> in_the_shell("The 'n_jobs' parameter of X must be an int in [1, inf).", {"jobs": "--jobs"})
    '--jobs must be a whole number of at least 1.'
    >>> in_the_shell("ignore names 'jd', keep=['id', 'no'].", {"ignore": "-i", "keep": "--keep"})
    "-i names 'jd', --keep id,no."
    """
    if "belongs to no format" in message and "to" in options:  # it is about what is written
        options = {**options, "format": options["to"]}

    def of_owner(found: re.Match[str]) -> str:
        name, owner = found.groups()
        option = _option(name, options)
        if option is None and "param" in options:
            return f"--param {name} of {owner}"
        return option or found[0]

    def assigned(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name is None:
            return found[0]
        option = _option(name, options)
        if option is None:
            is_read = name in OF_READERS and "option" in options
            return f"--option {found[0]}" if is_read else found[0]
        return f"{option} {'...' if value == '[...]' else _bare(value)}"

    def named(found: re.Match[str]) -> str:
        return _option(found[1] or found[2] or "", options) or found[0]

    own = "".join(f"{re.escape(text)}|" for text in sorted(given, key=len, reverse=True) if text)
    message = re.sub(r"\bscan\((\w+=[^)]*)\)", r"\1", message)
    message = re.sub(own + ASSIGNED, assigned, PARAMETER.sub(of_owner, message))
    message = re.sub(own + NAMED, named, message)
    return LEAST.sub(_at_least, message)


def elsewhere(option: str, known: list[str]) -> list[str]:
    """Tell which options of a command stand for one that it has not."""
    return [ours for ours in CALLED_ELSEWHERE.get(option, ()) if ours in known][:1]


def _option(name: str, options: Mapping[str, str]) -> str | None:
    return options.get(name) or options.get(CALLED.get(name, ""))


def _bare(value: str) -> str:
    """Take away quotes that a shell does not need; of a list, leave names with commas between."""
    if value.startswith("['"):
        value = f"'{','.join(part.strip()[1:-1] for part in value[1:-1].split(', '))}'"
    return value[1:-1] if re.fullmatch(r"'[\w.,-]+'", value) else value


def _at_least(found: re.Match[str]) -> str:
    kind = "a whole number" if found[1] == "an int" else found[1]
    return f"{kind} of at least {found[2]}"
