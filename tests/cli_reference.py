"""Writes the help text of every command into docs/cli.md: `python -m tests.cli_reference`."""

import re
from pathlib import Path

from click.testing import CliRunner

from recall_sql.cli import cli

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"
_BLOCK = re.compile(r"(<!-- help: (.*?) -->\n).*?(<!-- end -->)", re.DOTALL)


def help_of(command: str) -> str:
    """What `recall-sql COMMAND --help` prints; '' is the command itself."""
    result = CliRunner().invoke(cli, [*command.split(), "--help"], prog_name="recall-sql", terminal_width=100)
    return result.stdout


def current(page: str) -> str:
    """The page with every help block as it should be."""
    return _BLOCK.sub(lambda match: f"{match[1]}```\n{help_of(match[2].strip())}```\n{match[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text("utf-8")), encoding="utf-8")
