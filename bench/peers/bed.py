"""A bed for the benches: two network namespaces connected by a veth pair, `a0` in the near one, `b0` in the far one."""

import json
import os
import subprocess
import time


def run(*words, **how):
    return subprocess.run([str(word) for word in words], check=True, **how)


class Bed:
    """Stands inside `with`; its namespaces are named after what it is for and this process."""

    def __init__(self, purpose):
        self.near, self.far = (f"triptime-{purpose}-{side}-{os.getpid()}" for side in "ab")

    def __enter__(self):
        for namespace in (self.near, self.far):
            run("ip", "netns", "add", namespace)
        run("ip", "-n", self.near, "link", "add", "a0", "type", "veth", "peer", "name", "b0", "netns", self.far)
        run("ip", "-n", self.near, "link", "set", "a0", "up")
        run("ip", "-n", self.far, "link", "set", "b0", "up")
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        for namespace in (self.near, self.far):
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)

    def far_end_works_on(self, cpu):
        """Gives the receive work of `b0` to a thread of its own on `cpu`, as a NIC's far end has its own machine; else the sender's
        CPU does it, within its send call."""
        # A veth sends through its peer's NAPI what may be merged there and is not cut up here.
        run("nsenter", f"--net=/run/netns/{self.near}", "ethtool", "-K", "a0", "tso", "off")
        run("nsenter", f"--net=/run/netns/{self.far}", "ethtool", "-K", "b0", "gro", "on")
        script = "mount -t sysfs sysfs /sys && echo 1 > /sys/class/net/b0/threaded"
        run(*inside(self.far, "unshare", "--mount", "sh", "-c", script))
        for thread in subprocess.check_output(["pgrep", "^napi/b0"], text=True).split():
            run("taskset", "--pid", "--cpu-list", cpu, thread, stdout=subprocess.DEVNULL)
            run("chrt", "--fifo", "--pid", "50", thread)

    def received(self):
        """Frames that came to `b0`, and frames for which its queue had no room."""
        shown = subprocess.check_output(["ip", "-n", self.far, "-s", "-j", "link", "show", "b0"], text=True)
        counts = json.loads(shown)[0]["stats64"]["rx"]
        return counts["packets"], counts["dropped"]


def inside(namespace, *command):
    """The command as it runs in the namespace."""
    return ["nsenter", f"--net=/run/netns/{namespace}"] + [str(word) for word in command]
