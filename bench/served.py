#!/usr/bin/env python3
"""Wake-up latency with and without a live page that many readers look at, interleaved (A B B A).

    bench/served.py [--cpu 1] [--interval 1ms] [--seconds 10] [--pairs 12] [--readers 50] [--every 2]

A: `triptime wakeup`. B: the same with `--serve`, and readers who each ask for the page and for /metrics every two seconds, on the other CPUs.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

BINARY = Path(__file__).resolve().parent.parent / "target/triptime"
FIGURES = ["p50", "p99", "p999", "max"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def read(port, every, until, answers):
    while not until.is_set():
        for path in ("/", "/metrics"):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
                    answers.append(len(answer.read()))
            except OSError:
                answers.append(None)
        until.wait(every)


def cpu_s(run):
    """CPU time of the process that serves, in seconds."""
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    for child in children:
        if b"\0serve\0" in Path(f"/proc/{child}/cmdline").read_bytes():
            fields = Path(f"/proc/{child}/stat").read_text().rsplit(") ", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return None


def measure(options, folder, served):
    port = free_port()
    words = [BINARY, "wakeup", "--cpus", str(options.cpu), "--interval", options.interval, "--duration", f"{options.seconds}s", "--policy", "fifo:80",
             "--limits", "substation", "--window", "500ms", "--quiet", "--json", "--out", f"{folder}/{time.monotonic_ns()}.triptime"]
    until, answers, readers, cost = threading.Event(), [], [], None
    run = subprocess.Popen(words + (["--serve", str(port)] if served else []), stdout=subprocess.PIPE)
    if served:
        time.sleep(1)
        readers = [threading.Thread(target=read, args=(port, options.every, until, answers)) for _ in range(options.readers)]
        for reader in readers:
            reader.start()
        time.sleep(max(options.seconds - 2.5, 0.5))
        cost = cpu_s(run)
        until.set()
        for reader in readers:
            reader.join()
    series = json.loads(run.communicate()[0])["series"][0]
    bad = sum(answer is None for answer in answers)
    return {"figures": {name: series[name] / 1e3 for name in FIGURES if series.get(name) is not None}, "missed": series["missed"],
            "answers": len(answers), "bad": bad, "octets": sum(filter(None, answers)), "cost": cost}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--interval", default="1ms")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--readers", type=int, default=50)
    parser.add_argument("--every", type=float, default=2)
    options = parser.parse_args()
    others = os.sched_getaffinity(0) - {options.cpu}
    os.sched_setaffinity(0, others or {options.cpu})
    pairs = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.pairs):
            order = [False, True] if number % 2 == 0 else [True, False]
            done = {served: measure(options, folder, served) for served in order}
            pairs.append((done[False], done[True]))
            print(f"{number + 1}: " + ", ".join(f"{name} {done[False]['figures'].get(name, 0):.1f} and {done[True]['figures'].get(name, 0):.1f} us" for name in FIGURES),
                  f"({done[True]['answers']} answers, {done[True]['bad']} bad, server {done[True]['cost']} s)", flush=True)
    for name in FIGURES:
        both = [(a["figures"][name], b["figures"][name]) for a, b in pairs if name in a["figures"] and name in b["figures"]]
        ratios = sorted(b / a for a, b in both)
        low, middle, high = statistics.quantiles(ratios, n=4)
        print(f"{name:>5}: {statistics.median(a for a, _ in both):8.2f} us without, {statistics.median(b for _, b in both):8.2f} us with;"
              f" ratio median {middle:.3f} (quartiles {low:.3f}, {high:.3f})")
    print(f"missed: {sum(a['missed'] for a, _ in pairs)} without, {sum(b['missed'] for _, b in pairs)} with")
    costs = [b["cost"] / (options.seconds - 1.5) for _, b in pairs if b["cost"] is not None]
    print(f"answers: {sum(b['answers'] for _, b in pairs)}, of them without success {sum(b['bad'] for _, b in pairs)};"
          f" the server took {100 * statistics.median(costs):.1f} % of a CPU")


if __name__ == "__main__":
    main()
