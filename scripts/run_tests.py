#!/usr/bin/env python3
"""Compiles the binary and every test program of the workspace, and runs the programs: those that tests/groups.toml names under `singly`
one after the other, those under `beside` several at once, those under `pairs` two at once; first, of all these groups, what needs no
binary, while that is compiled. With the time of the CPUs that these leave over the compiler runs, and then those under `computing`.
Those under `last` run when all others have ended, two at once. What a program says is shown in one piece, when it has ended.

A test that measures in real time can fail on a shared machine through a stall that it did not plan. The few such tests that
failed are run again, by themselves: who then passes as often as it is asked to is named as UNSTEADY, all others are FAILED."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from compile_tests import END_TO_END, MEASURING, ROOT, Compilation, Program, cargo_test, compiler

BEGIN = time.monotonic()
GROUPS = ROOT / "tests/groups.toml"
CPUS = len(os.sched_getaffinity(0))
# So many programs beside each other: most of them wait most of the time.
AT_ONCE = int(os.environ.get("TRIPTIME_TESTS_AT_ONCE") or 2 * CPUS + 1)
# How many programs of each group run at once.
GROUPS_AT_ONCE = {"computing": CPUS, "singly": 1, "beside": AT_ONCE, "pairs": 2, "last": 2}
# The groups one after the other: of what needs no binary, and then of the rest, where those come first that leave most for the compiler.
EARLY = ("singly", "beside", "pairs")
LATER = ("pairs", "singly", "beside")
ANY = "*"
# The packages whose programs under `tests` measure in real time. Nothing else is run again, least of all what is randomised.
IN_REAL_TIME = (END_TO_END, *MEASURING)
# And those whose unit tests do, with no chance in them.
UNIT_TESTS_IN_REAL_TIME = ("triptime-run",)
# More failures than these are no accident, also not where the host takes a third of every second: then five of 450 such tests failed.
# And a test that fails every other time rarely passes so often in a row.
AT_MOST_AGAIN = 8
PASSES_AGAIN = 2
# Where tests make their files, if it has room and lets programs run: to make and break thousands of trees takes half the CPU time there.
# Packages that measure, and the store, have the disk that a run has.
IN_MEMORY = Path("/dev/shm")
# Where end-to-end tests make theirs that run while others look at what is left behind in the usual place.
APART = Path("/var/tmp")
ON_DISK = (*IN_REAL_TIME, "triptime-store")
ROOM_OCTETS = 2 << 30
# The longest program takes a third of it. One that waits for ever would be ended with the whole run, and nobody would learn its name.
LONGEST_SECONDS = 1500
IDLE_STATES = Path("/dev/cpu_dma_latency")


@dataclass(frozen=True)
class Entry:
    """A line of the list of groups: a program, or the part of it whose tests have this in their names."""

    group: str
    program: Program
    part: str


@dataclass
class Job:
    """A command, the folder it runs in, and what it is called. With a program, this is put before the command's words."""

    name: str
    command: list
    folder: Path = ROOT
    environment: dict = field(default_factory=dict)
    program: Program | None = None
    is_part: bool = False
    in_real_time: bool = False

    def only(self, test):
        """The same program, of which only this test runs."""
        return replace(self, name=f"{self.name}, again: {test}", command=["--test-threads=1", "--exact", test])


@dataclass(frozen=True)
class Ended:
    """How a job ended, and the tests that it said have failed."""

    job: Job
    succeeded: bool
    failed: tuple


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
                if not found:
                    wrong.append(f"{group}: there is no {package} {name}")
    for one in programs:
        times = len([entry for entry in entries if entry.program == one and not entry.part])
        if times != 1:
            wrong.append(f"{one} is in {'no group' if times == 0 else 'it twice'}")
    if wrong:
        sys.exit("\n".join(f"FAILED: tests/groups.toml: {text}" for text in wrong))
    entries += [Entry("beside" if one.package in IN_REAL_TIME else "computing", one, "") for one in unit_tests]
    return {group: [job(entry, entries) for entry in entries if entry.group == group] for group in GROUPS_AT_ONCE}


def job(entry, entries):
    """A part of a program; or the whole of it, without the parts that are jobs of their own."""
    one = entry.program
    others = [other.part for other in entries if other.program == one and other.part]
    words = [entry.part] if entry.part else [word for part in others for word in ("--skip", part)]
    # The end-to-end tests' processes have threads enough.
    threads = ["--test-threads=1"] if one.package == END_TO_END else []
    environment = {"CARGO_MANIFEST_DIR": str(one.folder)}
    if one.package not in ON_DISK and has_memory():
        environment["TMPDIR"] = str(IN_MEMORY)
    elif entry.group == "computing" and APART.is_dir():
        environment["TMPDIR"] = str(APART)
    name = f"{one}::{entry.part}" if entry.part else str(one)
    in_real_time = one.package in (UNIT_TESTS_IN_REAL_TIME if one.has_unit_tests else IN_REAL_TIME)
    return Job(name, [*threads, *words], one.folder, environment, one, bool(entry.part), in_real_time)


def has_memory():
    try:
        there = os.statvfs(IN_MEMORY)
    except OSError:
        return False
    return there.f_bavail * there.f_frsize >= ROOM_OCTETS and not there.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)


SHOWING = threading.Lock()


def in_session(leader):
    """The other processes in the session of this one, and their commands. Some are in process groups of their own."""
    commands = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_in = int((process / "stat").read_text().rpartition(") ")[2].split()[3]) == leader
            if is_in and process.name != str(leader):
                commands[process] = (process / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
        except OSError:
            # It has ended meanwhile.
            continue
    return {process: command for process, command in commands.items() if command}


def where_it_waits(process):
    """The threads of a process, and the place in the kernel where each one waits."""
    waits = []
    for thread in sorted(process.glob("task/*")):
        try:
            waits.append(f"{(thread / 'comm').read_text().strip()} in {(thread / 'wchan').read_text() or '?'}")
        except OSError:
            continue
    return ", ".join(waits)


def end_what_is_left(leader):
    """Waits until the leader of a session has ended or had its time, ends the others of the session, and returns their commands: a test
    that failed may leave a real-time thread that spins beneath all others. The leader is not reaped yet, so its number is nobody else's."""
    late = []

    def end():
        processes = {Path(f"/proc/{leader}"): "itself", **in_session(leader)}
        late.extend(f"{command} ({where_it_waits(process)})" for process, command in processes.items())
        os.kill(leader, signal.SIGKILL)

    limit = threading.Timer(LONGEST_SECONDS, end)
    limit.start()
    os.waitid(os.P_PID, leader, os.WEXITED | os.WNOWAIT)
    limit.cancel()
    limit.join()
    others = in_session(leader)
    for process in others:
        try:
            os.kill(int(process.name), signal.SIGKILL)
        except ProcessLookupError:
            continue
    return [] if late else list(others.values()), late


def run(job, compilation):
    """Runs a job as soon as its program is compiled, and shows what it said."""
    executable = compilation.executable(job.program) if job.program else ""
    if executable is None:
        return Ended(job, False, ())
    begin = time.monotonic()
    # Not a pipe: it would be waited for until a process that a test left behind has ended, too.
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [executable, *job.command] if executable else job.command,
            cwd=job.folder,
            env={**os.environ, **job.environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        left, late = end_what_is_left(process.pid)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        output = said.read().decode(errors="replace")
    # Also of the processes that it waited for.
    cpu = f"CPU time {used.ru_utime:.1f} s + {used.ru_stime:.1f} s in the kernel"
    cost = f"{time.monotonic() - begin:.1f} s, from {begin - BEGIN:.0f} s on, {cpu}"
    nothing = job.program and "\nrunning 0 tests\n" in output
    with SHOWING:
        print(f"== {job.name}\n{output}== {job.name}: {cost}", flush=True)
        if left:
            print(f"== {job.name} left running, and they are ended: {', '.join(left)}", flush=True)
        if late:
            print(f"{job.name} had not ended after {LONGEST_SECONDS} s; in it ran:", *late, sep="\n  ", flush=True)
        if nothing:
            why = "tests/groups.toml names a part that fits none" if job.is_part else "its Cargo.toml wants `test = false`"
            print(f"{job.name} has no test: {why}", flush=True)
    failed = re.findall(r"^test (\S+) .*FAILED$", output, re.MULTILINE)
    return Ended(job, process.returncode == 0 and not nothing, tuple(failed))


def unsteady(failures, compilation):
    """The failed tests that pass when they are run again; `None`: more failed than chance explains, or one does not pass."""
    again = [(ended.job, test) for ended in failures for test in ended.failed]
    known = all(ended.failed and ended.job.in_real_time for ended in failures)
    if not known or len(again) > AT_MOST_AGAIN:
        return None
    print("== again", flush=True)
    passed = all(run(job.only(test), compilation).succeeded for job, test in again for _ in range(PASSES_AGAIN))
    return [f"{job.name}: {test}" for job, test in again] if passed else None


def run_group(group, jobs, compilation):
    """Runs jobs of a group, and waits for them."""
    begin = time.monotonic()
    with ThreadPoolExecutor(GROUPS_AT_ONCE[group]) as pool:
        ended = list(pool.map(lambda job: run(job, compilation), jobs))
    print(f"== {group}, {len(jobs)} programs: {time.monotonic() - begin:.0f} s, from {begin - BEGIN:.0f} s on", flush=True)
    return ended


def compute(jobs, compilation):
    """Compiles, then runs what computes, all with the time that is left over: threads and processes inherit the policy."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    compilation.run()
    print(f"== compiling: {time.monotonic() - BEGIN:.0f} s", flush=True)
    if not compilation.succeeded:
        return []
    return run_group("computing", jobs["computing"], compilation)


def hold_idle_states():
    """Holds the CPUs out of idle states until the programs have run, as a tuned host does. Runs leave them as the system has them, and a
    virtual CPU that halts wakes milliseconds late: then no test set sends all its samples in time."""
    try:
        limit = IDLE_STATES.open("wb", buffering=0)
        limit.write(bytes(4))
    except OSError as error:
        print(f"idle states are as the system has them: {error}", flush=True)
        return None
    return limit


def main():
    # The kernel holds them for as long as the file is open.
    _limit = hold_idle_states()
    compilation = Compilation()
    jobs = divide(compilation.programs())
    documentation = cargo_test("--no-fail-fast", "--doc")
    jobs["computing"].append(Job("documentation", documentation, environment=compiler()))
    early = compilation.first()
    with ThreadPoolExecutor(1) as meanwhile:
        computing = meanwhile.submit(compute, jobs, compilation)
        ended = []
        for is_early, groups in ((True, EARLY), (False, LATER)):
            for group in groups:
                ended += run_group(group, [one for one in jobs[group] if (one.program in early) == is_early], compilation)
        ended += computing.result()
    if not compilation.succeeded:
        sys.exit("FAILED: the binary or the tests do not compile, or a lint is not kept")
    ended += run_group("last", jobs["last"], compilation)
    failures = [one for one in ended if not one.succeeded]
    passed = unsteady(failures, compilation)
    for name in passed or ():
        print(f"UNSTEADY {name}: failed, then passed {PASSES_AGAIN} times", flush=True)
    if passed is None:
        for one in failures:
            print(f"FAILED: {one.job.name} {' '.join(one.failed)}", flush=True)
        sys.exit(1)


main()
