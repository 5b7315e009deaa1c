"""How the command ends: at once, with everything said and everything tidied up."""

import json
import subprocess
import sys

SCRIPT = "from scumble.cli.main import run\nrun()\n"


def end(*arguments, before=""):
    code = before + SCRIPT
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)


def test_all_is_printed():
    done = end("labels", "debtags", "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert len(json.loads(done.stdout)) == 431


def test_an_error_keeps_its_message_and_its_code():
    done = end("summary", "nonesuch.arff")
    assert done.returncode == 2
    assert done.stderr == "error: nonesuch.arff: no such file. Check the path.\n"


def test_what_others_left_to_the_end_is_done():
    done = end("--version", before="import atexit\natexit.register(print, 'tidy')\n")
    assert done.stdout.split()[-1] == "tidy"


def test_a_thread_at_work_is_waited_for():
    at_work = (
        "import threading\n"
        "def work():\n    threading.main_thread().join()\n    print('done')\n"
        "threading.Thread(target=work).start()\n"
    )
    assert end("--version", before=at_work).stdout.split()[-1] == "done"


def test_a_reader_that_goes_away_is_no_error():
    command = f'{sys.executable} -c "{SCRIPT}" labels debtags --json | head -n 1'
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.stdout == "[\n"
    assert done.stderr == ""


def test_closed_streams_change_no_code():
    for redirection in (">&-", "2>&-"):
        command = f'{sys.executable} -c "{SCRIPT}" --version {redirection}'
        assert subprocess.run(command, shell=True, capture_output=True).returncode == 0
