#!/usr/bin/env python3
"""`triptime import` and `report` compared with SEAPATH's sv-timestamp-analysis on the same samples: time, memory, and results.

Both get the two files that sv_timestamp_logger writes at the publisher and at the subscriber. triptime also reports the same number of
samples from a run file of its own. Runs A B B A; the files are read once before, so that all find them in the page cache.

    bench/peers/analysis.py [--samples 1000000] [--streams 1] [--peer-samples N] [--script DIR/sv_timestamp_analysis.py]

The peer is on no package index: name its script with --script, from a copy of seapath/sv-timestamp-analysis. Without it only triptime is
measured, and that is said. The peer reports one stream only, so it is given one stream however many there are, and --peer-samples where all
would not fit into memory.

Needs: cargo, target/triptime (make build); for the peer: pandas and matplotlib (pip).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TRIPTIME_BIN", ROOT / "target" / "triptime"))


def generator():
    """The built generator; RECORDING_BIN names an existing one."""
    if "RECORDING_BIN" in os.environ:
        return [os.environ["RECORDING_BIN"]]
    return ["cargo", "run", "--quiet", "--release", "-p", "triptime-bench", "--example", "recording", "--"]


def generate(*words):
    begin = time.monotonic()
    subprocess.run(generator() + [str(word) for word in words], check=True, cwd=ROOT)
    print(f"made {words[1]} and what belongs to it in {time.monotonic() - begin:.1f} s")


def timed(command, directory):
    """Runs a command; returns wall s, CPU s, peak MB and its output."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.DEVNULL, cwd=directory)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        out.seek(0)
        text = out.read().decode()
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{command[0]} ended with {os.waitstatus_to_exitcode(status)}: {text[-500:]}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def show(what, samples, runs):
    for wall, cpu, peak, _ in runs:
        print(f"{what}: {samples} samples in {wall:.2f} s ({cpu:.2f} s of CPU, {wall / samples * 1e9:.0f} ns a sample), {peak:.0f} MB")


def head(source, target, stream, lines):
    """The first lines of one stream."""
    kept = 0
    mark = f":{stream}:"
    with open(source) as every, open(target, "w") as some:
        for line in every:
            if kept == lines:
                break
            if mark in line:
                some.write(line)
                kept += 1
    return kept


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--samples", type=int, default=1_000_000)
    arguments.add_argument("--streams", type=int, default=1)
    arguments.add_argument("--peer-samples", type=int)
    arguments.add_argument("--script")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        publisher, subscriber, run = directory / "pub.txt", directory / "sub.txt", directory / "run.triptime"
        generate("logger", publisher, subscriber, options.samples, options.streams)
        generate("run", run, options.samples, options.streams)
        size = run.stat().st_size
        print(f"run file: {size} octets, {size / options.samples:.3f} a sample at two points")

        out = directory / "imported.triptime"

        def ours():
            out.unlink(missing_ok=True)
            command = [BINARY, "import", subscriber, "--publisher", publisher, "--clock", "same-host", "--rate", 4800]
            return timed(command + ["--json", "--out", out], directory)

        def theirs():
            return timed([sys.executable, script, "--pub", peer_publisher, "--sub", peer_subscriber, "-S", "0"], directory)

        script = Path(options.script).resolve() if options.script else None
        if script is None:
            print("no sv-timestamp-analysis (--script): only triptime is measured")
            imports = [ours(), ours()]
        else:
            peer_publisher, peer_subscriber = directory / "peer_pub.txt", directory / "peer_sub.txt"
            most = options.peer_samples or options.samples
            compared = head(publisher, peer_publisher, "0000", most)
            head(subscriber, peer_subscriber, "0000", most)
            first = ours()
            peers = [theirs(), theirs()]
            imports = [first, ours()]
            show("sv-timestamp-analysis", compared, peers)
        show("triptime import of a pair, with report", options.samples, imports)
        show("triptime report of a run file", options.samples, [timed([BINARY, "report", run, "--json"], directory) for _ in range(3)])
        recording = json.loads(imports[0][3])["recording"]
        print(f"received {recording['received']}, lost {recording['lost']}:", recording["latencies"][0]["figures"])


if __name__ == "__main__":
    main()
