"""docs/cli.md shows the help of every command as it is."""

import re

from recall_sql.cli import cli
from tests.cli_reference import PAGE, current


def test_the_page_is_current():
    page = PAGE.read_text("utf-8")
    assert current(page) == page, "run: python -m tests.cli_reference"


def test_every_command_is_in_it():
    shown = set(re.findall(r"<!-- help: (.*?) -->", PAGE.read_text("utf-8")))
    assert {name.split()[0] for name in shown - {""}} == set(cli.commands)
