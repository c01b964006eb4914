#!/usr/bin/env python3
"""Wake-up latency of triptime and cyclictest at the same time, on the same CPU, half a period apart.

On a noisy machine two runs one after the other see different stalls; two at the same time see the same ones, and their
maxima of one stall differ by the offset between them. Pairs alternate: cyclictest beside itself, whose spread of differences
is what "equal" means here, and triptime beside cyclictest. Which of the two has offset 0 changes from pair to pair.

    bench/peers/concurrent.py [--cpu 1] [--interval-us 1000] [--seconds 10] [--pairs 30]
                              [--flight-recorder]

triptime's flight recorder is off unless `--flight-recorder` is given: cyclictest has none.

Printed: paired differences of p50, mean and p99, of both blocks; for the stalls over a millisecond, by how much the two
maxima differ; what was missed, as triptime counts it and as it follows from cyclictest's histogram; CPU time of the whole
process, its start and end included, per sample, and the ratio of the two of a pair.

Needs: root, rt-tests, target/triptime (make build).
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

BINARY = Path(__file__).resolve().parents[2] / "target" / "triptime"
STALL_US = 1000.0


def start_triptime(options, offset_us, folder):
    file = folder / f"t{offset_us}.triptime"
    file.unlink(missing_ok=True)
    child = subprocess.Popen(
        [str(BINARY), "wakeup", "--quiet", "--cpus", str(options.cpu), "--policy", "fifo:80",
         "--interval", f"{options.interval_us}us", "--duration", f"{options.seconds}s", f"--secaligned={offset_us}us",
         "--out", str(file), *([] if options.flight_recorder else ["--no-flight-recorder"])], stdout=subprocess.DEVNULL)
    return child, lambda: read_triptime(file)


def read_triptime(file):
    document = json.loads(subprocess.check_output([str(BINARY), "report", str(file), "--json"]))
    series = document["series"][0]
    return {"p50": series["p50"] / 1e3, "mean": series["mean"] / 1e3, "p99": (series["p99"] or 0) / 1e3,
            "max": series["max"] / 1e3, "missed": series["missed"], "samples": series["received"]}


def start_cyclictest(options, offset_us, folder):
    file = folder / f"c{offset_us}.json"
    child = subprocess.Popen(
        ["cyclictest", "-q", "-m", "-N", "-p", "80", "-i", str(options.interval_us), "-t", "1", "-a", str(options.cpu),
         "-D", str(options.seconds), "-h", "1000000", f"--secaligned={offset_us}", f"--json={file}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return child, lambda: read_cyclictest(file, options.interval_us)


def read_cyclictest(file, interval_us):
    thread = json.loads(file.read_text())["thread"]["0"]
    buckets = sorted((int(ns), count) for ns, count in thread["histogram"].items())
    cycles, shown = thread["cycles"], sum(count for _, count in buckets)

    def quantile(q):
        below = 0
        for ns, count in buckets:
            below += count
            if below >= q * cycles:
                return ns / 1e3
        return float("nan")

    # Samples beyond the histogram are only known by their number; with one of them, it is the maximum.
    missed = sum(ns // (interval_us * 1000) * count for ns, count in buckets)
    if cycles - shown == 1:
        missed += thread["max"] // (interval_us * 1000)
    elif cycles > shown:
        missed = None
    return {"p50": quantile(0.5), "mean": thread["avg"] / 1e3, "p99": quantile(0.99), "max": thread["max"] / 1e3,
            "missed": missed, "samples": cycles}


def pair(first, second, options, folder):
    """Both at once; each with the other's offset in every second pair."""
    half = options.interval_us // 2
    swapped = options.number % 4 >= 2
    a, read_a = first(options, half if swapped else 0, folder)
    b, read_b = second(options, 0 if swapped else half, folder)
    used = [cpu_us(child) for child in (a, b)]
    options.number += 1
    results = read_a(), read_b()
    for result, us in zip(results, used):
        result["cpu"] = us / result["samples"]
    return results


def cpu_us(child):
    """CPU time in us of a child that has ended, including its ended threads."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{child.args[0]} ended with {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e6


def show(name, pairs, options):
    count = len(pairs)
    print(f"{name}, {count} pairs of {options.seconds} s")
    for figure in ("p50", "mean", "p99"):
        differences = sorted(a[figure] - b[figure] for a, b in pairs)
        middle = statistics.median(differences)
        spread = statistics.pstdev(differences)
        print(f"  {figure:>4}: {statistics.median(a[figure] for a, _ in pairs):8.2f} us and"
              f" {statistics.median(b[figure] for _, b in pairs):8.2f} us; difference median {middle:+7.2f} us,"
              f" sd {spread:6.2f}, from {differences[0]:+.2f} to {differences[-1]:+.2f}")
    ratios = sorted(a["cpu"] / b["cpu"] for a, b in pairs)
    print(f"   CPU: {statistics.median(a['cpu'] for a, _ in pairs):8.2f} us and"
          f" {statistics.median(b['cpu'] for _, b in pairs):8.2f} us a sample; ratio median"
          f" {statistics.median(ratios):.3f}, from {ratios[0]:.3f} to {ratios[-1]:.3f}")
    stalls = [(a["max"], b["max"]) for a, b in pairs if min(a["max"], b["max"]) > STALL_US]
    if stalls:
        off = [abs(abs(a - b) - options.interval_us / 2) for a, b in stalls]
        print(f"  stalls over {STALL_US:.0f} us seen by both: {len(stalls)} of {count}; the maxima differ by the offset to"
              f" within {statistics.median(off):.1f} us (median; worst {max(off):.1f})")
    known = [(a["missed"], b["missed"]) for a, b in pairs if None not in (a["missed"], b["missed"])]
    print(f"  missed, where cyclictest's histogram tells ({len(known)} pairs): {sum(a for a, _ in known)} and"
          f" {sum(b for _, b in known)}")
    return [a["p50"] - b["p50"] for a, b in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", type=int, default=1)
    parser.add_argument("--interval-us", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--flight-recorder", action="store_true")
    options = parser.parse_args()
    options.number = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        same, mixed = [], []
        for _ in range(options.pairs):
            # In turn, so that both meet the same states of the machine.
            same.append(pair(start_cyclictest, start_cyclictest, options, folder))
            mixed.append(pair(start_triptime, start_cyclictest, options, folder))
        null = show("cyclictest beside cyclictest", same, options)
        ours = show("triptime beside cyclictest", mixed, options)
    bound = max(abs(difference) for difference in null)
    inside = sum(abs(difference) <= bound for difference in ours)
    print(f"p50: {inside} of {len(ours)} differences lie within those of cyclictest beside itself (at most {bound:.2f} us)")


if __name__ == "__main__":
    main()
