"""The tool that damages files: it finds what it should, and a short run of it finds nothing."""

import os

import pytest
from tools import fuzz

#: Seconds for the run in CI; `make fuzz` has all the time it needs.
SECONDS = "4"


@pytest.fixture(scope="module")
def all_samples():
    return fuzz.samples()


def test_the_files_are_good_before_they_are_damaged(all_samples, tmp_path, recwarn):
    for sample in all_samples:
        if not sample.kind.endswith("unnamed"):  # some of these say nothing about themselves
            assert fuzz.try_input(sample, sample.content, tmp_path) == "read", sample
    assert os.listdir(tmp_path) == []


def test_an_input_is_known_by_its_number(all_samples):
    for number in range(100):
        first, again, other = (fuzz.make_input(number, seed, all_samples)[1] for seed in (0, 0, 1))
        assert first == again
        assert first != other or len(first) < 20


def test_a_short_run_ends_well(capsys):
    assert fuzz.main(["--seconds", SECONDS, "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert "0 failed; all is well" in out
    assert " MB when warm, " in out


def test_two_processes_share_the_inputs(capsys):
    assert fuzz.main("--count 40 --jobs 2 --only csv".split()) == 0
    assert out_of(capsys).count("\n20 inputs in ") == 2


def test_a_reader_that_fails_is_found(capsys, monkeypatch, tmp_path):
    def read(path):
        if b"!" not in path.read_bytes():
            raise KeyError("no mark")

    monkeypatch.setattr(fuzz, "samples", lambda only: [fuzz.Sample("odd", "a", b"!" * 9, read)])
    monkeypatch.setattr(fuzz, "FAILED_INPUTS", tmp_path / "kept")
    assert fuzz.main("--count 300 --jobs 1".split()) == 1
    out = out_of(capsys)
    assert "(odd): KeyError: 'no mark'" in out
    assert "look above" in out
    assert all(b"!" not in path.read_bytes() for path in (tmp_path / "kept").iterdir())


def test_memory_that_grows_is_told(capsys):
    outcome = fuzz.Outcome(seconds=1.0, warm_mb=100.0, end_mb=150.0)
    outcome.counts["csv", "read"] += 1
    assert not fuzz.summarize([outcome], [])
    assert "memory grew by 50 MB" in out_of(capsys)
    assert not fuzz.summarize([], ["process 0 died of input 7: exit code -11"])


def out_of(capsys):
    return capsys.readouterr().out
