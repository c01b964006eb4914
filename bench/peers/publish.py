#!/usr/bin/env python3
"""Lateness of `triptime publish` and of open61850's real-time engine: the same streams over a veth pair, interleaved.

Judged by neither: arrivals.c, a receiver of its own at the far end, subtracts from the kernel's receive stamp the instant that
smpCnt stands for. Both publishers run SCHED_FIFO 60 on the same CPU, the receiver on another. Rounds run A B C C B A; compare
within one run. triptime counts a frame as due at its last sample, open61850 at its first; each is judged by its own.

    bench/peers/publish.py [--streams 30] [--rate 4800] [--asdus 1] [--seconds 5] [--rounds 4] [--cpus 1,0]
                           [--spin-ahead 60us] [--far-thread] [--json]

Over veth the far end's receive work is done by the sender's CPU, within its send call. With --far-thread it is done by a thread on
the receiver's CPU, as behind a real NIC: for more frames than one CPU can both send and receive. Of more than 30 streams only
every sixteenth is judged, so that the receiver keeps up; how many frames came in all, the interface counts.

Needs: root, iproute2, ethtool, cc, python3-venv, target/triptime (make build). open61850 comes from the Python package index into
target/open61850. Everything happens in two network namespaces that are removed at the end.
"""

import argparse
import json
import math
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from bed import Bed, inside, run

HERE = Path(__file__).resolve().parent
TARGET = HERE.parents[1] / "target"
PEER = TARGET / "open61850"
EXTRA_S = 2  # publishers run longer than they are judged
OPEN61850 = """
import sys, time
from open61850.sv_publisher import Publisher, SvStream, three_phase
streams, rate, asdus, cpu, seconds = map(int, sys.argv[1:])
publisher = Publisher("a0", rate=rate, asdus_per_frame=asdus, engine="native", rt_priority=60, cpu=cpu)
for number in range(streams):
    publisher.add(SvStream(sv_id=f"MU{number + 1:02d}", app_id=0x4000, dst_mac=f"01:0c:cd:04:{number >> 8:02x}:{number & 255:02x}",
                           src_mac="02:00:00:00:00:01", waves=three_phase(i_peak=565.685, v_peak=16329.93, layout="4I4U")))
with publisher:
    publisher.start()
    time.sleep(seconds)
"""


def peer_python():
    python = PEER / "bin" / "python"
    if not python.exists():
        run("python3", "-m", "venv", PEER)
        run(PEER / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "open61850[rt]==0.9.12")
    return python


def contestants(options, folder):
    """For each program: the command that publishes, and the sample at whose instant its frames are due."""
    seconds = options.seconds + EXTRA_S
    publish = [TARGET / "triptime", "publish", "a0", "--quiet", "--streams", options.streams, "--rate", options.rate,
               "--asdus", options.asdus, "--policy", "fifo:60", "--cpu", options.cpus[0], "--spin-ahead", options.spin_ahead,
               "--duration", f"{seconds}s", "--no-flight-recorder"]
    peer = [peer_python(), "-c", OPEN61850, options.streams, options.rate, options.asdus, options.cpus[0], seconds]
    return {
        "triptime packet": (publish + ["--out", folder / "packet.triptime"], "last"),
        "triptime xdp": (publish + ["--engine", "xdp", "--out", folder / "xdp.triptime"], "last"),
        "open61850[rt]": (peer, "first"),
    }


def measure(command, due, receiver, options):
    with Bed("publish") as bed:
        if options.far_thread:
            bed.far_end_works_on(options.cpus[1])
        judge = subprocess.Popen(inside(bed.far, receiver, "b0", options.cpus[1], options.seconds, options.rate, due, every(options)),
                                 stdout=subprocess.PIPE, text=True)
        time.sleep(0.3)
        publisher = subprocess.Popen(inside(bed.near, *command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        outcome = judge.communicate()[0]
        message = publisher.communicate()[1]
        if judge.returncode != 0:
            raise SystemExit(f"{command[0]}: nothing arrived: {message}")
        received, dropped = bed.received()
        return json.loads(outcome) | {"received": received / due_frames(options), "no_room": dropped}


def every(options):
    """Number of streams of which one is judged."""
    return 1 if options.streams <= 30 else 16


def due_frames(options):
    """Frames due while the publishers run, whose first second may be a part of one."""
    return options.streams * options.rate // options.asdus * (options.seconds + EXTRA_S)


def show(results, options):
    if options.json:
        print(json.dumps(results, indent=1))
        return
    a_second = options.streams * options.rate // options.asdus
    judged = -(-options.streams // every(options)) / options.streams
    due = a_second * judged * (options.seconds - 0.2)
    print(f"{options.streams} streams F{options.rate}S{options.asdus}: {a_second} frames due a second, {judged:.0%} of them judged")
    print(f"{'ns':<18}{'received':>9}{'arrived':>9}{'p50':>9}{'p99':>9}{'p99.9':>10}  p99 of the rounds")
    for name, rounds in results.items():
        p50, p99, p999 = (round(statistics.median(one[key] for one in rounds)) for key in ("p50", "p99", "p999"))
        arrived = statistics.median(one["frames"] for one in rounds) / due
        received = statistics.median(one["received"] for one in rounds)
        print(f"{name:<18}{received:>9.2%}{arrived:>9.2%}{p50:>10}{p99:>9}{p999:>10}  {[one['p99'] for one in rounds]}")
    for name in [name for name in results if name.startswith("triptime")]:
        for key in ("p50", "p99"):
            # A program that cannot keep up has no known lateness, because its counter moves away from the clock.
            pairs = zip(results[name], results["open61850[rt]"])
            ratios = [own[key] / other[key] for own, other in pairs if other["received"] > 0.9] or [math.nan]
            print(f"{name} / open61850[rt], {key}: median {statistics.median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--rate", type=int, default=4800)
    parser.add_argument("--asdus", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--cpus", type=lambda words: words.split(","), default=["1", "0"], help="publisher, receiver")
    parser.add_argument("--spin-ahead", default="60us")
    parser.add_argument("--far-thread", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        receiver = folder / "arrivals"
        run("cc", "-O2", "-o", receiver, HERE / "arrivals.c")
        entrants = contestants(options, folder)
        results = {name: [] for name in entrants}
        for number in range(options.rounds):
            for name in list(entrants) if number % 2 == 0 else list(reversed(entrants)):
                results[name].append(measure(*entrants[name], receiver, options))
                for file in folder.glob("*.triptime*"):
                    file.unlink()
    show(results, options)


if __name__ == "__main__":
    main()
