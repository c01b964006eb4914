#!/usr/bin/env python3
"""Copies the pages of a package into FOLDER: `package_docs.py FOLDER`. Their links lead to files of the package: a link to the
examples goes where the package has them, and a link to a file that is not in the package becomes plain text."""

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages and folders of the repository, and their places in the package.
PAGES = {
    "docs/guide": "guide",
    "docs/formats": "formats",
    "SECURITY.md": "SECURITY.md",
} | {f"docs/{name}.md": f"{name}.md" for name in ("README", "doubts", "inventory", "measured", "rules", "statistics", "streams", "words")}
# Copied by package.sh.
EXAMPLES = {
    "limits": "examples/limits",
    "plans": "examples/plans",
    "crates/waveform/scenarios": "examples/scenarios",
    "crates/waveform/type-tests": "examples/type-tests",
    "crates/relay/relays": "examples/relays",
}
LINK = re.compile(r"\[([^\]\[]*)\]\(([^()\s]+)\)")


def place(path):
    """The place of a file or folder of the repository in the package, or None."""
    for name, target in (PAGES | EXAMPLES).items():
        if path == name or path.startswith(name + "/"):
            return target + path[len(name):]
    return None


def relinked(text, page):
    """The text of a page of the repository with links that hold in the package."""

    def link(found):
        words, target = found.groups()
        if target.startswith("#") or re.match(r"[a-z]+:", target):
            return found.group()
        path, hash_sign, anchor = target.partition("#")
        there = place(os.path.normpath(os.path.join(os.path.dirname(page), path)))
        if there is None:
            return words
        return f"[{words}]({os.path.relpath(there, os.path.dirname(place(page)) or '.')}{hash_sign}{anchor})"

    return LINK.sub(link, text)


def main():
    folder = Path(sys.argv[1])
    for name, target in PAGES.items():
        source = ROOT / name
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for file in files:
            if not file.is_file():
                continue
            page = str(file.relative_to(ROOT))
            to = folder / place(page)
            to.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                to.write_text(relinked(file.read_text(), page))
            else:
                shutil.copyfile(file, to)


if __name__ == "__main__":
    main()
