"""The metrics as a patient reader of the definitions would write them, one cell at a time."""

import math

import numpy as np


def mean(values, policy, mulan, *, skipped=False):
    """Average (value or None) under the policy; ``mulan`` has one value per None or is one."""
    kept = []
    for at, value in enumerate(values):
        if value is not None:
            kept.append(value)
        elif policy == "mulan" and not skipped:
            kept.append(mulan[at] if isinstance(mulan, list) else mulan)
        elif policy not in ("mulan", "ignore"):
            kept.append(policy)
    return sum(kept) / len(kept) if kept else math.nan


def divide(a, b):
    return None if b == 0 else a / b


def counted(truth, said):
    tp = sum(1 for t, s in zip(truth, said, strict=True) if t and s)
    fp = sum(1 for t, s in zip(truth, said, strict=True) if s and not t)
    fn = sum(1 for t, s in zip(truth, said, strict=True) if t and not s)
    return tp, fp, fn, len(truth) - tp - fp - fn


def rates(units, policy):
    """Precision, recall, f1, accuracy, specificity of units, averaged."""
    found = {name: ([], []) for name in ("precision", "recall", "f1", "accuracy", "specificity")}
    for tp, fp, fn, tn in units:
        nothing = 1.0 if tp + fp + fn == 0 else 0.0
        for name, value, stand_in in (
            ("precision", divide(tp, tp + fp), nothing),
            ("recall", divide(tp, tp + fn), nothing),
            ("f1", divide(2 * tp, 2 * tp + fp + fn), 1.0),
            ("accuracy", divide(tp, tp + fp + fn), 1.0),
            ("specificity", divide(tn, tn + fp), 1.0 if tn + fp + fn == 0 else 0.0),
        ):
            found[name][0].append(value)
            found[name][1].append(stand_in)
    return {name: mean(values, policy, mulan) for name, (values, mulan) in found.items()}


def bipartition(Y, Z, policy="mulan"):
    n, q = Y.shape
    rows = [counted(Y[i], Z[i]) for i in range(n)]
    columns = [counted(Y[:, j], Z[:, j]) for j in range(q)]
    everything = [tuple(map(sum, zip(*rows, strict=True)))]
    by_row, by_label = rates(rows, policy), rates(columns, policy)
    in_all = rates(everything, policy)
    keys = ("precision", "recall", "f1", "specificity")
    return {
        "hamming_loss": sum(fp + fn for _, fp, fn, _ in rows) / (n * q),
        "subset_accuracy": sum(fp + fn == 0 for _, fp, fn, _ in rows) / n,
        **by_row,
        **{f"macro_{key}": by_label[key] for key in keys},
        **{f"micro_{key}": in_all[key] for key in keys},
        "never_predicted": never_predicted(columns),
    }


def never_predicted(columns):
    occurring = [tp + fp == 0 for tp, fp, fn, _ in columns if tp + fn]
    return sum(occurring) / len(occurring) if occurring else math.nan


def ranks_of(line, ties):
    """Give each label its rank, 1 being the best."""
    q = len(line)
    if ties == "mulan":  # stable ascending sort, read from the end: higher index first
        order = sorted(range(q), key=lambda j: line[j])
        return [q - order.index(j) for j in range(q)]
    above = [sum(other > value for other in line) for value in line]
    tied = [sum(other == value for other in line) for value in line]
    if ties == "worst":
        return [a + t for a, t in zip(above, tied, strict=True)]
    return [a + (t + 1) / 2 for a, t in zip(above, tied, strict=True)]


def ranking_of_row(truth, line, ties):
    relevant = [j for j in range(len(truth)) if truth[j]]
    others = [j for j in range(len(truth)) if not truth[j]]
    if not relevant:
        return dict.fromkeys(("one_error", "ranking_loss", "coverage", "average_precision"))
    ranks = ranks_of(line, ties)
    among = dict(zip(relevant, ranks_of([line[j] for j in relevant], ties), strict=True))
    wrong = 0.0
    for a in relevant:
        for b in others:
            tie = {"mulan": float(b > a), "average": 0.5, "worst": 1.0}[ties]
            wrong += 1.0 if line[b] > line[a] else tie if line[b] == line[a] else 0.0
    best = [j for j in range(len(truth)) if line[j] == max(line)]
    share = sum(not truth[j] for j in best) / len(best)
    top = {"mulan": float(not truth[best[-1]]), "average": share, "worst": float(share > 0)}[ties]
    return {
        "one_error": top,
        "wrong": wrong,
        "ranking_loss": divide(wrong, len(relevant) * len(others)),
        "coverage": max(ranks[j] for j in relevant) - 1,
        "average_precision": sum(among[j] / ranks[j] for j in relevant) / len(relevant),
    }


def auc(truth, scores):
    pairs = [(p, n) for p, t in zip(scores, truth, strict=True) if t
             for n, u in zip(scores, truth, strict=True) if not u]  # fmt: skip
    if not pairs:
        return None
    return sum(1.0 if p > n else 0.5 if p == n else 0.0 for p, n in pairs) / len(pairs)


def precisions_of_label(truth, scores, *, grouped):
    """Give the precision at each relevant row, from the best to the worst."""
    order = sorted(range(len(truth)), key=lambda i: -scores[i])
    found = []
    for place, i in enumerate(order, 1):
        if truth[i] and grouped:
            taken = [k for k in order if scores[k] >= scores[i]]
            found.append(sum(truth[k] for k in taken) / len(taken))
        elif truth[i]:
            found.append(sum(truth[k] for k in order[:place]) / place)
    return found


def interpolated(precisions):
    n = len(precisions)
    best = []
    for level in range(10):
        reached = [p for at, p in enumerate(precisions, 1) if at * 9 >= level * n]
        best.append(max(reached))
    return sum(best) / 10


def geometric(values, policy):
    if any(value is None for value in values):
        if policy == "mulan":
            return math.nan
        values = [
            v if v is not None else policy for v in values if v is not None or policy != "ignore"
        ]
    if not values:
        return math.nan
    return math.prod(values) ** (1 / len(values))


def ranking(Y, S, policy="mulan", ties="mulan"):
    n, q = Y.shape
    rows = [ranking_of_row(Y[i], S[i], ties) for i in range(n)]
    wrong = [row.get("wrong", 0.0) for row in rows]
    curves = [precisions_of_label(Y[:, j], S[:, j], grouped=ties != "mulan") for j in range(q)]
    steps = [precisions_of_label(Y[:, j], S[:, j], grouped=True) for j in range(q)]
    ap = [sum(c) / len(c) if c else None for c in curves]
    aip = [interpolated(c) if c else None for c in curves]
    area = [sum(c) / len(c) if c else None for c in steps]
    aucs = [auc(Y[:, j], S[:, j]) for j in range(q)]
    return {
        "one_error": mean([r["one_error"] for r in rows], policy, 1.0),
        "ranking_loss": mean([r["ranking_loss"] for r in rows], policy, 0.0),
        "coverage": mean([r["coverage"] for r in rows], policy, 0.0),
        "average_precision": mean([r["average_precision"] for r in rows], policy, 0, skipped=True),
        "is_error": sum(w > 0 for w in wrong) / n,
        "error_set_size": sum(wrong) / n,
        "example_auc": mean([auc(Y[i], S[i]) for i in range(n)], policy, 0.5),
        "macro_auc": mean(aucs, policy, math.nan),
        "micro_auc": mean([auc(Y.ravel(), S.ravel())], policy, math.nan),
        "macro_auc_pr": mean(area, policy, math.nan),
        "mean_average_precision": mean(ap, policy, 0, skipped=True),
        "geometric_mean_average_precision": geometric(ap, policy),
        "mean_average_interpolated_precision": mean(aip, policy, 0, skipped=True),
        "geometric_mean_average_interpolated_precision": geometric(aip, policy),
    }


def probability(Y, S):
    clipped = np.clip(S, 1e-8, 1 - 1e-8)
    losses = [-math.log(c if t else 1 - c) for t, c in zip(Y.flat, clipped.flat, strict=True)]
    squares = [(s - t) ** 2 for t, s in zip(Y.astype(float).flat, S.flat, strict=True)]
    return {"log_loss": sum(losses) / len(Y), "mean_squared_error": sum(squares) / Y.size}
