"""Tasks that advise on a data set, and write the advice to a file."""

from pathlib import Path

from scumble._core.progress import progress_bar
from scumble.gui.packed_dataset import PackedDataset
from scumble.gui.tasks.commands import as_python_call, as_shell_options
from scumble.gui.worker import Payload, WrittenFile, interruptible


def advise_on(
    packed: PackedDataset, source: str, options: Payload, budget: float | None, random_state: int
) -> Payload:
    """Return the advice for a data set, with commands that name the file of the user.

    If the task is stopped, the advice contains the methods that were evaluated until then.
    """
    from scumble.advice import advise
    from scumble.advice.advice_text import fill_python, fill_shell

    with interruptible():
        complete_or_partial = advise(packed.data, budget=budget, random_state=random_state)
    # Outside of the block: a late request to stop must not lose the advice.
    advice = complete_or_partial.to_dict()
    model_name = f"{Path(source).stem}.model"
    read_call = as_python_call(source, options)
    return {
        **advice,
        "shell": fill_shell(advice["shell"], source, model_name, as_shell_options(options)),
        "python": [fill_python(line, read_call) for line in advice["python"]],
    }


def export_advice(advice: Payload, folder: Path, stem: str) -> WrittenFile:
    """Write an advice as an HTML page that needs no other files."""
    from scumble.report import render_advice_page

    path = folder / f"{stem}-advice.html"
    with progress_bar(f"Writing {path.name}"):
        path.write_text(render_advice_page(advice), encoding="utf-8")
    return path.name, {}
