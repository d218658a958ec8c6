"""The sandbox's process: runs one SELECT over given tables in a DuckDB of its own, and answers on standard output.

A program, not a module: it imports nothing of recall_sql, gets its tables as Arrow on standard input, and holds no
file, no setting and no row but those. sandbox.py starts it and ends it when it takes too long.
"""

import json
import struct
import sys

import duckdb
import pyarrow as pa

try:
    import resource
except ImportError:  # Windows
    resource = None


def _read(stream):
    size = struct.unpack("<Q", stream.read(8))[0]
    return stream.read(size)


def _write(stream, payload):
    stream.write(struct.pack("<Q", len(payload)))
    stream.write(payload)


def _limit_memory(allowance):
    """No more address space than now and `allowance` bytes: strings and lists escape DuckDB's own limit."""
    if resource is None:
        return
    try:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (used + allowance, resource.RLIM_INFINITY))


def _locked(tables, memory, zone):
    """A database with the tables in it, that can reach nothing else and whose settings can't be changed any more."""
    con = duckdb.connect(":memory:", config={"python_enable_replacements": "false", "threads": 1})
    con.execute("set timezone = " + "'" + zone.replace("'", "''") + "'")
    for name, payload in tables:
        table = pa.ipc.open_stream(payload).read_all()
        con.register("given", table)
        quoted = '"' + name.replace('"', '""') + '"'
        con.execute(f"create table {quoted} as from given")
        con.unregister("given")
    for setting in (
        f"memory_limit = '{memory}B'",
        "temp_directory = ''",
        "autoinstall_known_extensions = false",
        "autoload_known_extensions = false",
        "allow_community_extensions = false",
        "enable_external_access = false",
        "lock_configuration = true",
    ):
        con.execute(f"set {setting}")
    return con


def _answer(request, tables):
    con = _locked(tables, request["memory"], request["zone"])
    cursor = con.execute(request["sql"])
    reader = cursor.to_arrow_reader(1000) if hasattr(cursor, "to_arrow_reader") else cursor.fetch_record_batch(1000)
    batches, rows, size = [], 0, 0
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows > request["rows"]:
            break
        if size > request["memory"]:
            raise MemoryError
    table = pa.Table.from_batches(batches, reader.schema).slice(0, request["rows"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return {"truncated": rows > request["rows"]}, sink.getvalue().to_pybytes()


def main():
    """One request after another until standard input ends."""
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    limited = False
    while True:
        head = stdin.read(8)
        if len(head) < 8:
            return
        request = json.loads(stdin.read(struct.unpack("<Q", head)[0]))
        tables = [(name, _read(stdin)) for name in request["tables"]]
        if not limited:
            duckdb.connect(":memory:").close()
            _limit_memory(2 * request["memory"] + sum(len(payload) for _, payload in tables) * 3)
            limited = True
        try:
            about, payload = _answer(request, tables)
        except MemoryError:
            about, payload = {"error": "out of memory"}, b""
        except (duckdb.Error, pa.ArrowException, ValueError, RuntimeError) as error:
            about, payload = {"error": " ".join(str(error).split()) or type(error).__name__}, b""
        _write(stdout, json.dumps(about).encode())
        _write(stdout, payload)
        stdout.flush()


if __name__ == "__main__":
    main()
