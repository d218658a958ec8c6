"""`recall-sql shell`: a prompt for SQL, recipes and dot commands, with history and completion.

core.py takes lines and runs what they hold, commands.py is the dot commands, boxes.py prints, completion.py suggests,
prompt.py is the terminal. Scripts come in through core.py alone.
"""

from recall_sql.shell.core import Shell

__all__ = ["Shell"]
