"""`python -m recall_sql` is the command `recall-sql`."""

from recall_sql.cli import main

if __name__ == "__main__":
    main()
