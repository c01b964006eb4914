"""Compiles the test programs of the workspace, and the binary. What can run while others are compiled is compiled first."""

import json
import os
import subprocess
import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Lint while compiling, and let no warning pass: as `make check` does, without another compilation of everything (`.ci/run`).
LINTED = os.environ.get("TRIPTIME_LINTED") == "1"
# The package whose tests drive the binary.
END_TO_END = "triptime-tests"
# The packages whose tests measure, and need no binary. As the end-to-end tests they wait more than they compute: all else is compiled
# meanwhile.
MEASURING = (
    "triptime-sys",
    "triptime-probes",
    "triptime-trace",
    "triptime-bed",
    "triptime-place",
    "triptime-session",
    "triptime-plan",
    "triptime-matrix",
    "triptime-lab",
)


@dataclass(frozen=True)
class Program:
    """A test program."""

    package: str
    target: str
    folder: Path
    has_unit_tests: bool

    def __str__(self):
        return f"{self.package} {self.target}"


def compiler():
    """Settings of the compiler for Cargo: scripts/rustc_of_tests.sh has what follows from them."""
    optimised = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["dev"]["package"]
    levels = " ".join(f"{name}={profile['opt-level']}" for name, profile in optimised.items())
    told = {"RUSTC_WRAPPER": str(ROOT / "scripts/rustc_of_tests.sh"), "TRIPTIME_OPTIMISED": f" {levels} "}
    if not LINTED:
        return told
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    # clippy-driver compiles as rustc does, and lints. Its arguments are separated as cargo-clippy separates them.
    separator = "__CLIPPY_HACKERY__"
    arguments = separator.join(["-D", "warnings", ""])
    return {**told, "TRIPTIME_LINTER": f"{sysroot}/bin/clippy-driver", "CLIPPY_ARGS": arguments}


def packages():
    """The packages of the workspace, as Cargo describes them."""
    command = ["cargo", "metadata", "--no-deps", "--locked", "--format-version=1"]
    return json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)["packages"]


def cargo_test(*arguments):
    """Command that compiles the tests: with all settings of the release, so that they share its libraries."""
    settings = filter(None, [os.environ.get("TRIPTIME_CARGO_CONFIG")])
    command = ["cargo", "test", "--release", "--workspace", "--locked", *arguments]
    return command + [word for setting in settings for word in ("--config", setting)]


def named(programs):
    """How Cargo is asked for programs."""
    return [word for one in sorted(programs, key=str) for word in ("--test", one.target)]


def binary():
    return subprocess.run(["make", "--no-print-directory", "build"], cwd=ROOT, env={**os.environ, **compiler()}).returncode == 0


def program(package, target):
    return Program(package["name"], target["name"], Path(package["manifest_path"]).parent, "test" not in target["kind"])


class Compilation:
    """All test programs, each there as soon as it is compiled."""

    def __init__(self):
        self.packages = {one["id"]: one for one in packages()}
        self.executables = {}
        self.ended = False
        self.succeeded = False
        self.changed = threading.Condition()

    def programs(self):
        """Programs that there will be."""
        return [
            program(package, target)
            for package in self.packages.values()
            for target in package["targets"]
            if target["test"] and "bench" not in target["kind"]
        ]

    def executable(self, wanted):
        """The file of a program, when it is there; `None`: not all compile, and nothing more is to run."""
        with self.changed:
            self.changed.wait_for(lambda: self.ended or wanted in self.executables)
            return None if self.ended and not self.succeeded else self.executables.get(wanted)

    def run(self):
        """Compiles, and says what is wrong. What is linted besides the tests comes last."""
        end_to_end = {one for one in self.programs() if one.package == END_TO_END and not one.has_unit_tests}
        rest = ["--all-targets"] if LINTED else []
        succeeded = self.tests(*named(self.first())) and binary() and self.tests(*named(end_to_end)) and self.tests(*rest)
        with self.changed:
            self.ended, self.succeeded = True, succeeded
            self.changed.notify_all()

    def first(self):
        """Programs in the `tests` folders of packages that measure, and need no binary."""
        integration = [one for one in self.programs() if not one.has_unit_tests]
        # Cargo takes a name, whatever the package: one of this name would be compiled, too. With packages named it would choose other
        # features of dependencies, and compile these again.
        others = {one.target for one in integration if one.package == END_TO_END}
        return {one for one in integration if one.package in MEASURING and one.target not in others}

    def tests(self, *arguments):
        command = cargo_test("--no-run", "--message-format=json-render-diagnostics", *arguments)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, **compiler()})
        for line in process.stdout:
            message = json.loads(line) if line.startswith("{") else {}
            # `--all-targets` compiles the binary as a program of tests too, of which it has none, under the name of its library.
            if message.get("executable") and message["profile"]["test"] and message["target"]["test"]:
                with self.changed:
                    self.executables[program(self.packages[message["package_id"]], message["target"])] = message["executable"]
                    self.changed.notify_all()
        return process.wait() == 0
