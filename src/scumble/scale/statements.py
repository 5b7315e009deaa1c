"""The statements: one list for every engine.

All measures of an instance follow from its labelset, so the data is read once, to count the
labelsets. Everything after that works on the table of distinct labelsets, which is smaller, and
on the table of labels, which is smaller still. Names in braces are filled in as the work goes;
``NAME!(argument)`` is spelled by the engine's dialect.
"""

from __future__ import annotations

#: One row per instance from (instance, label) rows; a null label says "this instance exists".
ROWS_FROM_PAIRS = """
SELECT {ids}, CANONICAL!(collected) AS labels
FROM (SELECT {ids}, array_agg({label}) AS collected FROM {source} GROUP BY {ids})
"""

ROWS_FROM_LISTS = "SELECT {ids_first}{label} AS labels FROM {source}"

#: How often each labelset occurs, spelled as in the data.
RAW_SETS = """
SELECT SET_KEY!(raw) AS set_id, raw, n
FROM (SELECT labels AS raw, count(*) AS n FROM {rows} GROUP BY labels)
"""

COUNT_IRREGULAR = """
SELECT count(*) AS n FROM {raw_sets} WHERE raw IS DISTINCT FROM CANONICAL!(raw)
"""

#: The labelsets where the data spells them in one way only ...
SETS_AS_SPELLED = "SELECT set_id, raw AS labels, n FROM {raw_sets}"

#: ... and where order, duplicates, nulls or missing lists give one labelset several spellings.
SETS_IN_ONE_SPELLING = """
SELECT SET_KEY!(labels) AS set_id, labels, n
FROM (
  SELECT labels, CAST(sum(n) AS BIGINT) AS n
  FROM (SELECT CANONICAL!(raw) AS labels, n FROM {raw_sets})
  GROUP BY labels
)
"""

SET_TOTALS = """
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

#: SCUMBLE of an instance, from sums over its k labels. One label scores exactly 0.
SCORE = """
CASE WHEN k <= 1 THEN CAST(0 AS DOUBLE)
     ELSE greatest(CAST(0 AS DOUBLE), 1 - exp(log_sum / k) / (ratio_sum / k)) END
"""

#: The score of every labelset that has labels.
SCORED = f"""
SELECT s.set_id, s.labels, s.n, t.k, t.n_rare, t.score
FROM {{sets}} s JOIN (
  SELECT set_id, k, n_rare, {SCORE} AS score
  FROM (
    SELECT u.set_id, count(*) AS k, count(CASE WHEN r.rare THEN 1 END) AS n_rare,
           sum(r.ratio) AS ratio_sum, sum(r.log_ratio) AS log_sum
    FROM (SELECT set_id, UNNEST!(labels) AS label FROM {{sets}}) u
    JOIN {{ratios}} r ON u.label = r.label
    GROUP BY u.set_id
  )
) t ON s.set_id = t.set_id
"""

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
SELECT {ids_first_r}coalesce(t.score, CAST(0 AS DOUBLE)) AS score
FROM {rows} r LEFT JOIN {scored_raw} t ON r.labels = t.raw
"""

#: The spellings of the labelsets in the data, with their scores.
SCORED_RAW_AS_SPELLED = "SELECT labels AS raw, score FROM {scored}"
SCORED_RAW_IN_SEVERAL_SPELLINGS = """
SELECT w.raw, t.score
FROM (SELECT raw, CANONICAL!(raw) AS labels FROM {raw_sets} WHERE raw IS NOT NULL) w
JOIN {scored} t ON w.labels = t.labels
"""

#: The majority labels that chosen minority labels meet, and how often.
PARTNERS = """
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
FREQUENT_SETS = "SELECT labels, n FROM {sets} ORDER BY n DESC, labels LIMIT {limit}"

# REMEDIAL. Label counts never change, so neither do ratios and minority labels: all passes work
# on pieces of labelsets, and the data itself is read once more, when the result is written.

PIECES_AT_START = """
SELECT set_id, CAST(0 AS BIGINT) AS copy, labels, n, k, n_rare, score FROM {scored}
"""

PASS_FACTS = """
SELECT
  CAST(coalesce(sum(CASE WHEN above THEN n END), 0) AS BIGINT) AS n_above_mean,
  CAST(coalesce(sum(CASE WHEN above AND one_sided THEN n END), 0) AS BIGINT) AS n_one_sided
FROM (
  SELECT n, score > CAST('{threshold}' AS DOUBLE) AS above, n_rare = 0 OR n_rare = k AS one_sided
  FROM {pieces}
)
"""

#: One pass: pieces above the threshold are taken apart, the rare half keeps the copy's number.
PIECES_AFTER_PASS = f"""
SELECT set_id, copy, labels, n, k, n_rare, score FROM {{pieces}} WHERE NOT {{is_split}}
UNION ALL
SELECT set_id, copy, array_sort(labels) AS labels, n, k, n_rare, {SCORE} AS score
FROM (
  SELECT u.set_id, CASE WHEN r.rare THEN u.copy ELSE u.copy + {{bit}} END AS copy,
         array_agg(u.label) AS labels, max(u.n) AS n, count(*) AS k,
         count(CASE WHEN r.rare THEN 1 END) AS n_rare,
         sum(r.ratio) AS ratio_sum, sum(r.log_ratio) AS log_sum
  FROM (SELECT set_id, copy, n, UNNEST!(labels) AS label FROM {{pieces}} WHERE {{is_split}}) u
  JOIN {{ratios}} r ON u.label = r.label
  GROUP BY u.set_id, CASE WHEN r.rare THEN u.copy ELSE u.copy + {{bit}} END
)
UNION ALL
SELECT set_id, CASE WHEN n_rare = 0 THEN copy ELSE copy + {{bit}} END AS copy,
       EMPTY_LIKE!(labels) AS labels, n, CAST(0 AS BIGINT) AS k, CAST(0 AS BIGINT) AS n_rare,
       CAST(0 AS DOUBLE) AS score
FROM {{pieces}} WHERE {{is_split}} AND (n_rare = 0 OR n_rare = k)
"""

IS_ABOVE = "score > CAST('{threshold}' AS DOUBLE)"
IS_ABOVE_AND_MIXED = IS_ABOVE + " AND n_rare > 0 AND n_rare < k"

#: What becomes of each labelset that was taken apart, under the spelling of the data.
PARTS = """
SELECT w.raw, p.copy, p.labels
FROM {spellings} w
JOIN {pieces} p ON w.set_id = p.set_id
WHERE w.set_id IN (SELECT set_id FROM {pieces} WHERE copy > 0)
"""
SPELLINGS_AS_SPELLED = "SELECT set_id, raw FROM {raw_sets}"
SEVERAL_SPELLINGS = """
SELECT s.set_id, w.raw
FROM (SELECT raw, CANONICAL!(raw) AS labels FROM {raw_sets} WHERE raw IS NOT NULL) w
JOIN {sets} s ON w.labels = s.labels
"""

#: The result, one row per instance: a row with parts appears once for each of them.
REMEDIAL_LISTS = """
SELECT {columns}
FROM {source} s LEFT JOIN {parts} p ON {label} = p.raw
"""

#: The result as (instance, clone, label) rows; an instance without labels has a null label.
REMEDIAL_PAIRS = """
SELECT {ids}, {clone}, UNNEST!(shown) AS {label}
FROM (
  SELECT {ids}, {clone}, CASE WHEN SIZE!(labels) = 0 THEN NULL_LIKE!() ELSE labels END AS shown
  FROM (
    SELECT {ids_r}, coalesce(p.copy, CAST(0 AS BIGINT)) AS {clone},
           CASE WHEN p.raw IS NULL THEN r.labels ELSE p.labels END AS labels
    FROM {rows} r LEFT JOIN {parts} p ON r.labels = p.raw
  )
)
"""

#: The other columns of (instance, label) rows follow their label.
PAIRS_WITH_OTHERS = """
SELECT {columns}
FROM ({placed}) d LEFT JOIN {source} s ON {same_ids} AND d.{label} IS NOT DISTINCT FROM s.{label}
"""

# LP-ROS and LP-RUS by hash: every draw follows from the seed and the instance's name.

HASHED = """
SELECT {ids}, CANONICAL!(labels) AS labels, md5({name}) AS hash FROM {rows}
"""
BAGS = "SELECT labels, min(hash) AS bag, count(*) AS size FROM {hashed} GROUP BY labels"
OPEN_BAGS = "SELECT bag, size FROM {bags} WHERE {is_open} ORDER BY size {order}, bag"
RANKED = """
SELECT {ids_h}, s.bag, s.size, s.share,
       row_number() OVER (PARTITION BY s.bag ORDER BY h.hash) AS place
FROM {hashed} h JOIN {bags} b ON h.labels = b.labels JOIN {shares} s ON b.bag = s.bag
"""
DROPPED = "SELECT {ids} FROM {ranked} WHERE place <= share"
DRAWN = """
SELECT bag, turn,
       HEX!(digits) % size AS place
FROM (
  SELECT bag, turn, size, substr(md5(concat('{seed}:', bag, ':', CAST(turn AS STRING))), 1, 15)
         AS digits
  FROM (SELECT bag, size, UP_TO!(share) AS turn FROM {shares} WHERE share > 0)
)
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
