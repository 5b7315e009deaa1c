"""Plans: what they combine, and what they refuse before anything runs."""

from pathlib import Path

import numpy as np
import pytest
import sklearn

from scumble._core.errors import DataError, ReadError
from scumble.evaluate import RepeatedKFold
from scumble.experiment import (
    Component,
    Plan,
    PlanError,
    Store,
    estimate_runtime,
    plan_cells,
    read_plan,
    run,
)
from scumble.experiment.components import code_versions, load_dataset

ROOT = Path(__file__).resolve().parents[2]
TOML = """
name = "films"
datasets = ["films.arff"]
resamplers = ["none", {name = "lpros", percent = 50, label = "LP-ROS"}, "remedial+mlros"]
classifiers = ["br", {name = "sklearn.neighbors.KNeighborsClassifier", n_neighbors = 1}]
splitter = {name = "kfold", n_splits = 2, n_repeats = 1}
seeds = [1, 2]
metrics = ["f1"]
limits = {seconds = 60, megabytes = 2000}
"""
ARFF = """@relation films
@attribute minutes numeric
@attribute kind {short,long}
@attribute war {0,1}
@attribute love {0,1}
@data
"""
XML = "<labels><label name='war'/><label name='love'/></labels>"


@pytest.fixture
def plan_file(tmp_path):
    rows = [f"{at},{'short' if at % 3 else 'long'},{at % 2},{int(at > 12)}" for at in range(20)]
    (tmp_path / "films.arff").write_text(ARFF + "\n".join(rows) + "\n")
    (tmp_path / "films.xml").write_text(XML)
    (tmp_path / "plan.toml").write_text(TOML)
    return tmp_path / "plan.toml"


def test_a_plan_file_combines_everything(plan_file):
    plan = read_plan(plan_file)
    plan.check()
    assert plan.n_cells == 1 * 3 * 2 * 2 * 2
    assert plan.name == "films"
    assert (plan.seconds, plan.megabytes) == (60, 2000)
    assert [part.label for part in plan.resamplers] == ["none", "LP-ROS", "remedial+mlros"]
    cells = plan_cells(plan)
    assert len({cell.key for cell in cells}) == plan.n_cells
    assert {cell.seconds for cell in cells} == {60}


def test_keys_depend_on_content_parameters_and_seed_only(plan_file, tmp_path):
    plan = read_plan(plan_file)
    keys = [cell.key for cell in plan_cells(plan)]
    other = tmp_path / "other"
    other.mkdir()
    for name in ("films.arff", "films.xml"):
        (other / name).write_bytes((tmp_path / name).read_bytes())
    (other / "plan.toml").write_text(TOML.replace('label = "LP-ROS"', 'label = "other"'))
    assert [cell.key for cell in plan_cells(read_plan(other / "plan.toml"))] == keys
    (other / "films.arff").write_text((other / "films.arff").read_text().replace("13,", "14,"))
    changed = {cell.key for cell in plan_cells(read_plan(other / "plan.toml"))}
    assert not changed & set(keys)
    (tmp_path / "plan.toml").write_text(TOML.replace("percent = 50", "percent = 60"))
    assert len(set(keys) - {cell.key for cell in plan_cells(read_plan(plan_file))}) == 8


def test_folds_are_shared_and_classifiers_see_the_same_seed_before_and_after(plan_file):
    cells = [cell for cell in plan_cells(read_plan(plan_file)) if cell.seed == 1]
    assert len({cell.seed_for("folds") for cell in cells}) == 1
    by_classifier = {}
    for cell in cells:
        seed = cell.seed_for("classifier")
        by_classifier.setdefault((cell.classifier.name, cell.fold), set()).add(seed)
    assert {len(seeds) for seeds in by_classifier.values()} == {1}
    resampling = {(cell.resampler.label, cell.fold): cell.seed_for("resampler") for cell in cells}
    assert len(set(resampling.values())) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('"br"', '"bra"'), "There is no classifier 'bra'"),
        (('"remedial+mlros"', '"remedia"'), "no resampler 'remedia'"),
        (("percent = 50", "procent = 50"), "no parameter|has a parameter"),
        (("percent = 50", "percent = -5"), "percent"),
        (("n_neighbors = 1", "neighbours = 1"), "no parameter 'neighbours'"),
        (("sklearn.neighbors.KNeighborsClassifier", "sklearn.neighbors.Nobody"), "Nobody"),
        (("sklearn.neighbors.KNeighborsClassifier", "os.path.join"), "not a classifier"),
        (("seeds = [1, 2]", "seeds = [-1]"), "whole number from 0"),
        (("seeds = [1, 2]", "seeds = []"), "no seeds"),
        (("seconds = 60", "seconds = -1"), "'seconds' must be a number above 0"),
        (('["f1"]', '["f2"]'), "no metric 'f2'"),
        (('["f1"]', '["ignore.f1"]'), r"needs extra_scores = \['ignore'\]"),
        (
            ("seeds = [1, 2]", 'extra_scores = ["all"]'),
            "'extra_scores' has ignore, hits",
        ),
        (('["f1"]', '["minorty.macro_f1"]'), "Did you mean 'minority.macro_f1'"),
        (('["f1"]', '["pooled.macro_auc"]'), "no metric 'pooled.macro_auc'"),
        (('["f1"]', '["few.f1"]'), "no metric 'few.f1'"),
        (('["f1"]', '["after.scumbel"]'), "Did you mean 'after.scumble'"),
        (('["films.arff"]', '[{name = "films.arff", rows = 0}]'), "'rows' must be a whole number"),
        (('["films.arff"]', '[{name = "films.arff", drop = "kind"}]'), "'drop' must be a list"),
        (('"br"', '{name = "br", where = {max_rows = 5}}'), "no 'max_rows'. Known are: max_inst"),
        (('"br"', '{name = "br", where = {max_labels = 0}}'), "'max_labels' must be a whole"),
        (('"br"', '{name = "br", where = 5}'), "'where' must be a table"),
        (('"films.arff"', '{name = "films.arff", where = {max_labels = 1}}'), "Only classifiers"),
        (('"films.arff"', '"./other.arff"'), "no such file"),
        (('"films.arff"', '"nonesuch"'), "nonesuch"),
        (('"none", {', '"none", "none", {'), "occurs twice"),
        (('name = "kfold"', 'name = "kfald"'), "There is no splitter"),
        (("seeds", "seedlings"), "unknown key 'seedlings'. Did you mean 'seeds'"),
        (("seconds = 60", "minutes = 1"), "unknown key 'minutes'"),
        (('datasets = ["films.arff"]', ""), "needs 'datasets'"),
        (('"br"', "5"), "must be a name, or a table"),
        (('["films.arff"]', "5"), "'datasets' must be a list"),
        (("seeds = [1, 2]", "seeds = 5"), "'seeds' must be a list"),
        (("seeds = [1, 2]", "seeds = [1, 1]"), "A seed occurs twice"),
        (("seeds = [1, 2]", "seeds = [9223372036854775808]"), "whole number from 0"),
        (('["f1"]', "5"), "'metrics' must be a list"),
        (('["f1"]', "[5]"), "no metric 5"),
        (("seconds = 60", "seconds = true"), "'seconds' must be a number above 0"),
        (('name = "films"', "name = 5"), "'name' must be a text"),
        (('name = "films"', 'keep_predictions = "no"'), "must be true or false"),
        (("n_splits = 2", 'n_splits = "x"'), "'n_splits' parameter of RepeatedKFold"),
        (("n_splits = 2", "n_splits = 2.5"), "'n_splits' parameter of RepeatedKFold"),
        (("n_splits = 2", "n_splits = 1"), "'n_splits' parameter of RepeatedKFold"),
        (('"br"', '"br", {name = "br", label = "B"}'), "'br' and 'B' are the same"),
        (('"none", {', '{name = "none", percent = 5}, {'), "'none' has no parameters"),
    ],
)
def test_wrong_plans_are_refused_before_anything_runs(plan_file, change, message):
    plan_file.write_text(TOML.replace(*change))
    with pytest.raises(PlanError, match=message):
        read_plan(plan_file).check()


def test_broken_files_are_named(plan_file, tmp_path):
    plan_file.write_text("datasets = [")
    with pytest.raises(ReadError, match="not TOML"):
        read_plan(plan_file)
    with pytest.raises(ReadError, match="cannot be read"):
        read_plan(tmp_path / "absent.toml")


def test_a_file_of_folds_lies_beside_the_plan(plan_file, tmp_path):
    rows = "".join(f"{at},{at % 2}\n" for at in range(20))
    (tmp_path / "folds.csv").write_text("instance,fold\n" + rows)
    plan_file.write_text(
        'datasets = ["films.arff"]\nclassifiers = ["none"]\n'
        'splitter = {name = "fixed", fold_table = "folds.csv"}\n'
    )
    plan = read_plan(plan_file)
    plan.check()
    assert run(plan, tmp_path / "a.db", n_jobs=0).n_done == plan.n_cells == 2


def test_data_sets_are_cut_by_rows_and_columns(plan_file, tmp_path):
    whole = load_dataset(Component("films.arff"), str(tmp_path))
    drawn = np.random.default_rng(0).permutation(20)[:7]
    cut = load_dataset(Component("films.arff", {"rows": 7, "drop": ["minutes"]}), str(tmp_path))
    assert cut.feature_names == ("kind",)
    assert cut.features[0].categories == ("short", "long")
    assert cut.X.ravel().tolist() == whole.X[drawn, 1].tolist()
    assert (cut.Y.toarray() == whole.Y.toarray()[drawn]).all()
    assert load_dataset(Component("films.arff", {"rows": 20}), str(tmp_path)) == whole
    with pytest.raises(DataError, match=r"no feature 'minute' to drop.*minutes"):
        load_dataset(Component("films.arff", {"drop": ["minute"]}), str(tmp_path))


def test_a_classifier_may_be_kept_to_small_data(plan_file, tmp_path):
    plan_file.write_text(
        'datasets = ["films.arff", {name = "films.arff", drop = ["kind"], label = "narrow"}]\n'
        'classifiers = ["br", {name = "mlknn", where = {max_features = 1, max_labels = 2}}]\n'
        'splitter = {name = "kfold", n_splits = 2, n_repeats = 1}\n'
    )
    plan = read_plan(plan_file)
    plan.check()
    with Store(tmp_path / "a.db") as store:
        for _ in range(2):  # then from what the store remembers
            found = {(c.dataset.label, c.classifier.label) for c in plan_cells(plan, store)}
            assert found == {("films.arff", "br"), ("narrow", "br"), ("narrow", "mlknn")}
        assert run(plan, store, n_jobs=0).n_done == 6
    free = Plan(datasets="films.arff", classifiers=["mlknn"], folder=str(tmp_path))
    kept = Plan(
        datasets="films.arff",
        classifiers=[Component("mlknn", where={"max_labels": 2})],
        folder=str(tmp_path),
    )
    assert [c.key for c in plan_cells(free)] == [c.key for c in plan_cells(kept)]


def test_two_names_for_the_same_data_are_refused(plan_file, tmp_path):
    for suffix in ("arff", "xml"):
        (tmp_path / f"copy.{suffix}").write_bytes((tmp_path / f"films.{suffix}").read_bytes())
    plan_file.write_text(TOML.replace('"films.arff"', '"films.arff", "copy.arff"'))
    with pytest.raises(PlanError, match=r"films.arff and copy.arff hold the same data"):
        plan_cells(read_plan(plan_file))


def test_the_version_of_a_classifier_inside_another_is_part_of_the_key():
    inner = {"name": "sklearn.naive_bayes.GaussianNB"}
    found = code_versions(
        Component("none"), Component("br", {"estimator": inner}), Component("kfold")
    )
    assert found["sklearn"] == sklearn.__version__
    assert "sklearn" not in code_versions(Component("none"), Component("br"), Component("kfold"))


def test_a_resampler_can_be_named_by_its_module(tmp_path, monkeypatch, plan_file):
    (tmp_path / "plan_home.py").write_text(
        "from scumble.resample import MLROS\n__version__ = '1.2'\nclass Mine(MLROS): ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    mine = Component("remedial+plan_home.Mine", {"percent": 10})
    assert code_versions(mine, Component("none"), Component("kfold"))["plan_home"] == "1.2"
    plan_file.write_text(TOML.replace('"remedial+mlros"', '"remedial+plan_home.Mine"'))
    read_plan(plan_file).check()
    plan_file.write_text(TOML.replace('"remedial+mlros"', '"plan_home.Nobody"'))
    with pytest.raises(PlanError, match=r"There is no resampler 'plan_home\.Nobody'"):
        read_plan(plan_file).check()


def test_the_revision_of_a_splitter_is_part_of_the_key(monkeypatch):
    parts = (Component("none"), Component("br"), Component("kfold"))
    before = code_versions(*parts)
    monkeypatch.setattr(RepeatedKFold, "revision", 3, raising=False)
    assert code_versions(*parts) == {**before, "kfold": "3"}


def test_a_file_of_labels_is_named_relative_to_its_plan(plan_file, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "films.xml").rename(tmp_path / "elsewhere" / "labels.xml")
    plan_file.write_text(
        'datasets = [{name = "films.arff", labels = "elsewhere/labels.xml"}]\n'
        'classifiers = ["none"]\nsplitter = {name = "kfold", n_splits = 2, n_repeats = 1}\n'
    )
    plan = read_plan(plan_file)
    with Store(tmp_path / "a.db") as store:
        assert run(plan, store, n_jobs=0).n_done == 2
        before = plan_cells(plan, store)
        text = moved.read_text()
        first = text.index("<label ")
        moved.write_text(text[:first] + text[text.index("<label ", first + 1) :])
        after = plan_cells(plan, store)  # one label fewer: another data set
    assert before[0].dataset_checksum != after[0].dataset_checksum


def test_an_unreadable_data_set_is_refused_with_its_reason(plan_file, tmp_path):
    (tmp_path / "films.arff").write_text(ARFF + "1,short,1\n")
    plan = read_plan(plan_file)
    plan.check()
    with pytest.raises(PlanError, match=r"nothing was run. films.arff: .*films.arff, line 7"):
        plan_cells(plan)


def test_checksums_are_remembered_until_a_file_changes(plan_file, tmp_path, monkeypatch):
    plan = read_plan(plan_file)
    with Store(tmp_path / "a.db") as store:
        keys = [cell.key for cell in plan_cells(plan, store)]
        with monkeypatch.context() as patch:
            patch.setattr("scumble.experiment.components.load_dataset", None)
            assert [cell.key for cell in plan_cells(plan, store)] == keys
        (tmp_path / "films.xml").write_text(XML.replace("'war'/", "'war' /"))
        assert [cell.key for cell in plan_cells(plan, store)] == keys


def test_the_estimate_uses_what_was_measured(plan_file, tmp_path):
    from scumble.experiment import Result

    cells = plan_cells(read_plan(plan_file))
    with Store(tmp_path / "a.db") as store:
        guess = estimate_runtime(cells, store)
        assert (guess.n_cells, guess.n_done, guess.n_measured) == (24, 0, 0)
        store.add(cells)
        store.register()
        for cell in cells:
            if cell.fold == 0 and cell.seed == 1:
                store.claim([cell.key])
                store.finish(cell.key, Result({"f1": 1.0}), seconds=10.0, megabytes=1.0)
        known = estimate_runtime(cells, store, n_jobs=2)
    assert (known.n_done, known.n_measured, known.seconds) == (6, 18, 90.0)


def test_a_smaller_plan_has_some_of_the_cells(plan_file):
    plan = read_plan(plan_file)
    small = plan.select(resamplers=["none"], classifiers=["br"])
    assert {cell.key for cell in plan_cells(small)} < {cell.key for cell in plan_cells(plan)}
    with pytest.raises(PlanError, match="no 'eps' among its classifiers"):
        plan.select(classifiers=["eps"])


def test_parts_are_equal_by_what_they_say():
    assert Component("br") == Component("br", {}, "br")
    assert hash(Component("a", {"b": [1]})) == hash(Component("a", {"b": [1]}))
    assert Plan(datasets="debtags", classifiers="br").resamplers == (Component("none"),)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "experiments").glob("*.toml")), ids=lambda p: p.stem
)
def test_the_plans_of_the_repository_can_be_run(path, monkeypatch):
    monkeypatch.syspath_prepend(path.parent)  # dotted names of their own
    read_plan(path).check()
