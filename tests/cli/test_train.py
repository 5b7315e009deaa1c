import json
import os

import numpy as np
import pandas as pd
import pytest

import scumble
from scumble import MultilabelDataset
from scumble.data import Feature
from scumble.learn import MLkNN, fit_dataset, load, make_classifier, read_model, save
from scumble.resample import REMEDIAL
from tests.cli.test_cli import run


@pytest.fixture
def photos():
    """Sixty rows with a nominal feature; two labels follow the features."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.random(60), rng.integers(0, 3, 60)])
    Y = np.column_stack([X[:, 0] > 0.5, X[:, 1] == 2, rng.random(60) < 0.1])
    features = [Feature("blue"), Feature("scene", "nominal", ("city", "land", "sea"))]
    return MultilabelDataset(
        X, Y, features=features, labels=["sky", "water", "ship"], name="photos"
    )


@pytest.fixture
def folder(tmp_path, photos):
    scumble.write(photos, tmp_path / "photos.arff")
    return tmp_path


def trained(capsys, folder, *more):
    run(capsys, "train", folder / "photos.arff", folder / "m", "-c", "br", *more)
    return folder / "m"


def test_train_keeps_what_the_library_fits(capsys, folder, photos):
    out, _ = run(
        capsys, "train", folder / "photos.arff", folder / "m", "--classifier", "ecc", "--seed", 3,
        "--param", "n_estimators=4", "--resample", "remedial", "--json",
    )  # fmt: skip
    treated = REMEDIAL().resample(photos)
    expected = fit_dataset(make_classifier("ecc", n_estimators=4, random_state=3), treated)
    stored = read_model(folder / "m")

    assert (stored.model.predict_proba(photos.X) == expected.predict_proba(photos.X)).all()
    assert stored.model.categorical_features == {1: 3}
    assert stored.labels == ("sky", "water", "ship")
    assert stored.notes == {"classifier": "ecc", "resample": "remedial"}
    facts = json.loads(out)
    assert facts["classifier"] == "EnsembleOfClassifierChains"
    assert (facts["n_instances"], facts["n_trained_on"]) == (60, len(treated))
    assert facts["bytes"] == (folder / "m").stat().st_size


def test_every_classifier_can_be_trained_and_asked(capsys, folder):
    for name in scumble.catalogue.names("classifier"):
        run(capsys, "train", folder / "photos.arff", folder / "m", "-c", name, "--seed", 0)
        run(capsys, "predict", folder / "m", folder / "photos.arff", folder / "p.csv")
        expected = load(folder / "m").predict(scumble.read(folder / "photos.arff").X).toarray()
        assert (pd.read_csv(folder / "p.csv").to_numpy() == expected).all()


def test_predictions_as_tables(capsys, folder, photos):
    model = trained(capsys, folder)
    labels, sure = load(model).predict_both(photos.X)
    out, _ = run(capsys, "predict", model, folder / "photos.arff", folder / "p.csv", "--json")
    table = pd.read_csv(folder / "p.csv")
    run(capsys, "predict", model, folder / "photos.arff", folder / "p.parquet", "--probabilities")
    confidences = pd.read_parquet(folder / "p.parquet")

    assert list(table.columns) == list(confidences.columns) == ["sky", "water", "ship"]
    assert (table.to_numpy() == labels.toarray()).all()
    assert (confidences.to_numpy() == sure).all()
    facts = json.loads(out)
    assert facts["n_predicted"] == labels.sum()
    assert facts["cardinality"] == pytest.approx(labels.sum() / 60)
    assert [row["count"] for row in facts["labels"]] == labels.sum(axis=0).tolist()


def test_compressed_tables(capsys, folder):
    model = trained(capsys, folder)
    run(capsys, "predict", model, folder / "photos.arff", folder / "p.csv")
    run(capsys, "predict", model, folder / "photos.arff", folder / "p.csv.gz")
    assert pd.read_csv(folder / "p.csv.gz").equals(pd.read_csv(folder / "p.csv"))


@pytest.mark.parametrize("form", ["csv", "parquet", "arff", "list"])
@pytest.mark.parametrize("with_labels", [True, False])
def test_data_with_or_without_labels_in_any_order(capsys, folder, photos, form, with_labels):
    model = trained(capsys, folder)
    expected = load(model).predict(photos.X).toarray()
    frame = photos.to_frame()
    columns = ["scene", "extra", "blue", *(photos.labels if with_labels else [])]
    frame = frame.assign(extra=1.0)[columns]
    path = folder / f"new.{'csv' if form == 'list' else form}"
    if form == "arff":
        whole = MultilabelDataset.from_frame(frame, label_columns=list(photos.labels)
                                             if with_labels else [])  # fmt: skip
        if with_labels:
            scumble.write(whole, path)
        else:
            lines = ["@relation new", "@attribute scene {sea,land,city}",
                     "@attribute extra numeric", "@attribute blue numeric", "@data"]  # fmt: skip
            rows = frame.itertuples(index=False)
            path.write_text("\n".join(lines + [f"{r[0]},{r[1]},{r[2]!r}" for r in rows]))
    elif form == "parquet":
        frame.to_parquet(path)
    else:
        if form == "list" and with_labels:
            tags = [[n for n in photos.labels if row[n]] for _, row in frame.iterrows()]
            frame = frame.drop(columns=list(photos.labels)).assign(tags=[str(t) for t in tags])
        frame.to_csv(path, index=False)
    run(capsys, "predict", model, path, folder / "p.csv")
    assert (pd.read_csv(folder / "p.csv").to_numpy() == expected).all()


@pytest.mark.parametrize("asked", [[], ["--ignore", "1"]])
def test_columns_of_tables_without_a_header_are_found_by_place(capsys, folder, asked):
    values = [(n % 10 / 10 + 0.05, n * 7 % 10 / 10 + 0.05, n * 3 % 11 / 11) for n in range(90)]
    truth = ["u" if b < 0.5 else "v" for _, _, b in values]
    rows = [",".join(f"{value:.3f}" for value in row) for row in values]
    told = "".join(f"{row},{label}\n" for row, label in zip(rows, truth, strict=True))
    (folder / "told.csv").write_text(told)
    (folder / "new.csv").write_text("\n".join(rows) + "\n")
    run(
        capsys, "train", folder / "told.csv", folder / "m", "-c", "br", "--ignore", "1",
        "--label-column", "3", "--label-separator", "|",
    )  # fmt: skip

    run(capsys, "predict", folder / "m", folder / "new.csv", folder / "p.csv", *asked)

    told_back = pd.read_csv(folder / "p.csv")
    assert list(told_back) == ["u", "v"]
    assert told_back["u"].tolist() == [int(label == "u") for label in truth]
    assert told_back["v"].tolist() == [int(label == "v") for label in truth]


def test_a_table_without_a_header_lacks_the_place_of_a_column(capsys, folder):
    (folder / "told.csv").write_text("".join(f"0.{n},{n % 2},0.{9 - n}\n" for n in range(1, 9)))
    (folder / "new.csv").write_text("0.1,0.2\n0.3,0.4\n")
    run(capsys, "train", folder / "told.csv", folder / "m", "-c", "br", "--labels", "1,")

    _, told = run(capsys, "predict", folder / "m", folder / "new.csv", folder / "p.csv", code=2)

    assert "lacks 1 of the 2 columns the model was fitted on: 'x2'." in told
    assert "named by its place, x0 being the first" in told
    assert not (folder / "p.csv").exists()


def test_codes_that_gaps_made_decimal_are_the_same_codes(capsys, folder):
    rows = [(n % 3 + 1, "u" if n % 3 == 1 else "v") for n in range(60)]
    call = ("evaluate", folder / "train.csv", "-c", "br", "--category", "code", "--json")
    call += ("--label-column", "tags", "--label-separator", "|", "--test")
    judged = []
    for name, decimals in (("train", ""), ("plain", ""), ("decimal", ".0")):
        lines = "".join(f"{code}{decimals},{tag}\n" for code, tag in rows)
        gap = "" if name == "train" else ",v\n"
        (folder / f"{name}.csv").write_text(f"code,tags\n{lines}{gap}")
    for name in ("plain", "decimal"):
        out, err = run(capsys, *call, folder / f"{name}.csv")
        assert "not seen" not in err
        judged.append(json.loads(out)["metrics"])
    assert judged[0] == judged[1]


def test_dates_written_as_numbers_are_refused(capsys, folder):
    days = [f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d}" for n in range(60)]
    told = "".join(f"{day},{'early' if day < '2024-07' else 'late'}\n" for day in days)
    (folder / "told.csv").write_text("day,tags\n" + told)
    for name, rows in (("days", days), ("numbers", [day.replace("-", "") for day in days])):
        (folder / f"{name}.csv").write_text("day\n" + "\n".join(rows) + "\n")
    run(
        capsys, "train", folder / "told.csv", folder / "m", "-c", "br",
        "--label-column", "tags", "--label-separator", "|",
    )  # fmt: skip

    run(capsys, "predict", folder / "m", folder / "days.csv", folder / "p.csv")
    early = pd.read_csv(folder / "p.csv")["early"]
    assert early.tolist() == [int(day < "2024-07") for day in days]

    _, err = run(capsys, "predict", folder / "m", folder / "numbers.csv", folder / "q.csv", code=2)
    assert "Column 'day'" in err
    assert "numbers, 20240101 in row 0. Expected dates such as 2024-05-31" in err
    assert not (folder / "q.csv").exists()


def test_a_data_set_with_the_predicted_labels(capsys, folder, photos):
    model = trained(capsys, folder)
    run(capsys, "predict", model, folder / "photos.arff", folder / "new.arff", "--whole")
    found = scumble.read(folder / "new.arff")
    assert found.features == photos.features
    assert found.labels == photos.labels
    assert (found.Y != load(model).predict(photos.X)).nnz == 0

    # Without labels of its own, and with its labels read as features.
    photos.to_frame().to_csv(folder / "plain.csv", index=False)
    run(capsys, "predict", model, folder / "plain.csv", folder / "n.parquet", "--whole")
    again = scumble.read(folder / "n.parquet")
    assert again.feature_names == ("blue", "scene")
    assert (again.Y != found.Y).nnz == 0


def test_models_of_the_library_can_be_asked(capsys, folder, photos):
    # Fitted on arrays: columns have no names, so their order and number count.
    codes = photos.categorical_features
    classes = np.array(["a", "b"])[photos.Y.toarray()[:, 0].astype(int)]
    save(MLkNN(categorical_features=codes).fit(photos.X, classes), folder / "m")
    run(capsys, "predict", folder / "m", folder / "photos.arff", folder / "p.csv")
    table = pd.read_csv(folder / "p.csv")
    assert list(table.columns) == ["a", "b"]
    assert (table.sum(axis=1) == 1).all()
    assert (np.where(table["b"] == 1, "b", "a") == load(folder / "m").predict(photos.X)).all()

    X, Y = photos.to_frame()[["blue", "scene"]], photos.to_frame()[["sky", "water", "ship"]]
    model = MLkNN().fit(X, Y)
    save(model, folder / "m")
    run(capsys, "predict", folder / "m", folder / "photos.arff", folder / "p.csv")
    assert (pd.read_csv(folder / "p.csv").to_numpy() == model.predict(X).to_numpy()).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "photos.arff", "x"], "--classifier"),
        (["train", "photos.arff", "x", "-c", "bt"], "There is no classifier 'bt'"),
        (["train", "photos.arff", "x", "-c", "br", "--param", "k=3"], "has no parameter 'k'"),
        (["train", "photos.arff", "x", "-c", "mlknn", "--param", "n_neighbors=0"], "n_neighbors"),
        (["train", "photos.arff", "x", "-c", "br", "-r", "smote"], "no resampler 'smote'"),
        (["train", "nothing.arff", "x", "-c", "br"], "no such file"),
        (["predict", "photos.arff", "photos.arff", "x.csv"], "not a model of scumble"),
        (["predict", "m", "other.csv", "x.csv"], "lacks 1 of the 2 columns"),
        (["predict", "m", "wrong.csv", "x.csv"], "Row 1 of the data holds 'moon' in column 'blue'"),
        (["predict", "m", "photos.arff", "x.arff"], "written as .csv"),
        (["predict", "m", "photos.arff", "x.csv", "--to", "csv"], "needs --whole"),
        (["predict", "m", "photos.arff", "x.csv", "--whole", "-p"], "cannot store --probabilities"),
        (["predict", "m", "nothing.csv", "x.csv"], "no such file"),
    ],
)
def test_mistakes_are_explained(capsys, folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    trained(capsys, folder)
    (folder / "other.csv").write_text("blue,size\n0.5,3\n0.1,4\n")
    (folder / "wrong.csv").write_text("blue,scene\n0.5,sea\nmoon,sea\n")
    before = sorted(os.listdir(folder))
    _, err = run(capsys, *arguments, code=2)
    assert message in err
    assert sorted(os.listdir(folder)) == before


def test_what_training_has_not_seen_is_missing_for_predict_and_for_a_test_part(capsys, folder):
    trained(capsys, folder)
    (folder / "new.csv").write_text(
        "blue,scene,sky,water,ship\n0.9,sea,1,1,0\n0.1,moon,0,0,0\n0.8,moon,1,0,0\n"
    )
    (folder / "gaps.csv").write_text((folder / "new.csv").read_text().replace("moon", ""))
    call = ("evaluate", folder / "photos.arff", "-c", "br", "--json", "-l", "sky,water,ship")
    told, judged = [], []
    for name in ("new", "gaps"):
        _, err = run(
            capsys, "predict", folder / "m", folder / f"{name}.csv", folder / f"{name}-p.csv"
        )
        told.append(err)
        out, err = run(capsys, *call, "--test", folder / f"{name}.csv")
        told.append(err)
        judged.append(json.loads(out)["metrics"])
    for err in told[:2]:
        assert "not seen count as missing: 'scene' in 2 of 3 rows, such as 'moon' in row 1" in err
    assert told[2:] == ["", ""]
    assert (folder / "new-p.csv").read_text() == (folder / "gaps-p.csv").read_text()
    assert judged[0] == judged[1]


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "compare"])
def test_a_base_that_takes_no_missing_values_says_so(capsys, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    base = ("--base", "sklearn.linear_model.LogisticRegression")
    trained(capsys, folder, *base)
    rows = "".join(f"0.{at},sea,{at % 2},1,0\n" for at in range(1, 9))
    (folder / "gaps.csv").write_text(f"blue,scene,sky,water,ship\n,sea,1,0,0\n{rows}")
    call = {
        "train": ["train", "gaps.csv", "n", "-c", "br", *base, "-l", "sky,water"],
        "predict": ["predict", "m", "gaps.csv", "x.csv"],
        "evaluate": ["evaluate", "gaps.csv", "-c", "br", *base, "--folds", 2, "-l", "sky,water"],
        "compare": ["compare", "gaps.csv", "-c", "br", *base, "--folds", 2, "-l", "sky,water"],
    }[command]
    _, err = run(capsys, *call, code=2)
    assert "Values are missing, and the classifier takes none such" in err
    assert "such as sklearn.ensemble.HistGradientBoostingClassifier" in err
