"""Lines of JSON: one for each figure of a bench in one run, with the same figure of a peer measured in turns with it.

`bench/over_time.py` compares such files over time.
"""

import datetime
import json
import os
import platform
import statistics
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def add_option(parser):
    parser.add_argument("--figures", type=Path, metavar="FILE", help="append a line of JSON for each figure to FILE")


def append(file, bench, figure, unit, ours, peer, name):
    """Appends a line: `ours` and `peer` are values of rounds that belong together, in order; `name` is the peer's."""
    if file is None:
        return
    ratios = [own / other for own, other in zip(ours, peer, strict=True)]
    line = {
        "bench": bench,
        "figure": figure,
        "unit": unit,
        "triptime": statistics.median(ours),
        "peer": name,
        "of_peer": statistics.median(peer),
        "ratio": statistics.median(ratios),
        "ratios": [round(ratio, 4) for ratio in ratios],
        "commit": commit(),
        "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "kernel": platform.release(),
        "cpus": os.cpu_count(),
    }
    with open(file, "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def commit():
    """The commit that is checked out, with a plus sign if files of it are changed; empty outside a checkout."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.stdout.strip()
