#!/usr/bin/env python3
"""Lists what is linked into the binary, with the licence of each part, then every notice that is not the plain text of a common
licence alone. The notices are read from the sources that Cargo has."""

import json
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-gnu"
# The text of this licence is on every Debian system, and has no notice of its own.
APACHE = "Apache License"
# Not crates, but in the binary all the same.
BESIDE = [("SQLite (in libsqlite3-sys)", "public domain"), ("uPlot 1.6.32", "MIT"), ("GNU C library", "LGPL-2.1-or-later"),
    ("Rust standard library", "MIT OR Apache-2.0")]
UPLOT = ROOT / "crates/report/assets/uplot/LICENSE"


def graph():
    """The packages by their ids, the ids that each crate of the binary uses, and the id of the binary."""
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--offline", f"--filter-platform={TARGET}"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    packages = {one["id"]: one for one in metadata["packages"]}
    nodes = {one["id"]: one for one in metadata["resolve"]["nodes"]}
    root = next(one for one in packages if packages[one]["name"] == "triptime-cli")
    wanted, uses = [root], {}
    while wanted:
        one = wanted.pop()
        if one not in uses:
            uses[one] = [to["pkg"] for to in nodes[one]["deps"] if any(kind["kind"] is None for kind in to["dep_kinds"])]
            wanted += uses[one]
    return packages, uses, root


def linked():
    """The crates of the binary that come from elsewhere."""
    packages, uses, _ = graph()
    crates = [packages[one] for one in uses if packages[one]["source"]]
    return sorted(crates, key=lambda one: (one["name"], one["version"]))


def notices(folder):
    """The files of a crate that hold notices; of Apache's licence, which the others are offered beside, none."""
    files = [one for one in sorted(folder.iterdir()) if one.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE"))]
    texts = [one.read_text(errors="replace").strip() for one in files if one.is_file()]
    return [text for text in texts if APACHE not in text[:400]]


def main():
    crates = linked()
    parts = [(f"{one['name']} {one['version']}", one["license"]) for one in crates] + BESIDE
    print("What is linked into triptime:\n")
    for name, licence in parts:
        print(f"  {name}: {licence}")
    of_text = defaultdict(list)
    for one in crates:
        for text in notices(Path(one["manifest_path"]).parent):
            of_text[text].append(one["name"])
    of_text[UPLOT.read_text().strip()].append("uPlot")
    for text, names in sorted(of_text.items(), key=lambda pair: pair[1]):
        print(f"\n{'-' * 78}\n{', '.join(names)}:\n\n{text}")


if __name__ == "__main__":
    main()
