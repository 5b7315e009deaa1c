"""The statements: one list for every engine.

All measures of an instance follow from its labelset, so the data is read once, to count the
labelsets. Everything after that works on the table of distinct labelsets, which is smaller, and
on the table of labels, which is smaller still. Names in braces are filled in as the work goes;
``NAME!(argument)`` is spelled by the engine's dialect. Joins on labelsets carry a hint that is a
comment to DuckDB: Spark would sort them, and comparing lists is slow, where hashing them is not.
"""

#: One row per instance from (instance, label) rows; a null label says "this instance exists".
ROWS_FROM_PAIRS = """
SELECT {ids}, CANONICAL!(collected) AS labels
FROM (SELECT {ids}, array_agg({label}) AS collected FROM {source} GROUP BY {ids})
"""

ROWS_FROM_LISTS = "SELECT {ids_first}{label} AS labels FROM {source}"

#: How often each labelset occurs, spelled as in the data.
RAW_LABELSETS = """
SELECT SET_KEY!(raw) AS set_id, raw, n
FROM (SELECT labels AS raw, count(*) AS n FROM {rows} GROUP BY SET_GROUP!(labels))
"""

COUNT_NONCANONICAL = (
    "SELECT count(*) AS n FROM {raw_sets} WHERE raw IS DISTINCT FROM CANONICAL!(raw)"
)

#: The labelsets where the data spells them in one way only ...
LABELSETS_IF_CANONICAL = "SELECT set_id, raw AS labels, n FROM {raw_sets}"

#: ... and where order, duplicates, nulls or missing lists give one labelset several spellings.
CANONICAL_LABELSETS = """
SELECT SET_KEY!(labels) AS set_id, labels, n
FROM (
  SELECT CANONICAL!(raw) AS labels, CAST(sum(n) AS BIGINT) AS n FROM {raw_sets} GROUP BY labels
)
"""

LABELSET_TOTALS = """
SELECT
  CAST(coalesce(sum(n), 0) AS BIGINT) AS n_instances,
  count(*) AS n_labelsets,
  CAST(coalesce(sum(n * SIZE!(labels)), 0) AS BIGINT) AS n_assignments,
  CAST(coalesce(max(n), 0) AS BIGINT) AS max_labelset_count,
  count(CASE WHEN n = 1 THEN 1 END) AS n_single_labelsets,
  CAST(coalesce(sum(CASE WHEN SIZE!(labels) = 1 THEN n END), 0) AS BIGINT) AS n_one_label,
  CAST(coalesce(sum(CASE WHEN SIZE!(labels) = 0 THEN n END), 0) AS BIGINT) AS n_unlabelled
FROM {sets}
"""

LABEL_COUNTS = """
SELECT label, CAST(sum(n) AS BIGINT) AS n
FROM (SELECT n, UNNEST!(labels) AS label FROM {sets})
GROUP BY label
"""

#: IRLbl, its logarithm, and whether the label is a minority one.
RATIOS = """
SELECT label, n, ratio, ln(ratio) AS log_ratio, ratio > CAST('{mean_ir}' AS DOUBLE) AS rare
FROM (
  SELECT label, n, CAST(most AS DOUBLE) / n AS ratio
  FROM {label_counts} CROSS JOIN (SELECT max(n) AS most FROM {label_counts})
)
"""


def score_of(k: str, ratio_sum: str, log_sum: str) -> str:
    """Write SCUMBLE of an instance from sums over its labels; one label scores exactly 0."""
    return (
        f"CASE WHEN {k} <= 1 THEN CAST(0 AS DOUBLE) ELSE "
        f"greatest(CAST(0 AS DOUBLE), 1 - exp({log_sum} / {k}) / ({ratio_sum} / {k})) END"
    )


WHOLE = ("n_rare + n_frequent", "rare_sum + frequent_sum", "rare_log + frequent_log")

#: The score of every labelset, and those of its rare and its frequent labels alone.
LABELSET_SCORES = f"""
SELECT /*+ SHUFFLE_HASH(t) */
       s.set_id, s.labels, s.n, coalesce(t.n_rare, 0) AS n_rare,
       coalesce(t.n_frequent, 0) AS n_frequent,
       coalesce(t.score, CAST(0 AS DOUBLE)) AS score,
       coalesce(t.rare_score, CAST(0 AS DOUBLE)) AS rare_score,
       coalesce(t.frequent_score, CAST(0 AS DOUBLE)) AS frequent_score
FROM {{sets}} s LEFT JOIN (
  SELECT set_id, n_rare, n_frequent,
         {score_of(*(f"({part})" for part in WHOLE))} AS score,
         {score_of("n_rare", "rare_sum", "rare_log")} AS rare_score,
         {score_of("n_frequent", "frequent_sum", "frequent_log")} AS frequent_score
  FROM (
    SELECT u.set_id,
           count(CASE WHEN r.rare THEN 1 END) AS n_rare,
           count(CASE WHEN NOT r.rare THEN 1 END) AS n_frequent,
           sum(CASE WHEN r.rare THEN r.ratio ELSE 0 END) AS rare_sum,
           sum(CASE WHEN r.rare THEN 0 ELSE r.ratio END) AS frequent_sum,
           sum(CASE WHEN r.rare THEN r.log_ratio ELSE 0 END) AS rare_log,
           sum(CASE WHEN r.rare THEN 0 ELSE r.log_ratio END) AS frequent_log
    FROM (SELECT set_id, UNNEST!(labels) AS label FROM {{sets}}) u
    JOIN {{ratios}} r ON u.label = r.label
    GROUP BY SET_GROUP!(u.set_id)
  )
) t ON s.set_id = t.set_id
"""

#: The labelsets again, where they are spelled in one way only: now from the scores.
LABELSETS_FROM_SCORES = "SELECT set_id, labels, n FROM {scored}"

SCORE_TOTAL = "SELECT coalesce(sum(n * score), 0) AS total FROM {scored}"

SCORE_SQUARES = """
SELECT coalesce(sum(n * (score - mean) * (score - mean)), 0) AS squares
FROM (SELECT n, score, CAST('{scumble}' AS DOUBLE) AS mean FROM {scored})
"""

#: SCUMBLELbl.
LABEL_MEANS = """
SELECT label, sum(n * score) / sum(n) AS mean
FROM (SELECT n, score, UNNEST!(labels) AS label FROM {scored})
GROUP BY label
"""

#: Squared deviations around it, for its coefficient of variation.
LABEL_SQUARES = """
SELECT u.label, max(m.mean) AS mean,
       sum(u.n * (u.score - m.mean) * (u.score - m.mean)) AS squares
FROM (SELECT n, score, UNNEST!(labels) AS label FROM {scored}) u
JOIN {label_means} m ON u.label = m.label
GROUP BY u.label
ORDER BY u.label
"""

#: The score of every row; rows without labels score 0.
INSTANCE_SCORES = """
SELECT /*+ SHUFFLE_HASH(t) */ {ids_first_r}coalesce(t.score, CAST(0 AS DOUBLE)) AS score
FROM {rows} r LEFT JOIN {scored_raw} t ON r.labels = t.raw
"""

#: The spellings of the labelsets in the data, with their scores.
RAW_SCORES_IF_CANONICAL = "SELECT labels AS raw, score FROM {scored}"
RAW_SCORES = """
SELECT w.raw, t.score
FROM (SELECT raw, CANONICAL!(raw) AS labels FROM {raw_sets} WHERE raw IS NOT NULL) w
JOIN {scored} t ON w.labels = t.labels
"""

#: The majority labels that chosen minority labels meet, and how often.
COOCCURRING_LABELS = """
SELECT a.label, b.label AS partner, CAST(sum(a.n) AS BIGINT) AS joint_count
FROM (
  SELECT x.set_id, x.n, x.label
  FROM (SELECT set_id, n, UNNEST!(labels) AS label FROM {sets}) x
  JOIN {chosen} c ON x.label = c.label
) a
JOIN (
  SELECT y.set_id, y.label
  FROM (SELECT set_id, UNNEST!(labels) AS label FROM {sets}) y
  JOIN {ratios} r ON y.label = r.label
  WHERE NOT r.rare
) b ON a.set_id = b.set_id
GROUP BY a.label, b.label
"""

#: The most frequent labelsets.
FREQUENT_LABELSETS = "SELECT labels, n FROM {sets} ORDER BY n DESC, labels LIMIT {limit}"

# REMEDIAL. Label counts never change, so neither do ratios and minority labels. A labelset has
# three scores: its own, and those of its two halves once it has been taken apart. So all passes
# are sums over the table of labelsets; the data itself is read once more, for the result.
# ``lowest`` is the lowest threshold of the passes before: a mixed set above it is in two halves.

IS_APART = "(n_rare > 0 AND n_frequent > 0 AND score > CAST('{lowest}' AS DOUBLE))"
IS_ONE_SIDED = "(n_rare = 0 OR n_frequent = 0)"

PASS_TOTAL = f"""
SELECT coalesce(sum(n * CASE WHEN {IS_APART} THEN rare_score + frequent_score ELSE score END), 0)
       AS total
FROM {{scored}}
"""

#: How many pieces of a labelset lie above the threshold.
PIECES_ABOVE = f"""
(CASE WHEN {IS_APART}
      THEN CASE WHEN rare_score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END
         + CASE WHEN frequent_score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END
      WHEN score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END)
"""

#: Those of them with only rare or only frequent labels: a copy of such a piece has no labels.
ONE_SIDED_ABOVE = f"(CASE WHEN {IS_APART} OR {IS_ONE_SIDED} THEN {PIECES_ABOVE} ELSE 0 END)"

PASS_COUNTS = f"""
SELECT
  CAST(coalesce(sum(n * {PIECES_ABOVE}), 0) AS BIGINT) AS n_above_mean,
  CAST(coalesce(sum(n * {ONE_SIDED_ABOVE}), 0) AS BIGINT) AS n_one_sided
FROM {{scored}}
"""

#: The labelsets that change: whether they come apart, and how many copies without labels they get.
CHANGED_LABELSETS = f"""
SELECT set_id, labels, is_apart, n_empty
FROM (SELECT set_id, labels, {IS_APART} AS is_apart, {{n_empty}} AS n_empty FROM {{scored}})
WHERE is_apart OR n_empty > 0
"""

#: The rare labels of those that come apart.
RARE_HALVES = """
SELECT u.set_id, array_sort(array_agg(u.label)) AS rare
FROM (SELECT set_id, UNNEST!(labels) AS label FROM {changed} WHERE is_apart) u
JOIN {ratios} r ON u.label = r.label
WHERE r.rare
GROUP BY SET_GROUP!(u.set_id)
"""

#: What becomes of each labelset that changes, under the spelling of the data.
LABELSET_SPLITS = """
SELECT /*+ SHUFFLE_HASH(h) */
       {raw} AS raw, h.rare, CASE WHEN c.is_apart THEN 2 ELSE 1 END + c.n_empty AS n_copies
FROM {changed} c {spellings}
LEFT JOIN {rare_halves} h ON c.set_id = h.set_id
"""
JOIN_RAW_LABELSETS = """
JOIN (SELECT raw, CANONICAL!(raw) AS labels FROM {raw_sets} WHERE raw IS NOT NULL) w
ON c.labels = w.labels
"""

#: The result, one row per instance: a row that changes appears once for each of its copies.
REMEDIAL_LISTS = """
SELECT {columns}
FROM (
  SELECT /*+ SHUFFLE_HASH(p) */
         {kept}{own} AS scumble_own, p.rare AS scumble_rare, c.copy AS scumble_copy
  FROM {source} s
  LEFT JOIN {parts} p ON {own} = p.raw
  JOIN {copies} c ON coalesce(p.n_copies, 1) = c.n_copies
)
"""

#: The labels of a copy: the rare ones, the others, or none. {clean} has no nulls or duplicates.
COPY_LABELS = """
CASE WHEN scumble_copy = 0 THEN coalesce(scumble_rare, scumble_own)
     WHEN scumble_copy = 1 AND scumble_rare IS NOT NULL THEN EXCEPT!({clean}, scumble_rare)
     ELSE EMPTY_LIKE!(scumble_own) END
"""

#: The result as (instance, clone, label) rows; an instance without labels has a null label.
PAIRS_FROM_LISTS = """
SELECT {ids}, {clone}, UNNEST!(shown) AS {label}
FROM (
  SELECT {ids}, {clone}, CASE WHEN SIZE!(labels) = 0 THEN NULL_LIKE!() ELSE labels END AS shown
  FROM ({lists})
)
"""

#: The other columns of (instance, label) rows follow their label.
PAIRS_WITH_OTHERS = """
SELECT {columns}
FROM ({placed}) d LEFT JOIN {source} s ON {same_ids} AND d.{label} IS NOT DISTINCT FROM s.{label}
"""

# LP-ROS and LP-RUS by hash: every draw follows from the seed and the instance's name.

HASHED_INSTANCES = "SELECT {ids}, CANONICAL!(labels) AS labels, md5({name}) AS hash FROM {rows}"
BAGS = "SELECT labels, min(hash) AS bag, count(*) AS size FROM {hashed} GROUP BY labels"
BAG_TOTALS = """
SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS n_rows, count(*) AS n_bags FROM {bags}
"""
OPEN_BAGS = "SELECT bag, size FROM {bags} WHERE {is_open} ORDER BY size {order}, bag"
RANKED_INSTANCES = """
SELECT {ids_h}, s.bag, s.size, s.share,
       row_number() OVER (PARTITION BY s.bag ORDER BY h.hash) AS place
FROM {hashed} h JOIN {bags} b ON h.labels = b.labels JOIN {shares} s ON b.bag = s.bag
"""
DROPPED_INSTANCES = "SELECT {ids} FROM {ranked} WHERE place <= share"
DRAWN_POSITIONS = """
SELECT bag, turn, HEX!(substr(md5(concat('{seed}:', bag, ':', CAST(turn AS STRING))), 1, 15)) % size
       AS place
FROM (SELECT bag, size, UP_TO!(share) AS turn FROM {shares} WHERE share > 0)
"""
CLONES = """
SELECT {ids_k}, row_number() OVER (PARTITION BY {ids_k} ORDER BY d.bag, d.turn) AS clone
FROM {drawn} d JOIN {ranked} k ON d.bag = k.bag AND d.place = k.place - 1
"""
WITHOUT_DROPPED = """
SELECT {columns} FROM {source} s WHERE NOT EXISTS (SELECT 1 FROM {dropped} d WHERE {same_ids})
"""
WITH_CLONES = """
SELECT {columns}{clone_0} FROM {source} s
UNION ALL
SELECT {columns}{clone_d} FROM {source} s JOIN {clones} d ON {same_ids}
"""
