#!/usr/bin/env python3
"""Cost and losses of `triptime subscribe` at the full rate, compared with dumpcap writing the same frames to a file, interleaved.

`triptime publish` sends 30 streams F4800S1 (144 000 frames a second) over a veth pair from one CPU; the receiver runs on the
other. Cost is the CPU time of the receiver's process from start to end (rusage); lost is what was sent and not counted by
the receiver.

    bench/peers/subscribe.py [--streams 30] [--rate 4800] [--asdus 1] [--seconds 60] [--rounds 1] [--cpus 1,0]
                             [--subscribe-options "..."] [--json]

Needs: root, iproute2, dumpcap (wireshark-common), target/triptime (make build). Everything happens in two network namespaces
that are removed at the end.
"""

import argparse
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import figures
from bed import Bed, inside

BINARY = Path(__file__).resolve().parents[2] / "target" / "triptime"


def report(file):
    return json.loads(subprocess.check_output([BINARY, "report", file, "--json"]))


def publish(bed, options, folder):
    """Publishes; returns the frames sent."""
    file = folder / "near.triptime"
    file.unlink(missing_ok=True)
    command = [BINARY, "publish", "a0", "--quiet", "--streams", options.streams, "--rate", options.rate, "--asdus", options.asdus,
               "--cpu", options.cpus[0], "--spin-ahead", "60us", "--engine", "xdp", "--duration", f"{options.seconds}s",
               "--no-flight-recorder", "--out", file]
    subprocess.run(inside(bed.near, *command), stdout=subprocess.DEVNULL)
    return report(file)["series"][0]["received"]


def cost(receiver):
    _, status, usage = os.wait4(receiver.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1, 3):
        raise SystemExit(f"the receiver ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


def triptime(bed, options, folder):
    file = folder / "far.triptime"
    file.unlink(missing_ok=True)
    command = [BINARY, "subscribe", "b0", "--quiet", "--cpu", options.cpus[1], "--rate", options.rate, "--clock", "same-host",
               "--duration", f"{options.seconds + 3}s", "--out", file] + shlex.split(options.subscribe_options)
    receiver = subprocess.Popen(inside(bed.far, *command), stdout=subprocess.DEVNULL)
    time.sleep(1)
    sent = publish(bed, options, folder)
    cpu_s = cost(receiver)
    series = {one["name"]: one for one in report(file)["series"]}
    return {"sent": sent, "received": series["delivery/subscribe"]["received"], "cpu_s": cpu_s}


def dumpcap(bed, options, folder):
    file, log = folder / "far.pcapng", folder / "dumpcap.log"
    command = ["taskset", "-c", options.cpus[1], "dumpcap", "-q", "-i", "b0", "-B", 64, "-f", "ether proto 0x88ba", "-w", file]
    with open(log, "w") as messages:
        receiver = subprocess.Popen(inside(bed.far, *command), stdout=messages, stderr=messages)
    time.sleep(1)
    sent = publish(bed, options, folder)
    time.sleep(1)
    receiver.send_signal(signal.SIGINT)
    cpu_s = cost(receiver)
    received = int(re.search(r"Packets received/dropped on interface '?b0'?: (\d+)", log.read_text()).group(1))
    file.unlink()
    return {"sent": sent, "received": received, "cpu_s": cpu_s}


def show(results, options):
    if options.json:
        print(json.dumps(results, indent=1))
        return
    frames = options.streams * options.rate // options.asdus
    print(f"{frames} frames a second for {options.seconds} s, {options.rounds} rounds")
    for name, rounds in results.items():
        share = statistics.median(one["cpu_s"] / options.seconds for one in rounds)
        each = statistics.median(one["cpu_s"] * 1e6 / one["sent"] for one in rounds)
        lost = sum(one["sent"] - one["received"] for one in rounds)
        sent = sum(one["sent"] for one in rounds)
        print(f"{name:<10}{share:>7.1%} of one core, {each:.2f} us a frame; {lost} of {sent} frames lost")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--rate", type=int, default=4800)
    parser.add_argument("--asdus", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cpus", type=lambda words: words.split(","), default=["1", "0"], help="publisher, receiver")
    parser.add_argument("--subscribe-options", default="", help="more options for triptime subscribe")
    parser.add_argument("--json", action="store_true")
    figures.add_option(parser)
    options = parser.parse_args()
    contestants = {"triptime": triptime, "dumpcap": dumpcap}
    results = {name: [] for name in contestants}
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.rounds):
            for contestant in list(contestants) if number % 2 == 0 else list(reversed(contestants)):
                with Bed("subscribe") as bed:
                    results[contestant].append(contestants[contestant](bed, options, Path(name)))
    show(results, options)
    a_frame = {name: [one["cpu_s"] * 1e6 / one["sent"] for one in rounds] for name, rounds in results.items()}
    figures.append(options.figures, "subscribe", "cpu", "us CPU per frame", a_frame["triptime"], a_frame["dumpcap"], "dumpcap")


if __name__ == "__main__":
    main()
