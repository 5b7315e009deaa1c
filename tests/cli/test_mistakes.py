"""Mistakes of a shell user: each is answered in the words of the shell, and touches no file."""

import re

import pytest

from scumble import catalogue
from scumble.cli.main import main
from scumble.cli.messages import OPTION_SUGGESTIONS, translate_to_options
from scumble.learn import MLkNN, save
from scumble.resample import BaseDistanceResampler
from tests.cli.test_files import COMMANDS, checksums, fill

METHODS_WITH_NEIGHBOURS = [
    name
    for name, cls in catalogue.entries("resampler").items()
    if issubclass(cls, BaseDistanceResampler) and "n_neighbors" in cls().get_params()
]
#: A call, and what its answer must say.
MISTAKES = """
frobnicate | No such command 'frobnicate'
summry films.arff | Did you mean 'summary'
data lst | Did you mean 'list'
experiment tabel results.db | Did you mean 'table'
summary | Missing argument 'DATA'
summary films.arff more.csv | unexpected extra argument
summary films.arf | no such file
summary flgas | Did you mean 'flags'
summary . | this is a directory
summary films.arff --jsn | --json
summary plain.csv | Say --labels ... (names or numbers
summary plain.csv | with --label-separator '|'
summary empty.csv | the file is empty
summary notes.txt | name it with --format
summary films.arff --format csvv | Did you mean 'csv'
summary films.arff --labels war,lvoe | --labels ... names the label 'lvoe'
summary films.arff --labels war,lvoe | Did you mean 'love'
summary films.arff --labels 99 | only 3 columns
summary films.arff --labels 0 | --labels '0' selects no label
summary films.arff --labels nofile.xml | nofile.xml: no such file
summary films.arff --option colour=red | no option 'colour'
summary films.arff --option colour | must be name=value
summary films.arff --option name=red | no option 'name'
summary debtags --option name=red | no option 'name'
summary films.arff --option labels=war | Give --labels instead
summary films.arff --option format=csv | Give --format instead
summary more.csv --engine duckbd | --engine must be one of
summary more.csv --engine duckdb | Say --label-column
summary more.csv --memory lots | --memory lots
labels films.arff --sort colour | --sort must be one of
labels films.arff --sort scumbel | Did you mean 'scumble'
labels films.arff --top -1 | '--top'
labels films.arff --top many | '--top'
labelsets films.arff --top -1 | '--top'
report films.arff --difficult -1 | '--difficult'
report films.arff -r remidial | Did you mean 'remedial'
report films.arff --html nodir/a.html | the folder nodir does not exist
report films.arff -o a.html | --html
report films.arff --treat remedial | --resample
report films.arff --seed -1 | '--seed'
plot films.arff | '--output'
plot films.arff -o a.gif | must end in .svg
plot films.arff -o a.svg -k chrod | Did you mean 'chord'
plot films.arff -o a.svg -k labels --draw wra | Did you mean 'war'
plot films.arff -o a.svg -k labelsets --draw war | --draw selects labels
plot films.arff -o a.svg -r remidial | Did you mean 'remedial'
plot films.arff -o a.svg --dpi 5 | '--dpi'
remedial films.arff | --output
remedial films.arff -o a.arff --passes 0 | --passes must be a whole number of at least 1
remedial films.arff -o a.arff --passes 1.5 | '--passes'
remedial films.arff -o a.arff --one-sided clon | Did you mean 'clone'
remedial films.arff -o a.xyz | name the format with --to
remedial films.arff -o nodir/a.arff | the folder nodir does not exist
resample films.arff -o a.arff | Give --resample
resample films.arff -o a.arff --compare | either a file to write, with --output, or --compare
resample films.arff -o a.arff -r smote | Did you mean 'mlsmote'
resample films.arff -o a.arff -r ML-SMOTE | Did you mean 'mlsmote'
resample films.arff -o a.arff -r RandomOverSampler | Did you mean 'mlros'
resample films.arff -o a.arff -r mlros+ | There is no resampler ''
resample films.arff -o a.arff -r mlros --percent -3 | --percent must be a number of at least 0
resample films.arff -o a.arff -r mlros --percent nan | --percent must be a number of at least 0
resample films.arff -o a.arff -r mlros --percent 1e308 | more rows than any machine holds
resample films.arff -o a.arff -r mlrus --percent 300 | --percent must be a number in [0, 100]
resample films.arff -o a.arff -r mlsmote --k 0 | --k must be a whole number of at least 1
resample films.arff -o a.arff -r mlsmote --k x | '--k'
resample films.arff -o a.arff -r mlsmote --n-neighbors 3 | --k
resample films.arff -o a.arff -r mlsmote --param k=3 | Here it is 'n_neighbors'
resample films.arff -o a.arff -r mlsmote --param k_neighbors=3 | Here it is 'n_neighbors'
resample films.arff -o a.arff -r mlsmote --param stratgy=x | Did you mean 'strategy'
resample films.arff -o a.arff -r mlsmote --param strategy=rankin | Did you mean 'ranking'
resample films.arff -o a.arff -r mlros --param sampling_strategy=auto | 'percent', in percent
resample films.arff -o a.arff -r mlros --param ratio=0.2 | Here it is 'percent'
resample films.arff -o a.arff -r mlros --seed one | '--seed'
resample films.arff -o a.arff -r mlros --jobs 0 | '--jobs'
resample films.arff -o a.arff -r mlros(percent=10 | parameters in brackets
resample films.arff -o a.arff -r mlros(precent=10) | Did you mean 'percent'
resample films.arff -o a.arff -r remedial --k 3 | has a parameter 'n_neighbors'
resample films.arff --compare -r mlros,remidial | Did you mean 'remedial'
resample films.arff -o a.arff -m mlros | --resample
resample films.arff -o a.arff --method mlros | --resample
train films.arff -o m | '--classifier'
train films.arff -o m -c bt | Did you mean 'br'
train films.arff -o m -c BinaryRelevance | Did you mean 'br'
train films.arff -o m -c br --param k=3 | no parameter 'k'
train films.arff -o m -c mlknn --param k=3 | Here it is 'n_neighbors'
train films.arff -o m -c mlknn --param n_neighbors=0 | --param n_neighbors of MLkNN must
train films.arff -o m -c mlknn --param n_neighbours=2 | Here it is 'n_neighbors'
train films.arff -o m -c br --param classifier=tree | Here it is 'estimator'
train films.arff -o m -c br --param base_estimator=x | Here it is 'estimator'
train films.arff -o m -c ecc --param order=random | Here it is 'random_state'
train films.arff -o m -c cc --param order=random | Chains in random orders are 'ecc'
train films.arff -o m -c sklearn.svm.SVCC | no attribute 'SVCC'
train films.arff -o m -c br -r mlros --resample-param sampling_strategy=1 | Here it is 'percent'
train films.arff -o m -c br,cc | --classifier takes one name here
train nofile.arff -o m -c br | no such file
train films.arff -o nodir/m -c br | the folder nodir does not exist
predict nofile films.arff -o p.csv | no such file
predict films.arff more.csv -o p.csv | not a model of scumble
predict good.model films.arff -o p.xls | written as .csv
predict good.model films.arff -o p.csv --to csv | needs --whole
predict good.model films.arff -o p.csv --option name=red | no option 'name'
predict good.model films.arff -o p.csv --dataset | --whole
thresholds scores.csv films.arff --rule shrunkn | --rule must be one of
thresholds scores.csv films.arff --metric recall | --metric must be one of
thresholds scores.csv nofile.csv | no such file
thresholds scores.csv films.arff -o t.xls | .csv or .json
evaluate films.arff -c br --folds five | Folds must be
evaluate films.arff -c br --folds 1 | --folds must be a whole number of at least 2
evaluate films.arff -c br --folds 99 | cannot make 99 folds
evaluate films.arff -c br --metric macro_f9 | Did you mean 'macro_f1'
evaluate films.arff -c br --metric f1_macro | Did you mean 'macro_f1'
evaluate films.arff -c br --splitter kfld | Did you mean 'kfold'
evaluate films.arff -c br --groups minorty | Did you mean 'minority'
evaluate films.arff -c br --folds 2 --undefined zero | --undefined must be
evaluate films.arff -c br --folds 2 --ties wurst | Did you mean 'worst'
evaluate films.arff -c br -r remidial | Did you mean 'remedial'
compare films.arff -c br,br | named twice
compare films.arff -c br,,cc | names separated by commas
compare films.arff -c br,rera | Did you mean 'rare'
compare films.arff --test nofile.arff | no such file
advise films.arff --budget soon | --budget must be a time
convert films.arff -o films.arff.gz | such as --to meka
convert films.arff -o a.arff --to weka | Did you mean 'meka'
convert films.arff -o a | name the format with --to
convert films.arff a.csv -o b.csv | named twice
gui nofile.arff --no-browser --port 0 | no such file
gui --port 99999999 | '--port'
data get yaest | Did you mean 'yeast'
data path yaest | Did you mean 'yeast'
methods resamplr | Did you mean 'resampler'
methods resampler mlsmot | Did you mean 'mlsmote'
methods metric macrof1 | Did you mean 'macro_f1'
methods measure scumbel | Did you mean 'scumble'
experiment run nofile.toml -s r.db | No such file
experiment run plan.toml | '--store'
experiment run plan.toml -s r.db -c rb | Did you mean 'br'
experiment run notes.txt -s r.db | this is not TOML
experiment run folds.toml -s r.db | Here it is 'splitter'
experiment run other.toml -s r.db | Here it is 'n_neighbors'
experiment table results.db -m macrof1 | No finished cell
experiment compare results.db | '--against'
experiment ranks nofile.db | no such store
experiment status nofile.db | no such store
experiment status films.arff | not a store of results
experiment export results.db -o a.doc | Expected one of .csv
paper run imbalanc -s r.db | Did you mean 'imbalance'
paper plan imbalanc | Did you mean 'imbalance'
paper claims yaest | Did you mean 'yeast'
paper ledger --store nofile.db | no such store
demo -o films.arff | cannot be made a folder
split nofile.arff -o a.arff | no such file
split films.arff | '--output'
score nofile.csv films.arff | no such file
"""
CASES = [tuple(line.rsplit(" | ", 1)) for line in MISTAKES.strip().splitlines()]
#: A mistake that can be made with every command, for those that are not in the list.
CASES += [
    (f"{name} --nonesuch", "No such option: --nonesuch")
    for name in COMMANDS
    if not any(call.startswith(name) for call, _ in CASES)
]
#: What a shell user should not have to read.
PYTHON = re.compile(r"parameter of|\w+=\.\.\.|\bTrue\b|\bNone\b|scumble\.\w+\(|\binf\b|Traceback")
OPTION_VALUE = re.compile(r"--option \w+=")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Make a folder with all there is to read; it is made once, as no mistake may change it."""
    folder = tmp_path_factory.mktemp("mistakes")
    fill(folder)
    (folder / "empty.csv").write_text("")
    (folder / "notes.txt").write_text("hello")
    (folder / "plain.csv").write_text("minutes,war,love\n10,1,0\n95,1,1\n120,1,0\n90,0,1\n")
    (folder / "scores.csv").write_text("war,love\n1,0\n0.5,0.2\n0.3,0.4\n0.1,0.9\n")
    (folder / "folds.toml").write_text('name = "a"\ndatasets = ["films.arff"]\nfolds = 3\n')
    (folder / "other.toml").write_text(
        'name = "a"\ndatasets = ["films.arff"]\nclassifiers = [{ name = "mlknn", k = 3 }]\n'
    )
    save(MLkNN(n_neighbors=1).fit([[0.0], [90.0]], [["war"], ["love"]]), folder / "good.model")
    return folder


@pytest.fixture
def place(filled, monkeypatch):
    monkeypatch.chdir(filled)
    return filled


@pytest.mark.parametrize(("call", "said"), CASES, ids=[call for call, _ in CASES])
def test_a_mistake_is_answered_and_touches_no_file(capsys, place, call, said):
    before = checksums(place)
    with pytest.raises(SystemExit) as stopped:
        main(call.split())
    out, err = capsys.readouterr()
    told = " ".join(err.split())
    assert stopped.value.code == 2, out + err
    assert said in told
    assert not PYTHON.search(OPTION_VALUE.sub("", told)), told
    assert checksums(place) == before


def test_every_command_is_among_the_mistakes():
    tried = {call for call, _ in CASES}
    for name in COMMANDS:
        assert any(call.startswith(name) for call in tried), name
    assert len(tried) > 130


def test_a_share_instead_of_a_percentage_is_noted(capsys, place, tmp_path):
    with pytest.raises(SystemExit) as stopped:
        main(f"resample films.arff -o {tmp_path}/a.arff -r mlros --percent 0.25".split())
    assert not stopped.value.code
    assert capsys.readouterr().err == (
        "note: --percent is 0.25: less than one percent of the rows. If you mean 25 percent, say "
        "25.\n"
    )


@pytest.mark.parametrize("method", METHODS_WITH_NEIGHBOURS)
def test_more_neighbours_than_rows_are_all_rows(place, tmp_path, method):
    for name, k in (("a.csv", 1_000_000_000), ("b.csv", 4)):
        call = f"resample films.arff -o {tmp_path / name} -r {method} --k {k} --seed 1 -q"
        with pytest.raises(SystemExit) as stopped:
            main(call.split())
        assert not stopped.value.code
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_too_little_memory_is_no_traceback(capsys, place, monkeypatch):
    def greedy(*_, **__):
        raise MemoryError("Unable to allocate 559. GiB")

    monkeypatch.setattr("scumble.measures.characterize", greedy)
    with pytest.raises(SystemExit) as stopped:
        main("summary films.arff".split())
    assert stopped.value.code == 2
    assert "not enough memory (Unable to allocate 559. GiB)" in capsys.readouterr().err


def test_python_still_speaks_of_parameters(place):
    import scumble
    from scumble.resample import make_chain

    with pytest.raises(scumble.ScumbleError, match=r"Say labels=\[\.\.\.\]"):
        scumble.read("plain.csv")
    with pytest.raises(scumble.ScumbleError, match="The 'percent' parameter of MLROS must be"):
        make_chain("mlros", percent=-3)


def test_values_of_users_are_left_alone():
    options = {"labels": "--labels", "option": "--option"}
    for message in ("There is no label 'a=b'.", "Got 'colour=red' instead.", "x=1, y=2"):
        assert translate_to_options(message, options) == message


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("summary format=csv.csv", "format=csv.csv: no such file"),
        ("summary ./labels=9.csv", "labels=9.csv: no such file"),
        ("evaluate seed=3/none.arff -c br", "seed=3/none.arff: no such file"),
        ("summary odd.csv --labels zzzzzzzz", "'format=csv', 'text names', 'love'"),
    ],
)
def test_paths_and_columns_that_look_like_parameters_keep_their_names(
    capsys, tmp_path, monkeypatch, call, said
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.csv").write_text("format=csv,text names,love\n1,2,1\n3,4,0\n")
    with pytest.raises(SystemExit):
        main(call.split())
    assert said in capsys.readouterr().err


def test_options_called_elsewhere_are_options_of_some_command():
    known = {spelling for each in COMMANDS.values() for p in each.params for spelling in p.opts}
    for ours in OPTION_SUGGESTIONS.values():
        assert set(ours) <= known
