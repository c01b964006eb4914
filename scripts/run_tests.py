#!/usr/bin/env python3
"""Runs every test program of the workspace: those that tests/groups.toml names under `beside` several at once, then
those under `pairs` two at once, then those under `singly` one after the other, and with the time of the CPUs that these leave over those
under `computing`; those under `alone` when all others have ended. What a program says is shown in one piece, when it has ended.

A test that measures in real time can fail on a shared machine through a stall that it did not plan. The few such tests that
failed are run again, by themselves: who then passes as often as it is asked to is named as UNSTEADY, all others are FAILED."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Lint while compiling, and let no warning pass: as `make check` does, without another compilation of everything (`.ci/run`).
LINTED = os.environ.get("TRIPTIME_LINTED") == "1"
GROUPS = ROOT / "tests/groups.toml"
# What Cargo's profile for development has, and its profile for releases has not.
IN_DEVELOPMENT = {"opt-level": 0, "debug-assertions": True, "overflow-checks": True, "strip": "none", "codegen-units": 4}
CPUS = len(os.sched_getaffinity(0))
# So many programs beside each other: most of them wait most of the time.
AT_ONCE = int(os.environ.get("TRIPTIME_TESTS_AT_ONCE") or 2 * CPUS)
# How many programs of each group run at once.
GROUPS_AT_ONCE = {"computing": CPUS, "beside": AT_ONCE, "pairs": 2, "singly": 1, "alone": 1}
# The groups one after the other. What computes runs meanwhile, at idle priority.
IN_TURN = ("beside", "pairs", "singly")
ANY = "*"
# The packages whose programs under `tests` measure in real time. Nothing else is run again, least of all what is randomised.
IN_REAL_TIME = ("triptime-tests", "triptime-lab", "triptime-probes", "triptime-trace", "triptime-sys")
# More failures than these are no accident; and a test that fails every other time rarely passes so often in a row.
AT_MOST_AGAIN = 3
PASSES_AGAIN = 2
# Where tests make their files, if it has room and lets programs run: to make and break thousands of trees takes half the CPU time there.
# Packages that measure, and the store, have the disk that a run has.
IN_MEMORY = Path("/dev/shm")
ON_DISK = (*IN_REAL_TIME, "triptime-store")
ROOM_OCTETS = 2 << 30


@dataclass(frozen=True)
class Program:
    """A test program as Cargo built it."""

    package: str
    target: str
    executable: str
    folder: Path
    has_unit_tests: bool

    def __str__(self):
        return f"{self.package} {self.target}"


@dataclass(frozen=True)
class Entry:
    """A line of the list of groups: a program, or the part of it whose tests have this in their names."""

    group: str
    program: Program
    part: str


@dataclass
class Job:
    """A command, the folder it runs in, and what it is called."""

    name: str
    command: list
    folder: Path = ROOT
    environment: dict = field(default_factory=dict)
    in_real_time: bool = False

    def only(self, test):
        """The same program, of which only this test runs."""
        command = [self.command[0], "--test-threads=1", "--exact", test]
        return replace(self, name=f"{self.name}, again: {test}", command=command)


@dataclass(frozen=True)
class Ended:
    """How a job ended, and the tests that it said have failed."""

    job: Job
    succeeded: bool
    failed: tuple


def compiler():
    """What cargo is told of the compiler, at each call alike: another one would compile everything again."""
    if not LINTED:
        return {}
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    # clippy-driver compiles as rustc does, and lints. Its arguments are separated as cargo-clippy separates them.
    separator = "__CLIPPY_HACKERY__"
    arguments = separator.join(["-D", "warnings", ""])
    return {"RUSTC_WORKSPACE_WRAPPER": f"{sysroot}/bin/clippy-driver", "CLIPPY_ARGS": arguments}


def cargo_test(*arguments):
    """What compiles the tests: as the release is compiled, so that they share its dependencies; our own crates as in development."""
    command = ["cargo", "test", "--release", "--workspace", "--locked", *arguments]
    settings = list(filter(None, [os.environ.get("TRIPTIME_CARGO_CONFIG")]))
    metadata = ["cargo", "metadata", "--no-deps", "--locked", "--format-version=1"]
    listed = json.loads(subprocess.run(metadata, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    optimised = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["dev"]["package"]
    for name in (one["name"] for one in listed["packages"]):
        profile = {**IN_DEVELOPMENT, **optimised.get(name, {})}
        settings += [f"profile.release.package.{name}.{key}={json.dumps(value)}" for key, value in profile.items()]
    return command + [word for setting in settings for word in ("--config", setting)]


def build():
    """Compiles all tests at once, and what else is linted; the programs of the tests."""
    command = cargo_test("--no-run", "--message-format=json-render-diagnostics")
    if LINTED:
        command.append("--all-targets")
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, **compiler()})
    if built.returncode != 0:
        sys.exit("FAILED: the tests do not compile, or a lint is not kept")
    messages = [json.loads(line) for line in built.stdout.splitlines() if line.startswith("{")]
    tests = [one for one in messages if one.get("executable") and one["profile"]["test"]]
    return [program(one) for one in tests if "bench" not in one["target"]["kind"]]


def program(message):
    folder = Path(message["manifest_path"]).parent
    package = tomllib.loads((folder / "Cargo.toml").read_text())["package"]["name"]
    has_unit_tests = "test" not in message["target"]["kind"]
    return Program(package, message["target"]["name"], message["executable"], folder, has_unit_tests)


def divide(programs):
    """The jobs of each group. Ends with what is wrong with the list of groups."""
    entries, wrong = [], []
    unit_tests = [one for one in programs if one.has_unit_tests]
    programs = [one for one in programs if not one.has_unit_tests]
    for group, packages in tomllib.loads(GROUPS.read_text()).items():
        for package, names in packages.items():
            for name in names:
                target, _, part = name.partition("::")
                found = [one for one in programs if one.package == package and target in (one.target, ANY)]
                entries += [Entry(group, one, part) for one in found]
                if not found or part and not has_test(found[0], part):
                    wrong.append(f"{group}: there is no {package} {name}")
    for one in programs:
        times = len([entry for entry in entries if entry.program == one and not entry.part])
        if times != 1:
            wrong.append(f"{one} is in {'no group' if times == 0 else 'it twice'}")
    if wrong:
        sys.exit("\n".join(f"FAILED: tests/groups.toml: {text}" for text in wrong))
    entries += [Entry("beside" if one.package in IN_REAL_TIME else "computing", one, "") for one in unit_tests]
    return {group: [job(entry, entries) for entry in entries if entry.group == group] for group in GROUPS_AT_ONCE}


def has_test(one, part):
    listed = subprocess.run([one.executable, "--list", part], stdout=subprocess.PIPE, text=True, check=True)
    return any(line.endswith(": test") for line in listed.stdout.splitlines())


def job(entry, entries):
    """A part of a program; or the whole of it, without the parts that are jobs of their own."""
    one = entry.program
    others = [other.part for other in entries if other.program == one and other.part]
    words = [entry.part] if entry.part else [word for part in others for word in ("--skip", part)]
    # The end-to-end tests' processes have threads enough.
    threads = ["--test-threads=1"] if one.package == "triptime-tests" else []
    environment = {"CARGO_MANIFEST_DIR": str(one.folder)}
    if one.package not in ON_DISK and has_memory():
        environment["TMPDIR"] = str(IN_MEMORY)
    name = f"{one}::{entry.part}" if entry.part else str(one)
    in_real_time = one.package in IN_REAL_TIME and not one.has_unit_tests
    return Job(name, [one.executable, *threads, *words], one.folder, environment, in_real_time)


def has_memory():
    try:
        there = os.statvfs(IN_MEMORY)
    except OSError:
        return False
    return there.f_bavail * there.f_frsize >= ROOM_OCTETS and not there.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)


SHOWING = threading.Lock()


def run(job):
    """Runs a job and shows what it said."""
    begin = time.monotonic()
    # Not a pipe: it would be waited for until a process that a test left behind has ended, too.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            job.command,
            cwd=job.folder,
            env={**os.environ, **job.environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read()
    # Also of the processes that it waited for.
    cost = f"{time.monotonic() - begin:.1f} s, CPU time {used.ru_utime:.1f} s + {used.ru_stime:.1f} s in the kernel"
    with SHOWING:
        print(f"== {job.name}", flush=True)
        sys.stdout.buffer.write(output)
        print(f"== {job.name}: {cost}", flush=True)
    failed = re.findall(r"^test (\S+) .*FAILED$", output.decode(errors="replace"), re.MULTILINE)
    return Ended(job, process.returncode == 0, tuple(failed))


def unsteady(failures):
    """The failed tests that pass when they are run again; `None`: more failed than chance explains, or one does not pass."""
    again = [(ended.job, test) for ended in failures for test in ended.failed]
    known = all(ended.failed and ended.job.in_real_time for ended in failures)
    if not known or len(again) > AT_MOST_AGAIN:
        return None
    print("== again", flush=True)
    passed = all(run(job.only(test)).succeeded for job, test in again for _ in range(PASSES_AGAIN))
    return [f"{job.name}: {test}" for job, test in again] if passed else None


def run_group(group, jobs, each_worker=None):
    """Runs the jobs of a group, and waits for them."""
    begin = time.monotonic()
    with ThreadPoolExecutor(GROUPS_AT_ONCE[group], initializer=each_worker) as pool:
        ended = list(pool.map(run, jobs[group]))
    print(f"== {group}: {time.monotonic() - begin:.0f} s", flush=True)
    return ended


def idle():
    """This thread, and the processes that it starts, have only the time that is left over."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main():
    jobs = divide(build())
    documentation = cargo_test("--no-fail-fast", "--doc")
    jobs["computing"].append(Job("documentation", documentation, environment=compiler()))
    with ThreadPoolExecutor(1) as meanwhile:
        computing = meanwhile.submit(run_group, "computing", jobs, idle)
        ended = [one for group in IN_TURN for one in run_group(group, jobs)] + computing.result()
    ended += run_group("alone", jobs)
    failures = [one for one in ended if not one.succeeded]
    passed = unsteady(failures)
    for name in passed or ():
        print(f"UNSTEADY {name}: failed, then passed {PASSES_AGAIN} times", flush=True)
    if passed is None:
        for one in failures:
            print(f"FAILED: {one.job.name} {' '.join(one.failed)}", flush=True)
        sys.exit(1)


main()
