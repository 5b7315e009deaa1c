"""The task that compares classifiers with and without treatments."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from scumble._core.calls import format_call
from scumble.gui.methods import make_model, make_resamplers
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.recipes import format_chain
from scumble.gui.tasks.commands import as_shell_options
from scumble.gui.worker import Payload

#: Maximum number of labels whose gains the page shows; of more labels, those with the most training
#: rows.
MAX_LABELS = 2000


def run_comparison(
    packed: PackedDataset,
    classifiers: list[Payload],
    treatments: list[list[Payload]],
    folds: str,
    random_state: int,
    store: Path,
    source: str,
    options: Payload,
) -> Payload:
    """Compare classifiers with and without treatments on the same folds.

    Parameters
    ----------
    packed : PackedDataset
        The data set.
    classifiers : list of dict
        Each with ``classifier`` and ``parameters``.
    treatments : list of list of dict
        Chains of resamplers, each with ``method`` and ``parameters``.
    folds : str
        Repeats and folds, such as ``"2x5"``.
    random_state : int
        The seed.
    store : Path
        The store of results; folds that are in it are not evaluated again.
    source : str
        The name of the data set on the command line.
    options : dict
        Options for its reader.
    """
    from scumble.evaluate import compare
    from scumble.evaluate.metrics.label_groups import metric_title
    from scumble.report.evaluation import best_sentences

    classifiers_by_name = {
        format_call(classifier["classifier"], classifier["parameters"]): classifier
        for classifier in classifiers
    }
    chains: dict[str, list[Payload]] = {"none": []}
    for steps in treatments:
        if steps:
            chains[format_chain(steps)] = steps
    comparison = compare(
        packed.data,
        {name: make_model(**classifier) for name, classifier in classifiers_by_name.items()},
        {name: make_resamplers(steps) or None for name, steps in chains.items()},
        folds=folds,
        store=store,
        random_state=random_state,
    )
    recipes = [
        {"classifier": classifier, "treatment": steps}
        for steps, classifier in product(chains.values(), classifiers_by_name.values())
    ]
    command = [
        *("scumble", "compare", source),
        *as_shell_options(options),
        *("-c", ",".join(classifiers_by_name)),
        *("-r", ",".join(chains)),
        *("--folds", folds),
        *("--seed", str(random_state)),
    ]
    methods = comparison.results[1:]  # all but the baseline
    values = comparison.to_dict()
    return {
        **values,
        "gains": _gains_by_label(
            {method.name: comparison.gains(method.name) for method in methods}
        ),
        "n_folds": len(comparison.results[0].counts),
        "repeats": int(folds.partition("x")[0]),
        "confidence": comparison.confidence,
        "titles": {metric: metric_title(metric) for metric in comparison.metrics},
        "conclusion": best_sentences(values),
        "recipes": recipes,
        "shell": shlex.join(command),
    }


def _gains_by_label(gains: Mapping[str, Sequence[Payload]]) -> Payload:
    """Return the F1 of labels, before and after each method, as columns.

    Parameters
    ----------
    gains : mapping of str to sequence of dict
        For each method, a row per label: ``name``, ``training_positives``, ``before``, ``after``.
    """
    all_rows = next(iter(gains.values()), ())
    rows = sorted(all_rows, key=lambda row: -row["training_positives"])[:MAX_LABELS]
    after = {}
    for method, method_rows in gains.items():
        f1_after = {row["name"]: row["after"] for row in method_rows}
        after[method] = [f1_after[row["name"]] for row in rows]
    return {
        "label": [row["name"] for row in rows],
        "training_positives": [row["training_positives"] for row in rows],
        "before": [row["before"] for row in rows],
        "after": after,
        "n_left_out": len(all_rows) - len(rows),
    }
