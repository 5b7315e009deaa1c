"""Redraw the figure of the README: Debian's package tags before and after REMEDIAL.

``python tools/draw_chords.py`` writes ``before-after-light.svg`` and ``before-after-dark.svg`` into
``docs/_static``. `scumble.plots.plot_chord` draws them. This script selects labels with arcs that
are wide enough to be seen, and rounds coordinates so that the files stay small.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import scumble
from scumble.measures import cooccurrence, difficult_labels
from scumble.plots import chord_layout, plot_bytes, plot_chord
from scumble.plots.base import DARK, LIGHT
from scumble.resample import REMEDIAL

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "_static"
#: Numbers of labels that are drawn.
N_RARE, N_FREQUENT = 6, 6
#: Largest count of a frequent label: next to larger ones, arcs of rare labels are too short to see.
MAX_COUNT = 200
TITLES = ("before", "after REMEDIAL")
SVG_METADATA = re.compile(r" <metadata>.*?</metadata>\n", re.DOTALL)
PATH = re.compile(r' d="[^"]*"')
NUMBER = re.compile(r"-?\d+\.\d+")


def main() -> None:
    """Write the figures for light and for dark pages."""
    before = scumble.load("debtags")
    after = REMEDIAL().resample(before)
    labels = choose_labels(before)
    for name, dark in (("light", False), ("dark", True)):
        path = FOLDER / f"before-after-{name}.svg"
        path.write_text(draw((before, after), labels, dark=dark), encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def choose_labels(data: scumble.MultilabelDataset) -> list[int]:
    """Return the most frequent of the difficult labels, and labels that co-occur with them most."""
    table = scumble.characterize(data).labels
    difficult = sorted(difficult_labels(data, n_labels=60), key=lambda label: -label.count)
    rare = [label.label for label in difficult[:N_RARE]]
    joint_counts = np.asarray(cooccurrence(data.Y)[rare].sum(axis=0)).ravel()
    joint_counts[table.is_minority | (table["count"] > MAX_COUNT)] = 0
    frequent = np.argsort(-joint_counts, kind="stable")[:N_FREQUENT].tolist()
    return [arc.label for arc in chord_layout(data, [*rare, *frequent]).arcs]


def draw(
    pair: tuple[scumble.MultilabelDataset, scumble.MultilabelDataset],
    labels: list[int],
    *,
    dark: bool,
) -> str:
    """Return an SVG with both chord diagrams side by side, without a background."""
    figure = Figure(figsize=(10, 5.2), facecolor="none")
    text_color = (DARK if dark else LIGHT).text_color
    for position, (data, title) in enumerate(zip(pair, TITLES, strict=True)):
        ax = figure.add_axes((0.5 * position - 0.02, -0.05, 0.54, 1.04))
        plot_chord(data, labels, keep_order=True, ax=ax, dark=dark)
        ax.texts[-1].remove()  # the text beside the figure says which labels are left out
        ax.set_title("")
        figure.text(0.5 * position + 0.03, 0.92, title, color=text_color, fontsize=15)
    return shrink(plot_bytes(figure.axes[0], "svg").decode())


def shrink(svg: str) -> str:
    """Return an SVG without its metadata, and with one decimal per coordinate."""

    def round_path(path: re.Match[str]) -> str:
        return NUMBER.sub(lambda number: f"{float(number[0]):.1f}", path[0]).replace(" \n", "\n")

    return PATH.sub(round_path, SVG_METADATA.sub("", svg))


if __name__ == "__main__":
    main()
