#!/usr/bin/env python3
"""CPU cost of tracing per frame, compared with bpftrace doing the same work.

Both time sampled values over two hops (port of a bridge -> other port -> the container's end), with the same stream in turns,
and both are charged by the kernel's own statistics (kernel.bpf_stats_enabled: run_time_ns of every program they loaded, which
includes some 20 ns a run of the statistics themselves). bpftrace does less: one stream, no loss, no quantiles.

Needs root, bpftrace (apt-get install bpftrace) and a built triptime.
"""

import argparse
import contextlib
import glob
import json
import os
import re
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import figures

NAMESPACES = ["ttA", "ttB", "ttC"]
SCRIPT = """
tracepoint:net:netif_receive_skb {
  $skb = (struct sk_buff *)args->skbaddr;
  if ($skb->protocol == 0xba88) {
    $at = (uint8 *)$skb->head + $skb->mac_header;
    $cnt = ((uint64)*($at + %(at)d) << 8) | (uint64)*($at + %(at)d + 1);
    $id = (uint64)*($at + %(id)d + 2) * 256 + (uint64)*($at + %(id)d + 3);
    if ($skb->dev->ifindex == %(nic)d && str(args->name) == "p-ts") { @in[$id, $cnt] = nsecs; }
    else { if (@out[$id, $cnt]) { @edge = hist(nsecs - @out[$id, $cnt]); delete(@out[$id, $cnt]); } }
  }
}
tracepoint:net:net_dev_start_xmit {
  $skb = (struct sk_buff *)args->skbaddr;
  if ($skb->protocol == 0xba88 && str(args->name) == "p-dut") {
    $at = (uint8 *)$skb->head + $skb->mac_header;
    $cnt = ((uint64)*($at + %(at)d) << 8) | (uint64)*($at + %(at)d + 1);
    $id = (uint64)*($at + %(id)d + 2) * 256 + (uint64)*($at + %(id)d + 3);
    if (@in[$id, $cnt]) { @hop = hist(nsecs - @in[$id, $cnt]); delete(@in[$id, $cnt]); @out[$id, $cnt] = nsecs; @frames = count(); }
  }
}
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def bed():
    remove()
    try:
        for name in NAMESPACES:
            run("ip", "netns", "add", name)
        a, b, c = NAMESPACES
        run("ip", "-n", b, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        for end, name, port in [(a, "ts0", "p-ts"), (c, "dut0", "p-dut")]:
            run("ip", "-n", end, "link", "add", name, "type", "veth", "peer", "name", port, "netns", b)
            run("ip", "-n", b, "link", "set", port, "master", "br0", "up")
            run("ip", "-n", end, "link", "set", name, "up")
        run("ip", "-n", b, "link", "set", "br0", "up")
        time.sleep(1.5)
        yield a, b, c
    finally:
        remove()


def remove():
    for name in NAMESPACES:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def inside(name, *command):
    return ["nsenter", f"--net=/run/netns/{name}", *command]


def ours(arguments, place, streams):
    publisher = publish(arguments, place, streams)
    out = os.path.join(arguments.folder, f"trace-{time.monotonic_ns()}.triptime")
    command = [arguments.triptime, "trace", "p-ts", "--point", "out=p-dut:tx", "--point", f"edge=dut0@/run/netns/{place[2]}:rx"]
    run(*inside(place[1], *command, "--duration", f"{arguments.seconds}s", "-q", "--no-flight-recorder", "--out", out))
    publisher.wait()
    value = sqlite3.connect(out).execute("select value from fact where name = 'cost per frame at all points'").fetchone()[0]
    return float(re.match(r"(\d+) ns", value)[1])


def publish(arguments, place, streams):
    seconds = str(arguments.seconds + 4) + "s"
    out = os.path.join(arguments.folder, f"publish-{time.monotonic_ns()}.triptime")
    command = [arguments.triptime, "publish", "ts0", "--streams", str(streams), "--rate", "4000", "--duration", seconds, "-q"]
    publisher = subprocess.Popen(inside(place[0], *command, "--out", out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(2)
    return publisher


def programs(pid):
    """Time and runs of the programs that a process holds."""
    seen = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        with contextlib.suppress(OSError), open(path) as file:
            fields = dict(line.split(":", 1) for line in file.read().splitlines() if ":" in line)
            if "prog_id" in fields and "run_cnt" in fields:
                seen[fields["prog_id"].strip()] = (int(fields["run_time_ns"]), int(fields["run_cnt"]))
    return sum(time_ns for time_ns, _ in seen.values()), sum(runs for _, runs in seen.values())


def theirs(arguments, place, streams):
    links = json.loads(run("ip", "-n", place[1], "-j", "link", "show", "p-ts"))
    # svID MU01: its first octet is 33 from the frame's begin, smpCnt 6 further (short lengths, no tag).
    script = SCRIPT % {"at": 33 + 4 + 2, "id": 33, "nic": links[0]["ifindex"]}
    publisher = publish(arguments, place, streams)
    # bpftrace finds tracepoints in tracefs, which a container does not have: it gets a separate mount. Its complaint that it cannot raise
    # its limit of locked memory is not fatal: kernels from 5.11 on count that memory in another way.
    with_tracefs = 'mount -t tracefs tracefs /sys/kernel/tracing && exec bpftrace -e "$0"'
    command = ["unshare", "--mount", "sh", "-c", with_tracefs, script]
    peer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(arguments.seconds)
    cost_ns, _ = programs(peer.pid)
    peer.send_signal(signal.SIGINT)
    text, errors = peer.communicate(timeout=30)
    publisher.wait()
    found = re.search(r"@frames: (\d+)", text)
    if not found:
        raise SystemExit(f"bpftrace timed no frame:\n{errors}\n{text}")
    return cost_ns / int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--triptime", default="target/triptime")
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=2)
    figures.add_option(parser)
    arguments = parser.parse_args()
    arguments.triptime = os.path.realpath(arguments.triptime)
    before = run("sysctl", "-n", "kernel.bpf_stats_enabled").strip()
    with tempfile.TemporaryDirectory() as folder, bed() as place:
        arguments.folder = folder
        try:
            run("sysctl", "-w", "kernel.bpf_stats_enabled=1")
            spent = []
            for number in range(arguments.rounds):
                own, peer = ours(arguments, place, arguments.streams), theirs(arguments, place, arguments.streams)
                spent.append((own, peer))
                print(f"round {number + 1}: triptime {own:.0f} ns a frame, bpftrace {peer:.0f} ns, ratio {own / peer:.2f}", flush=True)
            own, peer = zip(*spent)
            figures.append(arguments.figures, "trace", "cost", "ns per frame", own, peer, "bpftrace")
        finally:
            run("sysctl", "-w", f"kernel.bpf_stats_enabled={before}")


if __name__ == "__main__":
    main()
