"""Asks the shipped SQL of a fleet, in DuckDB and in ClickHouse, and prints the answers as JSON.

fleet.py SQL REAL OUT HOSTS DAYS: makes OUT/fleet, a fleet of HOSTS hosts with a run a month for DAYS days, in the columns of the real export
REAL/fleet. One host got another kernel in the middle, and was slower from then on; another one has the same hardware and another idle governor.
"""

import json
import os
import re
import sys
import time

import duckdb
from chdb import session

QUERIES = ["worst-by-week", "what-differs", "slower-since"]
START = "TIMESTAMP '2026-01-01'"
SERIES = "(VALUES ('wakeup/cpu2'), ('wakeup/cpu3'), ('trip/F1'), ('task/relay')) AS s(series)"
FACTS = """(VALUES ('machine', 'product', 'R760'), ('machine', 'board', 'B1'), ('cpu', 'model', 'Xeon 6430'), ('kernel', 'release', '6.1.0-rt'),
    ('power', 'idle governor', 'menu'), ('kernel', 'boot id', 'x')) AS f(topic, name, value)"""


def statements(path):
    text = re.sub(r"--[^\n]*\n", "\n", open(path, encoding="utf-8").read())
    return [part.strip() for part in text.split(";") if part.strip()]


def like(duck, real, table, select):
    """The rows of a select in the columns and types of a real file: a column that it does not name is 0 or NULL."""
    columns = duck.execute(f"DESCRIBE SELECT * FROM read_parquet('{real}/fleet/{table}/*/*.parquet', hive_partitioning = false)").fetchall()
    given = {row[0] for row in duck.execute(f"DESCRIBE {select}").fetchall()}
    unknown = given - {name for name, *_ in columns}
    assert not unknown, f"no such columns in {table}: {unknown}"
    listed = [f'CAST({name if name in given else 0 if kind == "BIGINT" else "NULL"} AS {kind}) AS "{name}"' for name, kind, *_ in columns]
    return f"SELECT {', '.join(listed)} FROM ({select})"


def make(duck, real, hosts, days):
    months = f"SELECT h, m FROM range({hosts}) AS h(h), range({(days + 29) // 30}) AS m(m)"
    run = f"printf('bay%04d', h) AS host, printf('run-%d-%d', h, m) AS run, 'qualify' AS command, 'complete' AS state, epoch_ns({START} + to_days(30 * m::INTEGER)) AS started_ns"
    noise = "hash(h, m, d, series) % 5000"
    slow = f"CASE WHEN h = 7 AND 30 * m + d >= {days // 2 // 30 * 30} THEN 60000 ELSE 0 END + CASE WHEN h = 9 THEN 9000 ELSE 0 END"
    rows = f"""SELECT {run}, series, strftime({START} + to_days((30 * m + d)::INTEGER), '%Y-%m-%d') AS day, 4320 AS windows, 432000000 AS received,
        432000000 AS expected, 1000 AS min_ns, 20000 + {noise} + {slow} AS max_ns, 0 AS max_at_ns
        FROM ({months}), range(30) AS d(d), {SERIES} WHERE 30 * m + d < {days}"""
    facts = f"""SELECT {run}, topic, name,
        CASE WHEN h = 7 AND name = 'release' AND 30 * m >= {days // 2 // 30 * 30} THEN '6.1.1-rt' WHEN h = 9 AND name = 'idle governor' THEN 'teo' ELSE value END AS value
        FROM ({months}), {FACTS}"""
    os.makedirs("parts")
    for table, select in [("days", rows), ("facts", facts)]:
        # A file for each host and run, as the export makes them; the name of a partition's column is not that of the table's.
        duck.execute(f"COPY (SELECT *, host AS h, run AS r FROM ({like(duck, real, table, select)})) TO 'parts/{table}' (FORMAT parquet, PARTITION_BY (h, r))")
        for place, _, names in os.walk(f"parts/{table}"):
            for name in names:
                host, file = place.split("/")[-2:]
                os.makedirs(f"fleet/{table}/host={host[2:]}", exist_ok=True)
                os.rename(f"{place}/{name}", f"fleet/{table}/host={host[2:]}/{file[2:]}.parquet")
    for table in ["windows", "spikes", "changes"]:
        os.symlink(f"{real}/fleet/{table}", f"fleet/{table}")


def main(sql, real, out, hosts, days):
    os.makedirs(out)
    os.chdir(out)
    duck = duckdb.connect()
    make(duck, real, hosts, days)
    house = session.Session()
    engines = {"duckdb": lambda text: duck.execute(text).fetchall(), "clickhouse": lambda text: [row.split("\t") for row in str(house.query(text, "TabSeparated")).splitlines()]}
    answers = {}
    for engine, ask in engines.items():
        begin = time.monotonic()
        for statement in statements(f"{sql}/{engine}.sql"):
            ask(statement)
        answers[f"{engine} read"] = {"s": round(time.monotonic() - begin, 2)}
        for query in QUERIES:
            begin = time.monotonic()
            rows = ask(statements(f"{sql}/{query}.sql")[0])
            answers[f"{engine} {query}"] = {"rows": len(rows), "first": [str(value) for value in rows[0]] if rows else [], "s": round(time.monotonic() - begin, 2)}
        for view in ["windows", "spikes", "changes"]:
            answers[f"{engine} {view}"] = {"rows": int(ask(f"SELECT count(*) FROM {view} WHERE at_utc > '2026-01-01 00:00:00'")[0][0])}
    print(json.dumps(answers, indent=1))


if __name__ == "__main__":
    main(*map(os.path.abspath, sys.argv[1:4]), int(sys.argv[4]), int(sys.argv[5]))
