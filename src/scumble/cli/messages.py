"""Rephrase messages of the library for the shell: options take the place of parameters.

Other subpackages write messages for users of Python, such as "The 'n_jobs' parameter of X must be
...". On the command line the same message begins with ``--jobs``.
"""

import re
from collections.abc import Iterable, Mapping

#: Options whose name differs from the parameter of the library that they set.
OPTION_OF_PARAMETER = {
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
#: Parameters of readers; those without an option of their own are set with ``--option``.
READER_PARAMETERS = (
    "encoding", "delimiter", "decimal", "header", "label_column", "label_separator",
    "weight_column", "ignore", "text", "category", "n_features", "n_labels", "zero_based", "part",
)  # fmt: skip
#: Options of scumble, and what other commands or packages call them. If there are several, the
#: first one that the command has is suggested.
SYNONYMS = {
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


def _options_by_synonym() -> dict[str, tuple[str, ...]]:
    """Return the options to suggest for each synonym."""
    suggestions = {}
    for options, synonyms in SYNONYMS.items():
        for synonym in synonyms:
            suggestions[synonym] = options
    return suggestions


OPTION_SUGGESTIONS = _options_by_synonym()
#: The beginning of a message about a parameter of a class or function.
PARAMETER = re.compile(r"[Tt]he '(\w+)' parameter of (\w+)")
#: Quoted names and values of users stay as they are: a column may be called seed=1.
QUOTED = r"(?<!\w)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)"
#: A parameter with its value.
ASSIGNMENT = rf"{QUOTED}|\b(\w+)=(\['[^\]]*\]|\[\.\.\.\]|\.\.\.|'[^']*'|-?\w[\w.]*)"
#: A parameter without its value, as messages of readers name it.
PARAMETER_NAME = (
    rf"'(label_column)'(?=, the column)|{QUOTED}|"
    r"\b(label_column|label_separator|ignore|text|category|keep)(?= names\b)"
)
#: An interval without an upper bound, as parameter constraints describe it.
LOWER_BOUND = re.compile(r"(an int|a number) in \[(-?[\w.]+), inf\)")


def translate_to_options(
    message: str, options: Mapping[str, str], unchanged: Iterable[str] = ()
) -> str:
    """Return a message of the library with options in place of parameters.

    Parameters
    ----------
    message : str
        The message.
    options : mapping of str to str
        The options of the command by the names of the command function's parameters, which differ
        from those of the library: ``{"jobs": "--jobs", "k": "--k"}``; see `OPTION_OF_PARAMETER`.
        Three of them have further effects: if there is ``to``, it replaces ``format`` in errors
        about the format of an output; if there is ``param``, parameters without an option become
        ``--param name``; if there is ``option``, parameters of readers without an option become
        ``--option name=value``.
    unchanged : iterable of str
        Texts of the user, such as paths, which the message repeats. They are not translated, even
        if they look like a parameter.

    Returns
    -------
    str
        The message with options in place of parameters. Parameters without an option, quoted texts
        and ``unchanged`` texts stay as they are.

    Examples
    --------
    >>> from scumble.cli.messages import translate_to_options
    >>> translate_to_options("Say labels=[...] or labels=-5.", {"labels": "--labels"})
    'Say --labels ... or --labels -5.'
    >>> options = {"jobs": "--jobs", "ignore": "--ignore", "keep": "--keep"}
    >>> translate_to_options("The 'n_jobs' parameter of X must be an int in [1, inf).", options)
    '--jobs must be a whole number of at least 1.'
    >>> translate_to_options("ignore names 'jd', keep=['id', 'no'].", options)
    "--ignore names 'jd', --keep id,no."
    """
    if "belongs to no format" in message and "to" in options:  # the format of the output
        options = {**options, "format": options["to"]}

    def replace_parameter(match: re.Match[str]) -> str:
        """Return the option for "the 'n_jobs' parameter of X"."""
        name, owner = match.groups()
        option = _find_option(name, options)
        if option is None and "param" in options:
            return f"--param {name} of {owner}"
        return option or match[0]

    def replace_assignment(match: re.Match[str]) -> str:
        """Return the option with its value for "n_jobs=2"."""
        name, value = match.groups()
        if name is None:  # a text of the user
            return match[0]
        option = _find_option(name, options)
        if option is not None:
            return f"{option} {_shell_value(value)}"
        if name in READER_PARAMETERS and "option" in options:
            return f"--option {match[0]}"
        return match[0]

    def replace_name(match: re.Match[str]) -> str:
        """Return the option for "ignore" in "ignore names 'id'"."""
        return _find_option(match[1] or match[2] or "", options) or match[0]

    longest_first = sorted(unchanged, key=len, reverse=True)
    unchanged_pattern = "".join(f"{re.escape(text)}|" for text in longest_first if text)
    message = re.sub(r"\bscan\((\w+=[^)]*)\)", r"\1", message)
    message = PARAMETER.sub(replace_parameter, message)
    message = re.sub(unchanged_pattern + ASSIGNMENT, replace_assignment, message)
    message = re.sub(unchanged_pattern + PARAMETER_NAME, replace_name, message)
    return LOWER_BOUND.sub(_describe_lower_bound, message)


def suggest_option(option: str, available: list[str]) -> list[str]:
    """Return the available option that an unknown one stands for: a list of one name or none."""
    for suggestion in OPTION_SUGGESTIONS.get(option, ()):
        if suggestion in available:
            return [suggestion]
    return []


def _find_option(parameter: str, options: Mapping[str, str]) -> str | None:
    """Return the option that sets a parameter of the library; None if the command has none.

    ``options`` are those of the command. The option may have another name, see
    `OPTION_OF_PARAMETER`.
    """
    return options.get(parameter) or options.get(OPTION_OF_PARAMETER.get(parameter, ""))


def _shell_value(value: str) -> str:
    """Return a Python value as it is typed in a shell: no needless quotes, no brackets."""
    if value == "[...]":
        return "..."
    if value.startswith("['"):
        items = [item.strip()[1:-1] for item in value[1:-1].split(", ")]
        value = f"'{','.join(items)}'"
    if re.fullmatch(r"'[\w.,-]+'", value):
        return value[1:-1]
    return value


def _describe_lower_bound(match: re.Match[str]) -> str:
    """Return "a whole number of at least 1" for "an int in [1, inf)"."""
    noun = "a whole number" if match[1] == "an int" else match[1]
    return f"{noun} of at least {match[2]}"
