"""%load_ext recall_sql by Jupyter's own executor, and the three notebooks from top to bottom, offline."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

pytest.importorskip("nbclient", reason="the extra `notebook` isn't installed")
pytest.importorskip("ipykernel", reason="the extra `notebook` isn't installed")

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from recall_sql.integrations.jupyter import FactsView, age
from recall_sql.resources import recipes_dir

NOTEBOOKS = sorted((recipes_dir() / "notebooks").glob("*.ipynb"))
ROOT = Path(__file__).parents[2]


def executed(notebook: nbformat.NotebookNode, folder: Path, monkeypatch: pytest.MonkeyPatch) -> nbformat.NotebookNode:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}, kernel_name="python3")
    return client.execute()


def of_cells(*cells: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def output(notebook: nbformat.NotebookNode, cell: int, kind: str = "text/plain") -> str:
    parts = []
    for found in notebook.cells[cell].outputs:
        parts.append(found.get("text") or found.get("data", {}).get(kind, ""))
    return "".join(parts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_top_to_bottom(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="the extra `notebook` isn't installed")
    if path.stem == "batch_backfill":
        pytest.importorskip("matplotlib", reason="the extra `notebook` isn't installed")
    done = executed(nbformat.read(path, as_version=4), tmp_path, monkeypatch)
    shown = {kind for cell in done.cells for found in cell.get("outputs", []) for kind in found.get("data", {})}
    assert "text/html" in shown
    assert path.stem != "batch_backfill" or "image/png" in shown


def test_notebooks_are_kept_without_outputs() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def test_magics_and_jupysql_work_on_one_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sql.magic", reason="JupySQL isn't installed")
    done = executed(
        of_cells(
            "%load_ext recall_sql\n%load_ext sql\ncon = %recall connect memory.duckdb",
            "%recall run conversation_memory/ingest session_id=s1 'content=I am vegan & <b>happy</b>'\n"
            "%recall run conversation_memory/all\n%recall facts",
            "%sql con --alias memory",
            "%sql select len(embed('hi')) as n, fact_key from chat_facts",
            "%recall rows << select 1 as a union all select 2 order by a\nrows.a.sum()",
            "con.close()\ndel con\n%recall connect :memory:",
            "import gc; gc.collect()\n%sql recall:///memory.duckdb",
            "%sql select fact_key, len(embed('hi')) as n from chat_facts",
            "%recall",
        ),
        tmp_path,
        monkeypatch,
    )
    assert "vegan" in output(done, 1, "text/html") and "<b>happy" not in output(done, 1, "text/html")
    assert "384" in output(done, 3) and "vegan" in output(done, 3)
    assert output(done, 4) == "np.int64(3)"
    assert "384" in output(done, 7) and "%recall run RECIPE" in output(done, 8)


def test_a_notebook_without_a_database_is_told_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = of_cells("%load_ext recall_sql", "%recall facts")
    with pytest.raises(CellExecutionError, match="no database is open in this notebook: run %recall connect"):
        executed(cells, tmp_path, monkeypatch)


def test_facts_are_shown_escaped_with_their_age() -> None:
    fact = {
        "user": "<i>", "category": "pet", "fact": "cat", "value": "<script>", "kind": "RULE", "source": "USER",
        "confidence": 0.5, "said_at": "2026-01-01 00:00", "holds_in": "(all)", "evidence": '"><script>',
    }  # fmt: skip
    view = FactsView(pa.Table.from_pylist([fact]), now=datetime(2026, 1, 4, tzinfo=UTC))
    html = view._repr_html_()
    assert "<script>" not in html and "<i>" not in html and "3 days ago" in html and "width:50%" in html
    assert repr(view) == "<i>  pet.cat = <script>  (50%, USER)"
    assert FactsView(pa.Table.from_pylist([fact]).slice(0, 0))._repr_html_() == "<p>No facts.</p>"
    assert [age(timedelta(days=400)), age(timedelta(hours=1)), age(timedelta(0))] == [
        "1 year ago",
        "1 hour ago",
        "just now",
    ]


def test_marimo_works_on_the_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marimo = pytest.importorskip("marimo", reason="marimo isn't installed")
    monkeypatch.chdir(tmp_path)
    app = marimo.App()

    @app.cell
    def opened():
        import recall_sql

        con = recall_sql.connect()
        recall_sql.run(con, "conversation_memory/ingest", content="I'm vegan", session_id="s1")
        recall_sql.run(con, "conversation_memory/all")
        return (con,)

    @app.cell
    def asked(con):
        import marimo as mo

        found = mo.sql("select fact_key, len(embed('hi')) as n from chat_facts", engine=con, output=False)
        return (found,)

    _, defined = app.run()
    assert [tuple(row) for row in defined["found"].itertuples(index=False)] == [("vegan", 384)]
