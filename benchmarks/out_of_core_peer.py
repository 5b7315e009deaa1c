"""The script a careful user of DuckDB would write for the same job.

``python -m benchmarks.out_of_core_peer IN OUT MEMORY SPILL`` characterises the list column ``tags``
of a Parquet file (counts, IRLbl, SCUMBLE by instance, by label and in all, with coefficients of
variation, and the labelsets) and writes REMEDIAL's result. It prints the numbers as JSON.
"""

from __future__ import annotations

import json
import sys

STEPS = """
CREATE TEMP TABLE numbered AS
    SELECT row_number() OVER () AS row_id, * FROM read_parquet('{input}');

CREATE TEMP TABLE pairs AS
    SELECT DISTINCT row_id, label
    FROM (SELECT row_id, unnest(tags) AS label FROM numbered)
    WHERE label IS NOT NULL;

CREATE TEMP TABLE label_counts AS
    SELECT label, count(*) AS n FROM pairs GROUP BY label;

CREATE TEMP TABLE irlbl AS
    SELECT label, n, (SELECT max(n) FROM label_counts) / n AS ir FROM label_counts;

CREATE TEMP TABLE minority AS
    SELECT label, n, ir, ir > (SELECT avg(ir) FROM irlbl) AS rare FROM irlbl;

CREATE TEMP TABLE scores AS
    SELECT row_id,
           greatest(0, 1 - exp(avg(ln(ir))) / avg(ir)) AS score,
           count(*) AS n_labels
    FROM pairs JOIN irlbl USING (label)
    GROUP BY row_id;

CREATE TEMP TABLE all_scores AS
    SELECT row_id, coalesce(score, 0) AS score, coalesce(n_labels, 0) AS n_labels
    FROM numbered LEFT JOIN scores USING (row_id);

CREATE TEMP TABLE totals AS
    SELECT count(*) AS n_rows, avg(score) AS scumble,
           stddev_samp(score) / avg(score) AS scumble_cv, sum(n_labels) AS n_pairs
    FROM all_scores;

CREATE TEMP TABLE by_label AS
    SELECT label, avg(score) AS scumble, stddev_samp(score) / avg(score) AS cv
    FROM pairs JOIN scores USING (row_id)
    GROUP BY label;

CREATE TEMP TABLE labelsets AS
    SELECT labels, count(*) AS n
    FROM (SELECT list_sort(list_distinct(tags)) AS labels FROM numbered)
    GROUP BY labels;

CREATE TEMP TABLE parts AS
    SELECT row_id,
           coalesce(list(label) FILTER (WHERE rare), []) AS rare_labels,
           coalesce(list(label) FILTER (WHERE NOT rare), []) AS frequent_labels
    FROM pairs JOIN minority USING (label)
    WHERE row_id IN (
        SELECT row_id FROM scores WHERE score > (SELECT scumble FROM totals) + 1e-12)
    GROUP BY row_id;

COPY (
    SELECT n.* EXCLUDE (row_id) REPLACE (coalesce(p.rare_labels, n.tags) AS tags)
    FROM numbered n LEFT JOIN parts p USING (row_id)
    UNION ALL
    SELECT n.* EXCLUDE (row_id) REPLACE (p.frequent_labels AS tags)
    FROM numbered n JOIN parts p USING (row_id)
) TO '{output}' (FORMAT parquet, COMPRESSION zstd);
"""

REPORT = """
SELECT n_rows, n_pairs, scumble, scumble_cv,
       (SELECT avg(ir) FROM irlbl) AS mean_ir,
       (SELECT count(*) FROM labelsets) AS n_labelsets,
       (SELECT count(*) FROM labelsets WHERE n = 1) AS n_single,
       (SELECT count(*) FROM read_parquet('{output}')) AS n_written
FROM totals
"""


def main(source: str, output: str, memory: str, spill: str) -> None:
    import duckdb

    settings = {"memory_limit": memory, "temp_directory": spill, "threads": 2}
    connection = duckdb.connect(":memory:", config=settings)
    connection.execute("SET preserve_insertion_order = false")
    for step in STEPS.format(input=source, output=output).split(";"):
        if step.strip():
            connection.execute(step)
    result = connection.execute(REPORT.format(output=output))
    names = [column[0] for column in result.description]
    print(json.dumps(dict(zip(names, map(float, result.fetchone()), strict=True))))


if __name__ == "__main__":
    main(*sys.argv[1:])
