#!/usr/bin/env python3
"""Wake-up latency of triptime and cyclictest (rt-tests), interleaved, and the cost of a sample of each.

Cost is the CPU time of the whole process (rusage, which the scheduler accounts to the nanosecond) over its samples. With
--cost cyclictest runs without its histogram of a million buckets, whose set-up would count against it.

Rounds run A B B A, one CPU, same policy and priority, same interval, both holding /dev/cpu_dma_latency at 0. On a noisy
machine look at the medians and at the ratio of neighbouring runs, never at the maxima of separate runs.

    bench/peers/wakeup.py [--cpu 1] [--interval-us 1000] [--seconds 5] [--rounds 4] [--cost] [--no-flight-recorder]

Needs: root, rt-tests, target/triptime (make build).
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import figures

BINARY = Path(__file__).resolve().parents[2] / "target" / "triptime"


def run(command):
    """Runs a command; returns its CPU time in microseconds, or ends with its output."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    message = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(command)}: {message}")
    return (usage.ru_utime + usage.ru_stime) * 1e6


def triptime(options, folder):
    """Median in us, samples and CPU us per sample of one run of triptime."""
    file = folder / "run.triptime"
    file.unlink(missing_ok=True)
    cpu_us = run([str(BINARY), "wakeup", "--quiet", "--hold-idle", "--cpus", str(options.cpu), "--policy", "fifo:80",
                  "--interval", f"{options.interval_us}us", "--duration", f"{options.seconds}s", "--out", str(file)]
                 + ["--no-flight-recorder"] * options.no_flight_recorder)
    document = json.loads(subprocess.check_output([str(BINARY), "report", str(file), "--json"]))
    series = document["series"][0]
    return series["p50"] / 1e3, series["received"], cpu_us / series["received"]


def cyclictest(options, folder):
    """The same for one run of cyclictest."""
    file = folder / "cyclictest.json"
    histogram = [] if options.cost else ["-h", "1000000"]
    cpu_us = run(["cyclictest", "-q", "-m", "-N", "-p", "80", "-i", str(options.interval_us), "-t", "1",
                  "-a", str(options.cpu), "-D", str(options.seconds), f"--json={file}"] + histogram)
    thread = json.loads(file.read_text())["thread"]["0"]
    if options.cost:
        return thread["avg"] / 1e3, thread["cycles"], cpu_us / thread["cycles"]
    buckets = sorted((int(ns), count) for ns, count in thread["histogram"].items())
    half, below = sum(count for _, count in buckets) / 2, 0
    for ns, count in buckets:
        below += count
        if below >= half:
            return ns / 1e3, thread["cycles"], cpu_us / thread["cycles"]
    raise SystemExit("cyclictest measured nothing")


def note(options, medians, costs):
    """Appends the figures that this run is of: with --cost the medians are not of the same kind."""
    if options.cost:
        figures.append(options.figures, "wakeup", "cost", "us CPU per sample", costs[triptime], costs[cyclictest], "cyclictest")
    else:
        figures.append(options.figures, "wakeup", "p50", "us", medians[triptime], medians[cyclictest], "cyclictest")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--interval-us", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--cost", action="store_true", help="compare what a sample costs (cyclictest shows its mean then)")
    parser.add_argument("--no-flight-recorder", action="store_true", help="leave out what cyclictest does not have either")
    figures.add_option(parser)
    options = parser.parse_args()
    medians = {triptime: [], cyclictest: []}
    costs = {triptime: [], cyclictest: []}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(options.rounds):
            for tool in (triptime, cyclictest, cyclictest, triptime):
                median, samples, cost = tool(options, Path(name))
                medians[tool].append(median)
                costs[tool].append(cost)
                print(f"{tool.__name__:>11}  p50 {median:7.2f} us  {samples:7} samples  {cost:6.2f} us CPU per sample")
    ratios = [a / b for a, b in zip(medians[triptime], medians[cyclictest])]
    for tool in (triptime, cyclictest):
        print(f"{tool.__name__:>11}  median of p50 {statistics.median(medians[tool]):.2f} us"
              f" ({min(medians[tool]):.2f} to {max(medians[tool]):.2f}),"
              f" CPU per sample {statistics.median(costs[tool]):.2f} us")
    print(f"  p50 triptime / cyclictest, neighbouring runs: median {statistics.median(ratios):.3f}"
          f" ({min(ratios):.3f} to {max(ratios):.3f})")
    note(options, medians, costs)


if __name__ == "__main__":
    main()
