"""The SQL statements, which all engines share.

All measures of an instance follow from its labelset, so the data is read once, to count the
labelsets. All further statements use the table of distinct labelsets, which is smaller, and the
table of labels, which is smaller still. Names in braces are replaced by tables and values, and
``NAME!(argument)`` by an expression of the engine's dialect. Joins on labelsets have a hint, which
is a comment for DuckDB: without it Spark would sort the labelsets, and comparing lists is slower
than hashing them.
"""

#: One row per instance from (instance, label) rows; a null label only declares the instance.
ROWS_FROM_PAIRS = """
SELECT {ids}, CANONICAL!(collected) AS labels
FROM (SELECT {ids}, array_agg({label}) AS collected FROM {source} GROUP BY {ids})
"""

ROWS_FROM_LISTS = "SELECT {ids_with_trailing_comma}{label} AS labels FROM {source}"

#: The count of each labelset as written in the data.
RAW_LABELSETS = """
SELECT SET_KEY!(raw) AS set_id, raw, n
FROM (SELECT labels AS raw, count(*) AS n FROM {rows} GROUP BY SET_GROUP!(labels))
"""

COUNT_NONCANONICAL = (
    "SELECT count(*) AS n FROM {raw_sets} WHERE raw IS DISTINCT FROM CANONICAL!(raw)"
)

#: The labelsets, if the data has a single spelling of each of them ...
LABELSETS_IF_CANONICAL = "SELECT set_id, raw AS labels, n FROM {raw_sets}"

#: ... and if order, duplicates, nulls or missing lists cause several spellings of a labelset.
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

#: IRLbl, its logarithm, and whether the label is a minority label.
RATIOS = """
SELECT label, n, ratio, ln(ratio) AS log_ratio, ratio > CAST('{mean_ir}' AS DOUBLE) AS rare
FROM (
  SELECT label, n, CAST(max_n AS DOUBLE) / n AS ratio
  FROM {label_counts} CROSS JOIN (SELECT max(n) AS max_n FROM {label_counts})
)
"""


def scumble_expression(k: str, ratio_sum: str, log_sum: str) -> str:
    """Return the SQL expression for the SCUMBLE of a labelset with ``k`` labels.

    ``ratio_sum`` and ``log_sum`` are the sums of their IRLbl and of its logarithm; all arguments
    are SQL expressions too. A single label has a SCUMBLE of exactly 0.
    """
    return (
        f"CASE WHEN {k} <= 1 THEN CAST(0 AS DOUBLE) ELSE "
        f"greatest(CAST(0 AS DOUBLE), 1 - exp({log_sum} / {k}) / ({ratio_sum} / {k})) END"
    )


#: SCUMBLE of all labels of a labelset, and of its rare and its frequent labels alone.
SCORE_OF_ALL = scumble_expression(
    "(n_rare + n_frequent)", "(rare_sum + frequent_sum)", "(rare_log + frequent_log)"
)
SCORE_OF_RARE = scumble_expression("n_rare", "rare_sum", "rare_log")
SCORE_OF_FREQUENT = scumble_expression("n_frequent", "frequent_sum", "frequent_log")

#: The three scores of every labelset.
LABELSET_SCORES = f"""
SELECT /*+ SHUFFLE_HASH(t) */
       s.set_id, s.labels, s.n, coalesce(t.n_rare, 0) AS n_rare,
       coalesce(t.n_frequent, 0) AS n_frequent,
       coalesce(t.score, CAST(0 AS DOUBLE)) AS score,
       coalesce(t.rare_score, CAST(0 AS DOUBLE)) AS rare_score,
       coalesce(t.frequent_score, CAST(0 AS DOUBLE)) AS frequent_score
FROM {{sets}} s LEFT JOIN (
  SELECT set_id, n_rare, n_frequent,
         {SCORE_OF_ALL} AS score,
         {SCORE_OF_RARE} AS rare_score,
         {SCORE_OF_FREQUENT} AS frequent_score
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

#: The labelsets with a single spelling, taken from the scores, so that they are stored only once.
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

#: Sums of squared deviations from SCUMBLELbl, for its coefficient of variation.
LABEL_SQUARES = """
SELECT u.label, max(m.mean) AS mean,
       sum(u.n * (u.score - m.mean) * (u.score - m.mean)) AS squares
FROM (SELECT n, score, UNNEST!(labels) AS label FROM {scored}) u
JOIN {label_means} m ON u.label = m.label
GROUP BY u.label
ORDER BY u.label
"""

#: SCUMBLE of every row; rows without labels have 0.
INSTANCE_SCORES = """
SELECT /*+ SHUFFLE_HASH(t) */ {ids_with_trailing_comma_r}
    coalesce(t.score, CAST(0 AS DOUBLE)) AS score
FROM {rows} r LEFT JOIN {scored_raw} t ON r.labels = t.raw
"""

#: The spellings of the labelsets in the data, with their scores.
RAW_SCORES_IF_CANONICAL = "SELECT labels AS raw, score FROM {scored}"
RAW_SCORES = """
SELECT w.raw, t.score
FROM (SELECT raw, CANONICAL!(raw) AS labels FROM {raw_sets} WHERE raw IS NOT NULL) w
JOIN {scored} t ON w.labels = t.labels
"""

#: The majority labels that co-occur with the selected minority labels, and the joint counts.
COOCCURRING_LABELS = """
SELECT a.label, b.label AS partner, CAST(sum(a.n) AS BIGINT) AS joint_count
FROM (
  SELECT x.set_id, x.n, x.label
  FROM (SELECT set_id, n, UNNEST!(labels) AS label FROM {sets}) x
  JOIN {selected} c ON x.label = c.label
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

# REMEDIAL. Label counts do not change, and therefore neither do ratios and minority labels. A
# labelset has three scores: of all labels, and of the two halves after a split. So all passes are
# sums over the table of labelsets; the data is read only once more, for the result. A mixed
# labelset has rare and frequent labels; it has been split if its score is above
# ``lowest_threshold``, the lowest threshold of the previous passes.

IS_SPLIT = "(n_rare > 0 AND n_frequent > 0 AND score > CAST('{lowest_threshold}' AS DOUBLE))"
IS_ONE_SIDED = "(n_rare = 0 OR n_frequent = 0)"

PASS_TOTAL = f"""
SELECT coalesce(sum(n * CASE WHEN {IS_SPLIT} THEN rare_score + frequent_score ELSE score END), 0)
       AS total
FROM {{scored}}
"""

#: The number of halves, or unsplit labelsets, with a score above the threshold.
N_PARTS_ABOVE = f"""
(CASE WHEN {IS_SPLIT}
      THEN CASE WHEN rare_score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END
         + CASE WHEN frequent_score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END
      WHEN score > CAST('{{threshold}}' AS DOUBLE) THEN 1 ELSE 0 END)
"""

#: Those of them with only rare or only frequent labels; splitting one adds a copy without labels.
ONE_SIDED_ABOVE = f"(CASE WHEN {IS_SPLIT} OR {IS_ONE_SIDED} THEN {N_PARTS_ABOVE} ELSE 0 END)"

PASS_COUNTS = f"""
SELECT
  CAST(coalesce(sum(n * {N_PARTS_ABOVE}), 0) AS BIGINT) AS n_above_mean,
  CAST(coalesce(sum(n * {ONE_SIDED_ABOVE}), 0) AS BIGINT) AS n_one_sided
FROM {{scored}}
"""

#: The labelsets that change: whether they are split, and the number of copies without labels.
CHANGED_LABELSETS = f"""
SELECT set_id, labels, is_split, n_empty
FROM (SELECT set_id, labels, {IS_SPLIT} AS is_split, {{n_empty}} AS n_empty FROM {{scored}})
WHERE is_split OR n_empty > 0
"""

#: The rare labels of the labelsets that are split.
RARE_HALVES = """
SELECT u.set_id, array_sort(array_agg(u.label)) AS rare
FROM (SELECT set_id, UNNEST!(labels) AS label FROM {changed} WHERE is_split) u
JOIN {ratios} r ON u.label = r.label
WHERE r.rare
GROUP BY SET_GROUP!(u.set_id)
"""

#: The rare labels and the number of copies of each labelset that changes, as spelled in the data.
LABELSET_SPLITS = """
SELECT /*+ SHUFFLE_HASH(h) */
       {raw} AS raw, h.rare, CASE WHEN c.is_split THEN 2 ELSE 1 END + c.n_empty AS n_copies
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
         {row_columns}{row_labels} AS scumble_labels, p.rare AS scumble_rare, c.copy AS scumble_copy
  FROM {source} s
  LEFT JOIN {splits} p ON {row_labels} = p.raw
  JOIN {copies} c ON coalesce(p.n_copies, 1) = c.n_copies
)
"""

#: The labels of a copy: the rare ones, the frequent ones, or none. {canonical_labels} has neither
#: nulls nor duplicates.
COPY_LABELS = """
CASE WHEN scumble_copy = 0 THEN coalesce(scumble_rare, scumble_labels)
     WHEN scumble_copy = 1 AND scumble_rare IS NOT NULL
       THEN EXCEPT!({canonical_labels}, scumble_rare)
     ELSE EMPTY_LIKE!(scumble_labels) END
"""

#: The result as (instance, clone, label) rows; an instance without labels has a null label.
PAIRS_FROM_LISTS = """
SELECT {ids}, {clone}, UNNEST!(labels_or_null) AS {label}
FROM (
  SELECT {ids}, {clone},
         CASE WHEN SIZE!(labels) = 0 THEN NULL_LIKE!() ELSE labels END AS labels_or_null
  FROM ({lists})
)
"""

#: (instance, label) rows with the other columns of the input row that has the same label.
PAIRS_WITH_OTHER_COLUMNS = """
SELECT {columns}
FROM ({pairs}) d LEFT JOIN {source} s ON {same_ids} AND d.{label} IS NOT DISTINCT FROM s.{label}
"""

# LP-ROS and LP-RUS. Random numbers are hashes of the seed and the name of an instance or a bag, so
# that they do not depend on the order in which an engine processes rows.

#: The instances with a hash of the seed and their name.
HASHED_INSTANCES = "SELECT {ids}, CANONICAL!(labels) AS labels, md5({name}) AS hash FROM {rows}"
#: The bags: the sets of instances with the same labelset, named by their lowest hash.
BAGS = "SELECT labels, min(hash) AS bag, count(*) AS size FROM {hashed} GROUP BY labels"
BAG_TOTALS = """
SELECT CAST(coalesce(sum(size), 0) AS BIGINT) AS n_rows, count(*) AS n_bags FROM {bags}
"""
#: The bags that gain or lose rows.
OPEN_BAGS = "SELECT bag, size FROM {bags} WHERE {is_open} ORDER BY size {order}, bag"
#: The instances of the open bags with their rank by hash. The share of a bag is the number of rows
#: that it gains or loses.
RANKED_INSTANCES = """
SELECT {ids_h}, s.bag, s.size, s.share,
       row_number() OVER (PARTITION BY s.bag ORDER BY h.hash) AS place
FROM {hashed} h JOIN {bags} b ON h.labels = b.labels JOIN {shares} s ON b.bag = s.bag
"""
DROPPED_INSTANCES = "SELECT {ids} FROM {ranked} WHERE place <= share"
#: A random position in its bag for each clone.
DRAWN_POSITIONS = """
SELECT bag, turn, HEX!(substr(md5(concat('{seed}:', bag, ':', CAST(turn AS STRING))), 1, 15)) % size
       AS place
FROM (SELECT bag, size, UP_TO!(share) AS turn FROM {shares} WHERE share > 0)
"""
#: The instances to clone, with the number of the clone among those of the same instance.
CLONES = """
SELECT {ids_k}, row_number() OVER (PARTITION BY {ids_k} ORDER BY d.bag, d.turn) AS clone
FROM {drawn} d JOIN {ranked} k ON d.bag = k.bag AND d.place = k.place - 1
"""
#: The result of LP-RUS.
WITHOUT_DROPPED = """
SELECT {columns} FROM {source} s WHERE NOT EXISTS (SELECT 1 FROM {dropped} d WHERE {same_ids})
"""
#: The result of LP-ROS.
WITH_CLONES = """
SELECT {columns}{clone_0} FROM {source} s
UNION ALL
SELECT {columns}{clone_d} FROM {source} s JOIN {clones} d ON {same_ids}
"""
