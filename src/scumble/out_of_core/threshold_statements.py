"""The SQL statements for thresholds, which all engines share; see `scumble.out_of_core.statements`.

Only the highest scores of a label matter: those of max(4 P, P + 4) rows, P being its positives, and
one more, with ties. A window function finds them; all further statements use only these.

The recall curve of a label is its recall as a function of the prediction rate, the number of
predictions per positive. The shared recall is the mean of these curves at a fixed list of rates. It
is computed where the curve of a label passes one of the rates, at most 80 per label. A *hit* is
a prediction of a label that the instance has, a true positive.
"""

#: The scores with our column names.
SCORES = "SELECT {ids_as}, {label} AS label, CAST({score} AS DOUBLE) AS score FROM {scores}"

IS_BAD = "({missing} OR label IS NULL OR score IS NULL OR isnan(score))"

#: The labels of the scores, and the number of invalid scores; a missing label is null.
SCORE_LABELS = f"""
SELECT label, count(*) AS n, count(CASE WHEN {IS_BAD} THEN 1 END) AS n_bad
FROM {{cells}} GROUP BY label
"""
INVALID_SCORE = f"SELECT * FROM {{cells}} WHERE {IS_BAD} LIMIT 1"

#: The true labels of instances, without duplicates.
TRUE_LABELS = "SELECT DISTINCT {ids}, label FROM ({pairs}) WHERE label IS NOT NULL"
PAIRS = "SELECT {label_ids_as}, {truth_label} AS label FROM {source}"
PAIRS_IN_LISTS = "SELECT {label_ids_as}, UNNEST!({truth_label}) AS label FROM {source}"
COUNT_ROWS_WITHOUT_INSTANCE = (
    "SELECT count(*) AS n FROM (SELECT {label_ids_as} FROM {source}) WHERE {missing}"
)

#: The number of positives of each label, and the largest number of predictions to consider.
POSITIVES = """
SELECT label, n AS positives, greatest(4 * n, n + 4) AS max_predicted
FROM (SELECT label, count(*) AS n FROM {truth} GROUP BY label)
"""

COUNT_INSTANCES = """
SELECT count(*) AS n
FROM (SELECT {ids} FROM {cells} UNION SELECT {ids} FROM (SELECT {label_ids_as} FROM {source}))
"""

#: The highest scores of each label, and whether the instance has the label.
TOP_SCORES = """
SELECT {ids_k}, k.label, k.score, CASE WHEN t.label IS NULL THEN 0 ELSE 1 END AS has_label
FROM (
  SELECT {ids_c}, c.label, c.score, p.max_predicted,
         rank() OVER (PARTITION BY c.label ORDER BY c.score DESC) AS score_rank
  FROM {cells} c JOIN {positives} p ON c.label = p.label
  WHERE c.score > 0
) k
LEFT JOIN {truth} t ON k.label = t.label AND {same_ids_k}
WHERE k.score_rank <= k.max_predicted + 1
"""

#: Duplicates among them.
DUPLICATE_SCORES = """
SELECT {ids}, label, count(*) AS n FROM {top} GROUP BY {ids}, label HAVING count(*) > 1 LIMIT 1
"""

#: The candidate thresholds, which are between different scores.
CANDIDATE_THRESHOLDS = """
SELECT s.label, s.score, p.positives, p.max_predicted,
       CAST(sum(s.n) OVER above AS BIGINT) AS n_predicted,
       CAST(sum(s.n_hits) OVER above AS BIGINT) AS hits,
       coalesce(lead(s.score) OVER (PARTITION BY s.label ORDER BY s.score DESC),
                CAST(0 AS DOUBLE)) AS below
FROM (
  SELECT label, score, count(*) AS n, CAST(sum(has_label) AS BIGINT) AS n_hits
  FROM {top} GROUP BY label, score
) s
JOIN {positives} p ON s.label = p.label
WINDOW above AS (PARTITION BY s.label ORDER BY s.score DESC
                 ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
"""

#: Segments of the recall curves between candidate thresholds, if they contain one of the rates; the
#: last segment ends at all rows.
RECALL_CURVE_SEGMENTS = """
SELECT positives, n_before, hits_before, n_predicted, hits, low, high
FROM (
  SELECT *, CAST(floor({per_unit} * CAST(n_before AS DOUBLE) / positives) AS BIGINT) AS low,
         least(CAST(floor({per_unit} * CAST(n_predicted AS DOUBLE) / positives) AS BIGINT),
               {last}) AS high
  FROM (
    SELECT positives, n_predicted, hits,
           coalesce(lag(n_predicted) OVER along, 0) AS n_before,
           coalesce(lag(hits) OVER along, 0) AS hits_before
    FROM (
      SELECT label, positives, n_predicted, hits FROM {candidates_by_label} WHERE positives > 1
      UNION ALL
      SELECT label, positives, CAST({n_instances} AS BIGINT), positives
      FROM {positives} WHERE positives > 1
    )
    WINDOW along AS (PARTITION BY label ORDER BY n_predicted)
  )
)
WHERE low < high
"""

#: The sum of the recall of all labels at each rate, and the number of labels whose curve passes it.
RECALLS = """
SELECT rate_index, sum((hits_before + (hits - hits_before) * (CAST('{step}' AS DOUBLE) * rate_index
                   * positives - n_before) / (n_predicted - n_before)) / positives) AS total,
       count(*) AS n
FROM (
  SELECT *, low + 1 + turn AS rate_index
  FROM (SELECT *, UP_TO!(high - low) AS turn FROM {recall_segments})
)
GROUP BY rate_index
"""
COUNT_LABELS_SHARING_RECALL = "SELECT count(*) AS n FROM {positives} WHERE positives > 1"

#: The candidates that may be selected, and their number of predictions per positive.
ALLOWED_THRESHOLDS = """
SELECT *, CAST(n_predicted AS DOUBLE) / positives AS rate
FROM {candidates_by_label} WHERE n_predicted <= max_predicted
"""

#: The same with the shared recall, interpolated between two rates as by `numpy.interp`.
THRESHOLDS_WITH_SHARED_RECALL = """
SELECT a.*, CASE WHEN a.rate = s.rate THEN s.recall
                 ELSE s.slope * (a.rate - s.rate) + s.recall END AS shared_recall
FROM (
  SELECT *, least(CASE WHEN rate < guess * CAST('{step}' AS DOUBLE) THEN guess - 1
                       WHEN rate >= (guess + 1) * CAST('{step}' AS DOUBLE) THEN guess + 1
                       ELSE guess END, {last}) AS rate_index
  FROM (SELECT *, CAST(floor(rate * {per_unit}) AS BIGINT) AS guess FROM ({allowed}))
) a
JOIN {shared} s ON a.rate_index = s.rate_index
"""

OBSERVED_HITS = "hits"
EXPECTED_HITS = """
(positives * ((hits + CAST('{strength}' AS DOUBLE) * shared_recall)
              / (positives + CAST('{strength}' AS DOUBLE))))
"""
METRIC = """
(CAST('{one_plus_squared}' AS DOUBLE) * {expected_hits}
 / (n_predicted + CAST('{squared}' AS DOUBLE) * positives))
"""

#: The best candidate of each label: the highest gain, and with ties the fewest predictions.
SELECTED_THRESHOLDS = """
SELECT label, score, below, n_predicted, hits, expected, n_candidates
FROM (
  SELECT *, count(*) OVER (PARTITION BY label) AS n_candidates,
         row_number() OVER (PARTITION BY label ORDER BY {gain} DESC, n_predicted) AS gain_rank
  FROM (SELECT *, {metric} AS expected FROM ({candidates}))
)
WHERE gain_rank = 1
"""
METRIC_GAIN = "expected"
RATE_GAIN = "(-abs(n_predicted - positives))"

#: The predictions and hits of the same threshold for all labels.
FIXED_THRESHOLD_COUNTS = """
SELECT c.label, count(*) AS n_predicted, count(t.label) AS hits
FROM {cells} c LEFT JOIN {truth} t ON c.label = t.label AND {same_ids_c}
WHERE c.score > 0 AND c.score >= CAST('{threshold}' AS DOUBLE)
GROUP BY c.label
"""
