"""A chat in a terminal that remembers. Run it twice: the second time it knows you.

python examples/plain_loop.py
"""

import sys

import recall_sql


def main() -> None:
    with recall_sql.connect("memory.duckdb") as con:
        memory = recall_sql.Memory(con, user_id="me")
        for fact in memory.facts():
            print(f"(I know: {fact['category']} {fact['fact_key']} = {fact['fact_value']})")
        for line in sys.stdin:
            if line.strip():
                print(memory.reply("chat", line.strip()))
                memory.extract()  # what was said becomes facts, which the next answer knows


if __name__ == "__main__":
    main()
