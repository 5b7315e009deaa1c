"""How often labels meet, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scumble._core.arrays import Array
from scumble._core.validation import check_count, check_named_labels
from scumble.measures.shape import joint_counts
from scumble.plots.base import plot
from scumble.plots.chord_layout import choose_labels
from scumble.plots.theme import Theme, canvas, embolden, entitle, name_cells, written

#: Up to so many labels are all drawn; of more, half difficult ones and half partners.
N_LABELS = 40


@plot("cooccurrence", title="how often labels meet, similar labels together")
def plot_cooccurrence(
    data: Any,
    labels: Sequence[str | int] | None = None,
    *,
    n_labels: int = N_LABELS,
    cluster: bool = True,
    ax: Any = None,
    dark: bool | None = None,
) -> Any:
    """Draw for every pair of labels how much of the one comes with the other.

    A cell is the share of the row label's instances that also have the column label. Labels that
    keep the same company stand together.

    Parameters
    ----------
    data : MultilabelDataset, or labels
        The data set, or labels alone.
    labels : sequence of str or int, optional
        Names or numbers of labels to draw.
    n_labels : int
        How many labels to draw at the most where none are given: all, or else half of them the most
        difficult ones and half their partners.
    cluster : bool
        Whether to order labels by a hierarchical clustering, rather than as in the data.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.
    dark : bool, optional
        Light ink on a dark page; by default as the figure's background asks.

    Returns
    -------
    matplotlib Axes
        With the drawing.

    Examples
    --------
    >>> from scumble.plots import plot_cooccurrence
    >>> ax = plot_cooccurrence([["a"], ["a", "b"], ["a", "c"], ["a", "b"]], cluster=False)
    >>> ax.images[0].get_array().data.tolist()
    [[1.0, 0.5, 0.25], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    check_count(n_labels, name="n_labels", caller="plot_cooccurrence", minimum=2)
    chosen, summary = choose_labels(
        data, labels, n_labels=n_labels // 2, n_partners=n_labels - n_labels // 2, whole=n_labels
    )
    Y, _ = check_named_labels(data, caller="plot_cooccurrence")
    joint = joint_counts(Y, chosen)[:, chosen].toarray()
    shares = joint / np.maximum(joint.diagonal(), 1)[:, np.newaxis]
    order = _clustered(shares) if cluster else np.argsort(chosen)
    chosen, shares = chosen[order], shares[np.ix_(order, order)]

    side = 3.2 + 0.2 * len(chosen)
    ax, theme = canvas(ax, dark, size=(side + 1, side), purpose="plot_cooccurrence")
    cells = shares if len(shares) else [[0.0]]
    image = ax.imshow(cells, cmap=theme.colormap, vmin=0, vmax=1, interpolation="nearest")
    names = [written(summary.labels.name[at], 24) for at in chosen]
    name_cells(ax, theme, names, names, 8, rotation=90)
    is_rare = summary.labels.is_minority[chosen]
    for texts in (ax.get_xticklabels(), ax.get_yticklabels()):
        embolden(texts, is_rare)
    _explain(ax, image, theme)
    n_seen = int((summary.labels.count > 0).sum())
    drawn = "all" if len(chosen) == n_seen else f"{len(chosen):,} of"
    entitle(ax, summary.name, f"the company of {drawn} {n_seen:,} labels")
    return ax


def _clustered(shares: Array) -> Array:
    """Order labels so that those with the same company are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(shares) < 3:
        return np.arange(len(shares))
    distance = 1 - np.maximum(shares, shares.T)  # 0 where one never comes without the other
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    tree = linkage(condensed, "average")
    return leaves_list(optimal_leaf_ordering(tree, condensed))


def _explain(ax: Any, image: Any, theme: Theme) -> None:
    bar = ax.get_figure().colorbar(image, ax=ax, shrink=0.6, aspect=30)
    bar.set_label("share of the row's instances that have the column's label", color=theme.dim)
    bar.ax.tick_params(colors=theme.dim)
    bar.outline.set_visible(False)
