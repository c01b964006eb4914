#!/usr/bin/env python3
"""Round trips of `triptime reflect` and of minimal C programs over the same veth pair: AF_PACKET ring, recv, AF_XDP.

Both ends spin and send back to back, one process per end, pinned to one CPU each, SCHED_FIFO 10, frames of 60 octets. Rounds
run A B C ... C B A, so that slow changes of the machine strike all alike; compare medians of one run, never of two. Each has
a veth pair of its own, so that none finds what another left behind.

    bench/peers/rtt.py [--rounds 6] [--trips 300000] [--cpus 0,1] [--triptime PATH] [--reflect-options "..."] [--json] [--figures FILE]

Printed: for each contestant the median over its rounds of minimum, median, p99 and p99.9 in ns, and how its median compares
with the fastest peer's, round by round.

Needs: root, iproute2, cc, target/triptime (make build). Everything happens in two network namespaces that are removed at the
end.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import figures

HERE = Path(__file__).resolve().parent
BINARY = HERE.parents[1] / "target" / "triptime"
PEERS = ["ring", "ring-bypass", "ring-xdp", "recv", "xdp-native", "xdp-generic"]
NEAR, FAR = (f"triptime-rtt-{side}-{os.getpid()}" for side in "ab")
LEAD_S = 0.3


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def build_bed():
    for namespace in (NEAR, FAR):
        run("ip", "netns", "add", namespace)
        for scope in ("all", "default"):
            path = f"net.ipv6.conf.{scope}.disable_ipv6=1"
            subprocess.run(["ip", "netns", "exec", namespace, "sysctl", "-qw", path], stderr=subprocess.DEVNULL)
    run("ip", "-n", NEAR, "link", "add", "a0", "type", "veth", "peer", "name", "b0", "netns", FAR)
    run("ip", "-n", NEAR, "link", "set", "a0", "up")
    run("ip", "-n", FAR, "link", "set", "b0", "up")
    # A request for one interface makes the kernel handle the carrier at once.
    until = time.monotonic() + 5
    while time.monotonic() < until:
        told = [subprocess.check_output(["ip", "-n", ns, "link", "show", "dev", dev]) for ns, dev in ((NEAR, "a0"), (FAR, "b0"))]
        if all(b"state UP" in one for one in told):
            return
        time.sleep(0.05)
    raise SystemExit("the veth pair got no carrier")


def remove_bed():
    for namespace in (NEAR, FAR):
        subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)


def inside(namespace, command):
    return ["ip", "netns", "exec", namespace] + [str(word) for word in command]


def with_far_end(command, measure):
    """Runs `measure` while the far end runs."""
    far = subprocess.Popen(inside(FAR, command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(LEAD_S)
        if far.poll() is not None:
            raise SystemExit(f"{shlex.join(map(str, command))}: {far.stderr.read()}")
        return measure()
    finally:
        far.terminate()
        far.wait()


def peer(program, engine, options):
    near = inside(NEAR, [program, "ping", engine, "a0", options.cpus[0], options.trips])
    return with_far_end(
        [program, "pong", engine, "b0", options.cpus[1], 0],
        lambda: json.loads(subprocess.run(near, check=True, stdout=subprocess.PIPE).stdout),
    )


def triptime(folder, options):
    common = ["--quiet", "--policy", "fifo:10", "--interval", "0"] + shlex.split(options.reflect_options)
    far_file, near_file = folder / "far.triptime", folder / "near.triptime"
    for file in (far_file, near_file):
        file.unlink(missing_ok=True)
    far = [options.triptime, "reflect", "b0", "--role", "reflector", "--cpu", options.cpus[1], "--out", far_file] + common
    near = [options.triptime, "reflect", "a0", "--role", "initiator", "--cpu", options.cpus[0]]
    near += ["--duration", f"{options.seconds}s", "--out", near_file] + common

    def measure():
        done = subprocess.run(inside(NEAR, near), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"triptime: {done.stderr}")

    with_far_end(far, measure)
    document = json.loads(subprocess.check_output([options.triptime, "report", near_file, "--json"]))
    series = next(series for series in document["series"] if series["name"] == "rtt/reflect")
    lost = series.get("lost", 0)
    return {"min": series["min"], "p50": series["p50"], "p99": series["p99"], "p999": series["p999"], "lost": lost}


def show(results, options):
    if options.json:
        print(json.dumps(results, indent=1))
        return
    print(f"{'contestant (round trip, ns)':<30}{'min':>8}{'median':>8}{'p99':>8}{'p99.9':>9}{'lost':>6}  medians of the rounds")
    for name, rounds in results.items():
        middle = [round(statistics.median(one[key] for one in rounds)) for key in ("min", "p50", "p99", "p999")]
        lost = sum(one["lost"] for one in rounds)
        print(f"{name:<30}{middle[0]:>8}{middle[1]:>8}{middle[2]:>8}{middle[3]:>9}{lost:>6}  {[one['p50'] for one in rounds]}")
    ours = results["triptime"]
    for name in PEERS:
        ratios = [own["p50"] / other["p50"] for own, other in zip(ours, results[name])]
        print(f"triptime / {name}: median of the rounds' ratios {statistics.median(ratios):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--trips", type=int, default=300_000, help="of a C program, in one round")
    parser.add_argument("--seconds", type=float, default=1, help="of triptime, in one round")
    parser.add_argument("--cpus", type=lambda words: words.split(","), default=["0", "1"], help="initiator, reflector")
    parser.add_argument("--triptime", type=Path, default=BINARY)
    parser.add_argument("--reflect-options", default="", help="more options for both ends of triptime")
    parser.add_argument("--json", action="store_true")
    figures.add_option(parser)
    options = parser.parse_args()
    results = {name: [] for name in PEERS + ["triptime"]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "rtt"
        run("cc", "-O2", "-o", program, HERE / "rtt.c")
        for number in range(options.rounds):
            for contestant in list(results) if number % 2 == 0 else list(reversed(results)):
                try:
                    build_bed()
                    one = triptime(folder, options) if contestant == "triptime" else peer(program, contestant, options)
                finally:
                    remove_bed()
                results[contestant].append(one)
    show(results, options)
    p50 = {name: [one["p50"] for one in rounds] for name, rounds in results.items()}
    figures.append(options.figures, "rtt", "p50", "ns", p50["triptime"], p50["ring"], "C, packet ring")


if __name__ == "__main__":
    main()
