"""How well near-duplicates are told from what is different, on the pairs of near_duplicates.csv.

    python -m tests.beliefs.near_duplicates

prints precision and recall of the rule, and beside it of thresholds on similarity, which is why none is used.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

import recall_sql

PAIRS = Path(__file__).with_name("near_duplicates.csv")
MEASURES = {
    "the rule (1 = merged)": "same_belief",
    "cosine of the facts' vectors": "array_cosine_similarity(embed(text_a), embed(text_b))",
    "cosine of the values' vectors": "array_cosine_similarity(embed(value_a), embed(value_b))",
    "Jaro-Winkler of the values": "jaro_winkler_similarity(plain_form(value_a), plain_form(value_b))",
}
THRESHOLDS = {"same_belief": (1.0,)}


def load(con: duckdb.DuckDBPyConnection) -> None:
    """The pairs as a table; two keys with one slot are one belief before any comparison of values."""
    con.execute(
        """
        create or replace temp table pairs as
        select
            *, fact_text(category, key_a, value_a) as text_a, fact_text(category, key_b, value_b) as text_b,
            (
                own_slot(category, key_a) = own_slot(category, key_b)
                or near_duplicates(snake_case(key_a), value_a, snake_case(key_b), value_b)
            )::double as same_belief
        from read_csv(?, all_varchar := true)
        """,
        [str(PAIRS)],
    )


def figures(con: duckdb.DuckDBPyConnection, measure: str, threshold: float) -> tuple[float, float]:
    """(precision, recall) of merging the pairs that reach the threshold."""
    hits, merged, same = con.execute(
        f"""
        select count(*) filter (score >= $1 and same = '1'), count(*) filter (score >= $1), count(*) filter (same = '1')
        from (select same, {measure} as score from pairs)
        """,
        [threshold],
    ).fetchall()[0]
    return (hits / merged if merged else 1.0, hits / same)


def main() -> None:
    with recall_sql.connect() as con:
        load(con)
        same, different = con.execute("select sum((same = '1')::int), sum((same = '0')::int) from pairs").fetchall()[0]
        print(f"{same} pairs that say the same, {different} that don't")
        for name, measure in MEASURES.items():
            for threshold in THRESHOLDS.get(measure, (0.80, 0.85, 0.90, 0.95, 0.97, 0.98, 0.99)):
                precision, recall = figures(con, measure, threshold)
                print(f"{name:32} >= {threshold:.2f}: precision {precision:.2f}, recall {recall:.2f}")


if __name__ == "__main__":
    main()
