"""Comparison of several methods on the same folds with a baseline.

A *method* is a classifier, with the resamplers that are applied to the training rows before it, if
any. The *baseline* is the first method; all others are compared with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from scumble._core.errors import parameter_error
from scumble._core.progress import progress_bar
from scumble.data import MultilabelDataset
from scumble.evaluate.comparison_cells import run_with_store
from scumble.evaluate.comparison_result import Comparison, MethodFoldResult
from scumble.evaluate.comparison_run import ComparisonRun
from scumble.evaluate.model_selection.cross_validation import run_in_processes
from scumble.results.store import Store

#: Default metrics of a comparison; the first determines verdicts and the best method.
DEFAULT_METRICS = ("all.macro_f1", "minority.macro_f1", "micro_f1")
#: Default folds of a comparison, assigned by iterative stratification.
DEFAULT_FOLDS = "2x5"


def compare(
    data: MultilabelDataset,
    classifiers: Sequence[Any] | Mapping[str, Any] = ("br", "rare"),
    resamplers: Sequence[Any] | Mapping[str, Any] = ("none",),
    *,
    folds: Any = DEFAULT_FOLDS,
    metrics: Sequence[str] = DEFAULT_METRICS,
    test: MultilabelDataset | None = None,
    confidence: float = 0.95,
    random_state: Any = None,
    n_jobs: int | None = None,
    store: Store | str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compare all combinations of classifiers and resamplers on the same folds.

    The first combination is the baseline. Every other one is compared with it, fold by fold, and
    gets a verdict: better, worse, or no difference that these folds can show.

    Parameters
    ----------
    data : MultilabelDataset
        The data. It is split here, so that resamplers see training rows only.
    classifiers : sequence of estimators or str, or mapping
        As in `cross_validate`; a mapping names them.
    resamplers : sequence of resamplers, str or None, or mapping
        As in `cross_validate`; None or ``"none"`` leaves the training parts unchanged.
    folds : str, int, splitter, path or iterable of (train, test), default="2x5"
        How to split. A text or a number stands for iterative stratification, which assigns rows of
        rare labels to all folds.
    metrics : sequence of str
        The metrics; the first decides verdicts and the best. See `metric_names`.
    test : MultilabelDataset, optional
        Fit on ``data`` and evaluate on this data set instead of folds. The intervals then come from
        bootstrap samples of its rows.
    confidence : float, default=0.95
        Simultaneous confidence level: the probability that the intervals of all methods contain
        the true differences.
    random_state : None, int, Generator or RandomState
        The same seed gives the same comparison. With a store it must be an int; results of one seed
        are not used for another.
    n_jobs : int, optional
        Number of processes that share methods and folds; None computes in this process.
    store : Store, str or Path, optional
        File in which the result of each method on each fold is stored as soon as it is computed; it
        is created if it does not exist. Stored results are not computed again: a comparison that
        was interrupted continues, and one with more methods or metrics computes only the new
        methods. Several processes can use the same store.

    Returns
    -------
    Comparison
        See its ``verdicts()``, ``table``, ``best`` and ``gains(method)``.

    Notes
    -----
    Differences are taken on the same fold. Their intervals allow for the overlap of training parts
    (`scumble.evaluate.statistics.corrected_t_test`) and for the number of methods (Bonferroni). The
    mean of the best of several methods is too optimistic: ``optimism`` estimates by how much.

    With a store, all metrics are computed and stored; without one, only ``metrics``.

    Examples
    --------
    >>> import scumble
    >>> from scumble.evaluate import compare
    >>> data = scumble.make_multilabel(300, 8, mean_ir=10, scumble=0.1, random_state=0)
    >>> comparison = compare(data, ["br", "rare"], folds="1x3", random_state=0)
    >>> comparison.best
    'rare'

    With a store, the second call reads the results:

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     options = {"folds": "1x3", "random_state": 0, "store": pathlib.Path(folder) / "a.db"}
    ...     computed = compare(data, ["br", "rare"], **options)
    ...     stored = compare(data, ["br", "rare"], **options)
    >>> stored.table == computed.table == comparison.table
    True
    """
    is_seed = isinstance(random_state, int) and not isinstance(random_state, bool)
    if store is not None and not is_seed:
        requirement = "be a whole number, so that the same folds are made again"
        raise parameter_error("random_state", "compare with a store", requirement, random_state)
    run = ComparisonRun(
        data,
        classifiers=classifiers,
        resamplers=resamplers,
        folds=folds,
        metrics=metrics,
        test=test,
        confidence=confidence,
        random_state=random_state,
        computes_all_metrics=store is not None,
    )
    if store is None:
        results = _run_all(run, n_jobs)
    else:
        results = run_with_store(run, store, n_jobs=n_jobs)
    return run.summarize(results)


def _run_all(run: ComparisonRun, n_jobs: int | None) -> dict[str, list[MethodFoldResult]]:
    """Run all methods on all folds; return by the name of each method its results, one per fold."""
    tasks = list(product(range(len(run.splits)), run.methods))
    results: dict[str, list[MethodFoldResult]] = {name: [] for name in run.methods}
    with progress_bar(f"Comparing {len(run.methods)} methods", len(tasks)) as advance:
        fold_results = run_in_processes(run.run_fold, tasks, n_jobs=n_jobs)
        for (_, method_name), fold_result in zip(tasks, fold_results, strict=True):
            results[method_name].append(fold_result)
            advance(1)
    return results
