#!/usr/bin/env python3
"""Figures of benches over time: the ratio to the peer in the newest line of each, compared with the lines before it.

    bench/over_time.py FILE...

FILE has lines of JSON that `--figures FILE` of a bench in bench/peers appended. Ratios are compared, not times: both tools of a
line had the same machine at the same time. Ends with 1 if a newest ratio is over its bound (bench/bounds.toml), with 2 if a line
is none of these, or there is none.
"""

import argparse
import json
import statistics
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

BOUNDS = Path(__file__).with_name("bounds.toml")


def read(files):
    """Lines by bench and figure, the oldest first."""
    lines = defaultdict(list)
    for file in files:
        for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            try:
                line = json.loads(text)
                lines[line["bench"], line["figure"]].append((line["at"], float(line["ratio"]), line))
            except (ValueError, KeyError, TypeError) as error:
                print(f"{file}:{number}: no figure of a bench ({error!r})", file=sys.stderr)
                sys.exit(2)
    return {key: [line for *_, line in sorted(found, key=lambda one: one[:2])] for key, found in lines.items()}


def row(key, lines, bound):
    """The words of a figure, and whether it is over its bound."""
    newest, before = lines[-1], [line["ratio"] for line in lines[:-1]]
    then = f"{statistics.median(before):.3f} ({min(before):.3f} to {max(before):.3f}, {len(before)})" if before else "none"
    is_over = bound is not None and newest["ratio"] > bound
    verdict = "over its bound" if is_over else "within" if bound is not None else "no bound"
    allowed = f"{bound:g}" if bound is not None else "–"
    return f"{' '.join(key):<16}{newest['ratio']:>8.3f}{allowed:>7}  {verdict:<15} before: {then}; {newest['commit']}, {newest['peer']}", is_over


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    options = parser.parse_args()
    try:
        found = read(options.files)
    except OSError as error:
        print(f"over_time: {error}", file=sys.stderr)
        return 2
    if not found:
        print("over_time: no figures in these files", file=sys.stderr)
        return 2
    bounds = tomllib.loads(BOUNDS.read_text(encoding="utf-8"))
    print(f"{'figure':<16}{'ratio':>8}{'bound':>7}")
    over = 0
    for key, lines in sorted(found.items()):
        text, is_over = row(key, lines, bounds.get(key[0], {}).get(key[1]))
        print(text)
        over += is_over
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
