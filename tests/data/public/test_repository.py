"""The repository of public data: what it holds, where it is found, how it is fetched."""

import hashlib
import lzma
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from scumble._core.errors import (
    DataError,
    DownloadError,
    ParameterError,
    ScumbleWarning,
    WriteError,
)
from scumble._core.progress import show_progress
from scumble.data.public import download, repository
from scumble.measures import characterize

FILMS_ARFF = b"""\
@relation films
@attribute minutes numeric
@attribute war {0,1}
@attribute love {0,1}
@data
150,1,0
90,1,1
"""
FILMS_XML = b"""\
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="war"></label><label name="love"></label>
</labels>
"""


class Site(ThreadingHTTPServer):
    """A server on this machine whose pages misbehave on demand."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Pages)
        self.pages: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.release = threading.Event()  # lets hanging pages end with the test

    def handle_error(self, request, client_address):
        """Say nothing when the client has hung up."""

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        how, _, page = self.path.strip("/").partition("/")
        content = self.server.pages.get(page)
        if how == "redirect":
            self.send_response(302)
            self.send_header("Location", f"{self.server.base}/good/{page}")
            self.end_headers()
        elif how == "away":
            self.send_response(302)
            self.send_header("Location", f"http://example.org/{page}")
            self.end_headers()
        elif content is None:
            self.send_error(404)
        else:
            self._answer(how, content)

    def _answer(self, how, content):
        if how == "wrong":
            content = b"X" + content[1:]
        if how == "larger":
            content = content + b"\n"
        self.send_response(200)
        if how not in ("larger", "unannounced"):
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        if how == "hanging":
            self.wfile.flush()
            self.server.release.wait(600)
        if how != "truncated":
            self.wfile.write(content[len(content) // 2 :])

    def log_message(self, *args):
        pass


@pytest.fixture
def site(monkeypatch):
    monkeypatch.setattr(download, "allow_loopback_http", True)
    server = Site()
    server.pages = {"films.arff": FILMS_ARFF, "films.xml": FILMS_XML}
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Keep the real cache and the real folder of data out of the tests."""
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCUMBLE_DATA", raising=False)


@pytest.fixture
def add_to_repository(monkeypatch, site):
    """Put the set ``films`` in the repository, to be fetched from pages that behave as told."""

    def put(*ways, name="films", **changes):
        files = tuple(
            repository.RemoteFile(
                f"{name}.{suffix}",
                len(content),
                hashlib.sha256(content).hexdigest(),
                tuple(f"{site.base}/{how}/films.{suffix}" for how in ways),
            )
            for suffix, content in (("arff", FILMS_ARFF), ("xml", FILMS_XML))
        )
        entry = repository.RepositoryEntry(
            name=name,
            title="Films",
            domain="films",
            format="mulan",
            aliases=("cinema",),
            files=files,
            measures={"instances": 2, "features": 1, "labels": 2},
            fallback=None,
            note="",
        )
        entry = replace(entry, **changes)
        table = {**repository._entries_by_name(), name: entry}
        monkeypatch.setattr(repository, "_entries_by_name", lambda: table)
        return entry

    return put


def cached_files() -> list[str]:
    folder = repository.cache_folder()
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def put_films(folder: Path, name: str = "films") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.arff").write_bytes(FILMS_ARFF)
    (folder / f"{name}.xml").write_bytes(FILMS_XML)


# What is in the repository


def test_the_repository_holds_the_sets_of_the_paper():
    paper = "corel5k mediamill cal500 enron corel16k cs tmc2007 yeast bibtex medical genbase"

    found = {name: repository.find(name).name for name in paper.split()}

    assert found["corel16k"] == "corel16k010"
    assert found["cs"] == "stackex_cs"
    assert all(found[name] == name for name in paper.split() if name not in ("corel16k", "cs"))


def test_every_name_is_unique_and_every_fallback_exists():
    names = [name for entry in repository.entries() for name in (entry.name, *entry.aliases)]

    assert len(names) == len({name.casefold() for name in names})
    assert {entry.fallback for entry in repository.entries() if entry.fallback} == {
        "mediamill_reduced",
        "tmc2007-500",
    }


def test_addresses_are_secure_and_checksums_complete():
    for entry in repository.entries():
        assert set(entry.measures) >= {"instances", "features", "labels", "mean_ir", "scumble"}
        assert entry.files or entry.note or entry.name == "debtags"
        for file in entry.files:
            assert len(file.urls) == 2
            assert all(address.startswith("https://") for address in file.urls)
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert file.size > 0


def test_published_parts_are_known():
    assert repository.find("emotions").parts == ("train", "test")
    assert repository.find("yeast").parts == ()


def test_names_may_be_written_in_capitals():
    assert repository.find("Corel5k").name == "corel5k"


def test_an_unknown_name_is_answered_with_close_ones():
    with pytest.raises(ParameterError, match=r"called 'yaest'. Did you mean 'yeast'\?"):
        repository.find("yaest")
    with pytest.raises(ParameterError, match=r"use scumble\.read"):
        repository.load("folder/films.arff")
    with pytest.raises(ParameterError, match=r"must be a string\. Got 3"):
        repository.load(3)


def test_the_repository_agrees_with_the_reference_files(datasets):
    """Sizes and checksums are those of the original bytes."""
    compared = 0
    for entry in repository.entries():
        for file in entry.files:
            path = datasets / entry.name / file.name
            packed = path.with_name(path.name + ".xz")
            content = path.read_bytes() if path.exists() else lzma.decompress(packed.read_bytes())
            assert (len(content), hashlib.sha256(content).hexdigest()) == (file.size, file.sha256)
            compared += 1
    assert compared == 35


# Where it is found


def test_the_folder_of_data_is_searched_before_the_cache(add_to_repository, monkeypatch, tmp_path):
    add_to_repository("good")
    repository.fetch("films")
    put_films(tmp_path / "data" / "films")
    assert repository.locate("films") == repository.cache_folder() / "films" / "films.arff"

    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path / "data"))

    assert repository.locate("films") == tmp_path / "data" / "films" / "films.arff"
    assert repository.locate("cinema") == tmp_path / "data" / "films" / "films.arff"


@pytest.mark.parametrize(
    "place", ["films/films.arff.xz", "films.arff", "Films/FILMS.ARFF", "films.csv.gz"]
)
def test_a_set_is_found_one_level_deep_compressed_or_not(monkeypatch, tmp_path, place):
    path = tmp_path / "data" / place
    path.parent.mkdir(parents=True)
    path.write_bytes(b"any")
    (path.parent / "other.arff").write_bytes(b"any")
    (path.parent / "films.xml").write_bytes(b"any")
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path / "data"))

    assert repository.locate("films") == path


def test_arff_is_preferred_and_several_folders_may_be_named(monkeypatch, tmp_path):
    for place in ("a/films.csv", "a/films.arff", "a/films.arff.gz", "b/films.arff", "b/books.csv"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"any")
    monkeypatch.setenv("SCUMBLE_DATA", os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))

    assert repository.locate("films") == tmp_path / "a" / "films.arff"
    assert repository.locate("books") == tmp_path / "b" / "books.csv"


def test_a_wrong_folder_of_data_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path / "nowhere"))

    with pytest.raises(
        ParameterError, match=r"SCUMBLE_DATA names .*nowhere, which is not a folder"
    ):
        repository.locate("yeast")


def test_an_absent_set_says_how_to_get_it():
    with pytest.raises(DataError, match=r"'yeast' is neither .*repository.fetch\('yeast'\)"):
        repository.locate("yeast")
    with pytest.raises(DataError, match=r"'scene' is neither .*published as scene-train.arff"):
        repository.locate("scene")
    with pytest.raises(DataError, match=r"'mediamill' is neither .*Put mediamill.arff"):
        repository.load("mediamill")
    with pytest.raises(DataError, match="'yeast' is neither"):
        repository.load("yeast", download=False)


def test_the_cache_follows_the_system(monkeypatch):
    monkeypatch.delenv("SCUMBLE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    monkeypatch.setenv("HOME", "/home/me")

    found = {}
    for platform in ("linux", "win32", "darwin"):
        monkeypatch.setattr(repository.sys, "platform", platform)
        found[platform] = repository.cache_folder().as_posix()

    assert found == {
        "linux": "/caches/scumble",
        "win32": "/local/scumble",
        "darwin": "/home/me/Library/Caches/scumble",
    }


# How it is fetched


@pytest.mark.parametrize("how", ["good", "unannounced", "redirect"])
def test_a_set_is_fetched_whole(add_to_repository, how):
    add_to_repository(how)

    path = repository.fetch("films")

    assert path.read_bytes() == FILMS_ARFF
    assert path.with_suffix(".xml").read_bytes() == FILMS_XML
    assert cached_files() == ["films.arff", "films.xml"]


def test_what_is_cached_is_not_fetched_again(add_to_repository, site):
    add_to_repository("good")
    repository.fetch("films")
    site.asked.clear()

    repository.fetch("films")
    assert site.asked == []

    repository.fetch("films", force=True)
    assert sorted(site.asked) == ["/good/films.arff", "/good/films.xml"]


def test_a_damaged_cache_is_repaired(add_to_repository, site):
    add_to_repository("good")
    path = repository.fetch("films")
    path.write_bytes(b"X" + FILMS_ARFF[1:])
    site.asked.clear()

    assert repository.fetch("films").read_bytes() == FILMS_ARFF
    assert site.asked == ["/good/films.arff"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("wrong", "its SHA-256 is [0-9a-f]{64}, expected"),
        ("truncated", "cut short: [0-9]+ bytes came, expected"),
        ("larger", "larger than the [0-9]+ bytes expected"),
        ("away", "http://example.org/films.xml: only addresses with https"),
        ("missing/or", "the server answers 404"),
    ],
)
def test_a_bad_file_leaves_nothing_behind(add_to_repository, how, message):
    add_to_repository(how)

    with pytest.raises(DownloadError, match=message) as caught:
        repository.fetch("films")

    assert "SCUMBLE_DATA" in str(caught.value)
    assert cached_files() == []


def test_an_announced_size_that_is_too_large_is_refused(add_to_repository, site):
    add_to_repository("good")
    site.pages["films.xml"] = FILMS_XML + bytes(10)

    with pytest.raises(DownloadError, match="larger than"):
        repository.fetch("films")


def test_a_server_that_hangs_is_given_up(add_to_repository, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    add_to_repository("hanging")

    with pytest.raises(DownloadError, match=r"silent for 0.2 seconds"):
        repository.fetch("films")

    assert cached_files() == []


def test_a_server_that_trickles_is_given_up(add_to_repository, monkeypatch):
    add_to_repository("good")
    clock = iter(range(0, 10**6, 1000))
    # Not the clock of the whole process: other threads would wait for ever, or not at all.
    monkeypatch.setattr(download, "time", SimpleNamespace(monotonic=lambda: next(clock)))

    with pytest.raises(DownloadError, match="too slow"):
        repository.fetch("films")


def test_a_server_that_is_not_there_is_reported(add_to_repository, site):
    entry = add_to_repository("good")
    nobody = tuple(replace(file, urls=(f"http://127.0.0.1:1/{file.name}",)) for file in entry.files)
    add_to_repository("good", files=nobody)

    with pytest.raises(DownloadError, match="cannot be reached or broke off"):
        repository.fetch("films")


def test_the_second_address_is_tried_and_the_checksum_decides(add_to_repository, site):
    add_to_repository("wrong", "good")

    assert repository.fetch("films").read_bytes() == FILMS_ARFF
    assert site.asked[:2] == ["/wrong/films.xml", "/good/films.xml"]


def test_http_is_refused(monkeypatch, add_to_repository):
    add_to_repository("good")
    monkeypatch.setattr(download, "allow_loopback_http", False)

    with pytest.raises(DownloadError, match="only addresses with https"):
        repository.fetch("films")
    for address in ("file:///etc/hostname", "ftp://example.org/x"):
        with pytest.raises(DownloadError, match="only addresses with https"):
            download.download(address, Path("x"), size=1, sha256="")


def test_several_fetch_the_same_set_at_once(add_to_repository):
    add_to_repository("good")

    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: repository.fetch("films", force=True), range(16)))

    assert {path.read_bytes() for path in paths} == {FILMS_ARFF}
    assert cached_files() == ["films.arff", "films.xml"]


def test_a_cache_that_cannot_be_written_is_named(add_to_repository, monkeypatch, tmp_path):
    add_to_repository("good")
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("SCUMBLE_CACHE", str(tmp_path / "file"))

    with pytest.raises(WriteError, match="Set SCUMBLE_CACHE"):
        repository.fetch("films")


def test_a_file_that_cannot_be_put_in_its_place(add_to_repository, monkeypatch):
    """On Windows nobody can replace a file that is open; then the right one is there already."""
    add_to_repository("good")
    fetched = repository.fetch("films")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("scumble._core.files.os.replace", refuse)
    assert repository.fetch("films", force=True) == fetched
    fetched.unlink()
    with pytest.raises(WriteError, match=r"no permission to write there.*Set SCUMBLE_CACHE"):
        repository.fetch("films")
    assert cached_files() == ["films.xml"]


def test_fetching_shows_its_progress(add_to_repository):
    class Sink:
        def __init__(self):
            self.said = []

        def start(self, title, total):
            self.said.append([title, total, 0])
            return lambda steps: self.said[-1].__setitem__(2, self.said[-1][2] + steps)

        def finish(self):
            pass

    add_to_repository("good")
    sink = Sink()
    with show_progress(sink):
        repository.fetch("films")

    assert sink.said == [
        ["Fetching films.xml", len(FILMS_XML), len(FILMS_XML)],
        ["Fetching films.arff", len(FILMS_ARFF), len(FILMS_ARFF)],
    ]


def test_what_has_no_address_is_not_fetched():
    with pytest.raises(DownloadError, match=r"No address is known for 'birds' \(published as"):
        repository.fetch("birds")
    with pytest.raises(DownloadError, match="train part of 'yeast'"):
        repository.fetch("yeast", part="train")
    with pytest.raises(DownloadError, match="is included in the package"):
        repository.fetch("debtags")


# What comes out


def test_the_embedded_set_is_loaded_by_name():
    with pytest.raises(DataError, match=r"scumble convert debtags debtags\.arff"):
        repository.locate("debtags")
    assert repository.load("debtags").n_labels == repository.find("debtags").measures["labels"]
    with pytest.raises(ParameterError, match="no parts and no options"):
        repository.load("debtags", part="train")
    with pytest.raises(ParameterError, match="'part' parameter of load must be one of"):
        repository.load("debtags", part="half")


def test_a_fetched_set_is_read_and_named(add_to_repository):
    add_to_repository("good", name="movies")

    films = repository.load("movies")

    assert films.name == "movies"
    assert films.labels == ("war", "love")
    assert films.Y.toarray().tolist() == [[True, False], [True, True]]


@pytest.mark.filterwarnings("ignore:.*33 labels repeat")  # EUR-Lex repeats itself
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(entry.name, marks=[pytest.mark.slow] if entry.name == "imdb" else [])
        for entry in repository.entries()
        if entry.fallback is None
    ],
)
def test_real_sets_have_the_measures_the_repository_promises(name, datasets, monkeypatch):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))

    data = repository.load(name, download=False)

    found = characterize(data)
    promised = dict(repository.find(name).measures)
    assert data.name == name
    counts = {
        "instances": found.n_instances,
        "features": data.n_features,
        "labels": found.n_labels,
        "labelsets": found.n_labelsets,
    }
    assert counts == {count: promised.pop(count) for count in counts}
    assert found.scumble == pytest.approx(promised.pop("scumble"), abs=5.1e-5)
    for measure, value in promised.items():
        assert getattr(found, measure) == pytest.approx(value, abs=5.1e-4)


def test_published_parts_are_read_with_the_labels_of_the_whole(datasets, monkeypatch):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))

    whole, train, test = (repository.load("flags", part=part) for part in (None, "train", "test"))

    assert len(train) + len(test) == len(whole)
    assert whole.labels == train.labels == test.labels


@pytest.mark.parametrize(
    ("name", "stand_in"), [("tmc2007", "tmc2007-500"), ("mediamill", "mediamill_reduced")]
)
def test_sets_of_the_paper_have_stand_ins(datasets, monkeypatch, name, stand_in):
    monkeypatch.setenv("SCUMBLE_DATA", str(datasets))

    with pytest.warns(ScumbleWarning, match=f"'{name}' is not .*'{stand_in}' takes its place"):
        assert repository.load(name).name == stand_in


def test_a_set_off_the_repository_is_read_from_the_folder_of_data(monkeypatch, tmp_path):
    put_films(tmp_path / "films")
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path))

    assert repository.load("films").n_labels == 2


def test_another_set_of_the_same_name_is_noticed(monkeypatch, tmp_path):
    put_films(tmp_path / "yeast", "yeast")
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path))

    with pytest.warns(ScumbleWarning, match=r"2 instances \(expected 2417\), 1 features"):
        assert repository.load("yeast").name == "yeast"


def test_a_fallback_says_so(add_to_repository, monkeypatch, tmp_path):
    add_to_repository("good", name="movies", files=(), fallback="films", note="nowhere")
    add_to_repository("good")

    with pytest.warns(ScumbleWarning, match=r"'movies' is not in .*nowhere.*'films' takes its"):
        assert repository.load("movies").name == "films"
    with pytest.warns(ScumbleWarning, match="'films' takes its place"):
        assert repository.locate("movies").name == "films.arff"

    put_films(tmp_path / "movies", "movies")
    monkeypatch.setenv("SCUMBLE_DATA", str(tmp_path))
    assert repository.load("movies").name == "movies"


def test_no_folder_of_the_reference_data_is_forgotten(datasets):
    from tests.data.formats.test_mulan import REAL

    elsewhere = {"enron-meka", "imdb", "eurlex_eurovoc-labels"}  # test_meka.py, test_csv.py
    refused = {"thyroid-L7", "solar_flare", "music_missing_classes"}  # test_meka.py
    folders = {path.name for path in datasets.iterdir() if path.is_dir()}
    assert folders == {row[0] for row in REAL} | elsewhere | refused
