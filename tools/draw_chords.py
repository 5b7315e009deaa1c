"""Redraw the picture of the README: Debian's package tags before and after REMEDIAL.

``python tools/draw_chords.py`` writes ``before-after-light.svg`` and ``before-after-dark.svg`` into
``docs/_static``. The drawing is that of `scumble.plots.plot_chord`. What is done here: choose
labels whose arcs are wide enough to be seen, and round coordinates so that the files stay small.
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
N_RARE, N_FREQUENT = 6, 6
#: A label with more rows than this would leave rare ones an arc that nobody sees.
WIDEST = 200
TITLES = ("before", "after REMEDIAL")
ABOUT_MATPLOTLIB = re.compile(r" <metadata>.*?</metadata>\n", re.DOTALL)
PATH = re.compile(r' d="[^"]*"')
NUMBER = re.compile(r"-?\d+\.\d+")


def main() -> None:
    """Write the picture for light pages and the one for dark pages."""
    before = scumble.load("debtags")
    after = REMEDIAL().resample(before)
    labels = choose_labels(before)
    for name, dark in (("light", False), ("dark", True)):
        path = FOLDER / f"before-after-{name}.svg"
        path.write_text(draw((before, after), labels, dark=dark), encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def choose_labels(data: scumble.MultilabelDataset) -> list[int]:
    """Take difficult labels with several rows, and not too frequent ones that they meet most."""
    table = scumble.characterize(data).labels
    difficult = sorted(difficult_labels(data, n_labels=60), key=lambda label: -label.count)
    rare = [label.label for label in difficult[:N_RARE]]
    joint = np.asarray(cooccurrence(data.Y)[rare].sum(axis=0)).ravel()
    joint[table.is_minority | (table["count"] > WIDEST)] = 0
    frequent = np.argsort(-joint, kind="stable")[:N_FREQUENT].tolist()
    return [arc.label for arc in chord_layout(data, [*rare, *frequent]).arcs]


def draw(
    pair: tuple[scumble.MultilabelDataset, scumble.MultilabelDataset],
    labels: list[int],
    *,
    dark: bool,
) -> str:
    """Draw both chords side by side, without a background."""
    figure = Figure(figsize=(10, 5.2), facecolor="none")
    for place, (data, title) in enumerate(zip(pair, TITLES, strict=True)):
        ax = figure.add_axes((0.5 * place - 0.02, -0.05, 0.54, 1.04))
        plot_chord(data, labels, keep_order=True, ax=ax, dark=dark)
        ax.texts[-1].remove()  # which labels were left out is said beside the picture
        ax.set_title("")
        ink = (DARK if dark else LIGHT).text_color
        figure.text(0.5 * place + 0.03, 0.92, title, color=ink, fontsize=15)
    return slim(plot_bytes(figure.axes[0], "svg").decode())


def slim(svg: str) -> str:
    """Leave out what nobody sees: the maker's name, and all but one digit of a coordinate."""

    def shorten(path: re.Match[str]) -> str:
        return NUMBER.sub(lambda number: f"{float(number[0]):.1f}", path[0]).replace(" \n", "\n")

    return PATH.sub(shorten, ABOUT_MATPLOTLIB.sub("", svg))


if __name__ == "__main__":
    main()
