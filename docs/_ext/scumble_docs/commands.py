"""Directives that show a file and the output of a command.

The commands of a page run one after another in an empty folder, in the order of the page. A
command that ends otherwise than expected is a warning, which stops the build.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


class File(SphinxDirective):
    """``.. file:: films.csv`` writes its content to the page's folder and shows it."""

    required_arguments = 1
    has_content = True

    def run(self):
        """Write and show."""
        name = self.arguments[0]
        text = "\n".join(self.content) + "\n"
        (folder_of(self.env) / name).write_text(text, encoding="utf-8")
        return [nodes.paragraph("", "", nodes.literal(text=name)), block(text, "text")]


class Command(SphinxDirective):
    """``.. command:: scumble summary films.csv`` runs the command and shows what it prints."""

    required_arguments = 1
    final_argument_whitespace = True
    option_spec = {
        "exit": directives.nonnegative_int,
        "lines": directives.positive_int,
    }

    def run(self):
        """Run and show."""
        line = self.arguments[0]
        words = shlex.split(line)
        process = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder_of(self.env),
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        if process.returncode != self.options.get("exit", 0):
            logger.warning(
                "%r ended with exit code %d: %s",
                line,
                process.returncode,
                process.stdout[-2000:],
                location=self.get_location(),
            )
        text = shortened(process.stdout.rstrip("\n"), self.options.get("lines"))
        return [block(f"$ {line}\n{text}", "console")]


class Picture(SphinxDirective):
    """``.. picture:: chord.svg`` shows a picture that a command above has written."""

    required_arguments = 1
    option_spec = {"alt": directives.unchanged_required}

    def run(self):
        """Copy and show."""
        source = folder_of(self.env) / self.arguments[0]
        if not source.is_file():
            logger.warning("no command wrote %s", source.name, location=self.get_location())
            return []
        relative_path = Path(
            "generated", "pictures", f"{self.env.docname.replace('/', '-')}-{source.name}"
        )
        target = Path(self.env.srcdir) / relative_path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return [nodes.image(uri=f"/{relative_path.as_posix()}", alt=self.options["alt"])]


def environment():
    """Return the environment of commands, without settings of this machine."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("SCUMBLE_")}
    return {**variables, "PYTHONIOENCODING": "utf-8", "SCUMBLE_CACHE": "scumble-cache"}


def folder_of(env):
    """Return the folder in which the commands of the current page run."""
    folder = env.temp_data.get("scumble_folder")
    if folder is None:
        folder = env.temp_data["scumble_folder"] = TemporaryDirectory(prefix="scumble-docs-")
    return Path(folder.name)


def shortened(text, n_lines):
    """Return the first lines of a text."""
    lines = text.split("\n")
    if n_lines is None or len(lines) <= n_lines:
        return text
    return "\n".join([*lines[:n_lines], "..."])


def block(text, language):
    """Return a literal block."""
    return nodes.literal_block(text, text, language=language)
