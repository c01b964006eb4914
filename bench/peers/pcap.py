#!/usr/bin/env python3
"""`triptime pcap` and tshark on the same capture: time, memory, and a check that both count the same.

tshark is asked for what the analysis rests on: svID, smpCnt and the stamp of each frame, which this script counts per stream
as it comes; so its time is tshark's own, taken from the process, not that of Python. Runs A B B A; the file is read once
before, so that both find it in the page cache.

    bench/peers/pcap.py [--capture FILE] [--frames 500000] [--streams 20] [--rounds 1]

Without --capture one is generated (crates/analysis/examples/sv_capture.rs).

Needs: tshark, cargo, target/triptime (make build).
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import figures

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("TRIPTIME_BIN", ROOT / "target" / "triptime"))


def generate(file, options):
    """A capture of sampled values without faults."""
    command = ["cargo", "run", "--quiet", "--release", "-p", "triptime-analysis", "--example", "sv_capture", "--"]
    subprocess.run(command + [str(file), str(options.frames), str(options.streams)], check=True, cwd=ROOT)


def timed(command, take):
    """Runs a command, passes its output to `take`; returns its wall s, CPU s and peak MB."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    take(child.stdout)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def triptime(capture, folder):
    """Frames and extremes of the spacing of each stream, and the cost."""
    run = folder / "run.triptime"
    run.unlink(missing_ok=True)
    text = []
    cost = timed([str(BINARY), "pcap", str(capture), "--json", "--out", str(run)], lambda out: text.append(out.read()))
    found = {}
    for series in json.loads(text[0])["series"]:
        name = series["name"].removeprefix("spacing/")
        # The first frame has no spacing.
        found[name] = (series["received"] + series["duplicate"] + 1, series["min"], series["max"])
    return found, cost


def tshark(capture, _):
    """The same figures by tshark."""
    frames, last, low, high = Counter(), {}, defaultdict(lambda: 1 << 62), defaultdict(lambda: -(1 << 62))

    def take(out):
        for line in out:
            stamp, name, _ = line.rstrip("\n").split("\t")
            seconds, part = stamp.split(".")
            ns = int(seconds) * 1_000_000_000 + int(part.ljust(9, "0"))
            frames[name] += 1
            if name in last:
                low[name] = min(low[name], ns - last[name])
                high[name] = max(high[name], ns - last[name])
            last[name] = ns

    fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "sv.svID", "-e", "sv.smpCnt"]
    cost = timed(["tshark", "-n", "-r", str(capture)] + fields, take)
    return {name: (frames[name], low[name], high[name]) for name in frames}, cost


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capture", type=Path)
    parser.add_argument("--frames", type=int, default=500_000)
    parser.add_argument("--streams", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    figures.add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture = options.capture or folder / "sv.pcap"
        if options.capture is None:
            generate(capture, options)
        with open(capture, "rb") as file:
            while file.read(1 << 24):
                pass
        best, found, spent = {}, {}, {triptime: [], tshark: []}
        for _ in range(options.rounds):
            for tool in (triptime, tshark, tshark, triptime):
                streams, cost = tool(capture, folder)
                found[tool] = streams
                best[tool] = min(best.get(tool, cost), cost, key=lambda cost: cost[1])
                frames = sum(stream[0] for stream in streams.values())
                wall, cpu, peak = cost
                spent[tool].append(cpu)
                print(f"{tool.__name__:>8}  {wall:8.2f} s wall  {cpu:8.2f} s CPU  {peak:7.1f} MB  {frames} frames"
                      f"  {frames / cpu / 1e6:8.3f} M frames/s per core")
    if found[triptime] != found[tshark]:
        raise SystemExit(f"they differ: {found[triptime]} and {found[tshark]}")
    print(f"both count the same frames, shortest and longest spacing in {len(found[tshark])} streams")
    figures.append(options.figures, "pcap", "cpu", "s CPU", spent[triptime], spent[tshark], "tshark")
    print(f"CPU of tshark / triptime, best of each: {best[tshark][1] / best[triptime][1]:.0f}")


if __name__ == "__main__":
    main()
