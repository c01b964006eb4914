"""A bed for the benches: two network namespaces joined by a veth pair, `a0` in the near one, `b0` in the far one."""

import os
import subprocess
import time


def run(*words):
    return subprocess.run([str(word) for word in words], check=True)


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


def inside(namespace, *command):
    """The command as it runs in the namespace."""
    return ["nsenter", f"--net=/run/netns/{namespace}"] + [str(word) for word in command]
