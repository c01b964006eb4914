#!/usr/bin/env python3
"""Lists what is linked into the binary for `triptime --sbom`: name, version, licence, SHA-256 of the crate's file, and the parts that it uses.
`sbom_parts.py` writes crates/cli/src/sbom/parts.tsv; `sbom_parts.py --check` ends with 1 if that file is not current."""

import sys
import tomllib

from notices import ROOT, graph

FILE = ROOT / "crates/cli/src/sbom/parts.tsv"
BESIDE = ["SQLite\t{sqlite}\tblessing\t\t", "uPlot\t1.6.32\tMIT\t\t", "GNU C library\t\tLGPL-2.1-or-later\t\t", "Rust standard library\t\tMIT OR Apache-2.0\t\t"]


def lines():
    """A line for each part: the crates of the binary in order of their names, then what is no crate."""
    packages, uses, root = graph()
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    sums = {(one["name"], one["version"]): one.get("checksum", "") for one in locked}
    named = {one: f"{packages[one]['name']} {packages[one]['version']}" for one in uses}
    ours = {one for one in uses if not packages[one]["source"]}

    def foreign(one, seen):
        """The crates from elsewhere that a crate uses, through our own ones."""
        for to in uses[one]:
            if to in ours and to not in seen:
                seen.add(to)
                yield from foreign(to, seen)
            elif to not in ours:
                yield named[to]

    yield "triptime\t\t\t\t" + ",".join(sorted(set(foreign(root, set()))))
    for one in sorted(set(uses) - ours, key=named.get):
        package = packages[one]
        licence = (package["license"] or "").replace("/", " OR ")
        checksum = sums[(package["name"], package["version"])]
        yield "\t".join([package["name"], package["version"], licence, checksum, ",".join(sorted(named[to] for to in set(uses[one])))])
    yield from (line.format(sqlite=sqlite(packages, uses)) for line in BESIDE)


def sqlite(packages, uses):
    """The version of SQLite whose source libsqlite3-sys brings."""
    from pathlib import Path

    folder = next(Path(packages[one]["manifest_path"]).parent for one in uses if packages[one]["name"] == "libsqlite3-sys")
    header = (folder / "sqlite3/sqlite3.h").read_text()
    return header.split('#define SQLITE_VERSION ')[1].split('"')[1]


def main():
    text = "".join(f"{line}\n" for line in lines())
    if "--check" in sys.argv:
        sys.exit(0 if FILE.exists() and FILE.read_text() == text else f"{FILE} is not current: run scripts/sbom_parts.py")
    FILE.write_text(text)


main()
