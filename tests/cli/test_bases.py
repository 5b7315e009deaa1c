"""``--base``: a classifier of any package inside one of ours, in every command that learns."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import scumble
from scumble.evaluate import compare, cross_validate
from scumble.experiment import Component, Plan
from scumble.experiment.components import make_classifier as make_of_part
from scumble.experiment.plan import get_components
from scumble.learn import (
    HOMER,
    BinaryRelevance,
    C45Classifier,
    ClassifierChain,
    load as load_model,
    make_classifier,
)
from tests.cli.test_cli import run

LOGISTIC = "sklearn.linear_model.LogisticRegression"
FOREST = "sklearn.ensemble.RandomForestClassifier"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "small.parquet"
    data = scumble.make_multilabel(80, 5, cardinality=1.8, mean_ir=4, scumble=0.1, random_state=0)
    scumble.write(data, path)
    return path


def test_evaluate(capsys, file):
    call = ("evaluate", file, "-c", "br", "--base", LOGISTIC, "--param", "base.C=0.1",
            "--param", "class_weight=balanced", "--folds", "3", "--seed", 1)  # fmt: skip
    told = json.loads(run(capsys, *call, "--json")[0])
    model = BinaryRelevance(LogisticRegression(C=0.1), class_weight="balanced")
    expected = cross_validate(scumble.read(file), model, splitter=3, random_state=1)
    assert told["base"] == LOGISTIC
    assert told["metrics"]["macro_f1"]["folds"] == expected["macro_f1"].values.tolist()
    assert run(capsys, *call)[0].startswith("synthetic: br of LogisticRegression, 3 folds")


def test_compare_gives_it_to_those_that_have_one(capsys, file):
    call = ("compare", file, "-c", "br,rare,cc(base=c45,base.confidence=0.1),br(base.C=0.1)",
            "--base", LOGISTIC, "--folds", "2", "--seed", 1, "--json")  # fmt: skip
    told = json.loads(run(capsys, *call)[0])
    models = {
        f"br(base={LOGISTIC})": BinaryRelevance(LogisticRegression()),
        "rare": make_classifier("rare"),
        "cc(base=c45,base.confidence=0.1)": ClassifierChain(C45Classifier(confidence=0.1)),
        f"br(base.C=0.1, base={LOGISTIC})": BinaryRelevance(LogisticRegression(C=0.1)),
    }
    assert [method["name"] for method in told["methods"]] == list(models)
    expected = compare(scumble.read(file), models, folds=2, random_state=1).to_dict()
    assert told["methods"][0]["means"] == expected["methods"][0]["means"]
    assert [one["difference"] for one in told["differences"]] == [
        one["difference"] for one in expected["differences"]
    ]
    _, err = run(capsys, "compare", file, "-c", "rare,mlknn", "--base", LOGISTIC, code=2)
    assert "None of rare, mlknn takes the base" in err


def test_train_and_predict(capsys, file, tmp_path):
    out = tmp_path / "a.model"
    forest = ("--base", FOREST, "--param", "base.n_estimators=3")
    run(capsys, "train", file, out, "-c", "br", *forest, "--seed", 5)
    data = scumble.read(file)
    model = BinaryRelevance(RandomForestClassifier(3, random_state=5)).fit(data.X, data.Y)
    found = load_model(out)
    np.testing.assert_array_equal(found.predict_proba(data.X), model.predict_proba(data.X))
    run(capsys, "predict", out, file, tmp_path / "answers.csv")


def test_bases_of_bases_and_names_of_ours():
    made = make_classifier(
        "homer", base="br", n_clusters=2, **{"base.base": LOGISTIC, "base.base.C": 0.5}
    )
    assert repr(made) == repr(HOMER(BinaryRelevance(LogisticRegression(C=0.5)), n_clusters=2))
    assert make_classifier("br", base=None).estimator is None
    each = make_classifier("sklearn.multioutput.MultiOutputClassifier", base=LOGISTIC)
    assert repr(each) == "MultiOutputClassifier(estimator=LogisticRegression())"
    assert isinstance(make_classifier("br", base="C45").estimator, C45Classifier)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-c", "mlknn", "--base", LOGISTIC], "'mlknn' has no base"),
        (["-c", "br", "--base", "nonesuch"], "no classifier 'nonesuch'"),
        (["-c", "br", "--base", "sklearn.linear_model.Nonesuch"], "There is no classifier"),
        (["-c", "br", "--param", "base.C=1"], "'base.C' of the classifier 'br' needs the name"),
        (["-c", "br", "--base", LOGISTIC, "--param", "base.c=1"], "has no parameter 'c'"),
        (["-c", "br", "--base", LOGISTIC, "--param", "base.C=-1"], "--param C of Logistic"),
        (["-c", "br", "--base", LOGISTIC, "--param", "base.C=much"], "--param C of Logistic"),
        (
            ["-c", "br", "--base", "sklearn.linear_model.Ridge"],
            "--param estimator of BinaryRel",
        ),
        (["-c", "br", "--base", "sklearn.naive_bayes.MultinomialNB"], "Negative values in data"),
        (["-c", "br", "--base", "sklearn.multioutput.MultiOutputClassifier"], "without more"),
    ],
)
def test_mistakes_are_explained(capsys, file, words, message):
    _, err = run(capsys, "evaluate", file, *words, "--folds", "2", code=2)
    assert message in err
    assert "Traceback" not in err


def test_plans(tmp_path):
    text = (
        'name = "bases"\ndatasets = ["debtags"]\nclassifiers = [\n'
        f'  {{name = "br", base = "{LOGISTIC}"}},\n'
        f'  {{name = "br", base = {{name = "{LOGISTIC}", C = 0.1}}, label = "weak"}},\n'
        '  {name = "homer", base = {name = "br", base = "sklearn.naive_bayes.GaussianNB"}},\n'
        f'  {{name = "br", estimator = {{name = "{LOGISTIC}", C = 9}}, label = "strong"}},\n]\n'
    )
    (tmp_path / "plan.toml").write_text(text)
    plan = scumble.experiment.read_plan(tmp_path / "plan.toml")
    plan.check()
    parts = get_components(plan, "classifiers")
    made = [make_of_part(part, seed=0) for part in parts]
    assert repr(made[1].estimator) == repr(LogisticRegression(C=0.1, random_state=0))
    assert isinstance(made[2].classifier.estimator, GaussianNB)
    assert parts[0].label == f"br(base={LOGISTIC})"
    # One classifier, one key.
    assert parts[0].spec == Component("br", {"estimator": {"name": LOGISTIC}}).spec
    assert get_components(Plan(["debtags"], [Component("br", {"base": LOGISTIC})]), "classifiers")[
        0
    ].spec == (parts[0].spec)
    for wrong, message in (
        ({"base": 3}, "'base' must be a name, or a table with a 'name'. Got 3"),
        (
            {"base": LOGISTIC, "estimator": {"name": "c45"}},
            "'base' and 'estimator' of 'br' are the same",
        ),
    ):
        with pytest.raises(scumble.ScumbleError, match=message):
            Plan(["debtags"], [{"name": "br", **wrong}])
    with pytest.raises(scumble.ScumbleError, match="MLkNN has no parameter 'estimator'"):
        Plan(["debtags"], [{"name": "mlknn", "base": LOGISTIC}]).check()
