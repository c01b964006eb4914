"""Reads a profile as TuneD does: loads it by TuneD's loader, and asks each plugin for what it takes."""
import importlib, importlib.abc, importlib.machinery, os, sys, tempfile
from unittest.mock import MagicMock

root = sys.argv[1]
sys.path.insert(0, root)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Bindings to the system that reading a profile does not take."""

    def find_spec(self, name, path=None, target=None):
        wanted = name.split(".")[0] in ("procfs", "perf", "schedutils", "pyudev", "dbus", "gi", "linux_procfs", "ethtool")
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if wanted else None

    def create_module(self, spec):
        return MagicMock(name=spec.name, __path__=[], __spec__=spec)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())
from tuned.profiles import Loader, Locator, Merger, Factory
from tuned.profiles.variables import Variables

with tempfile.TemporaryDirectory() as folder:
    text = sys.stdin.read()
    included = [line.partition("=")[2].split(",") for line in text.splitlines() if line.startswith("include=")]
    for name, content in [("triptime", text)] + [(name, "[main]\n") for name in sum(included, [])]:
        os.mkdir(f"{folder}/{name}")
        with open(f"{folder}/{name}/tuned.conf", "w") as file:
            file.write(content)
    profile = Loader(Locator([folder]), Factory(), Merger(), None, Variables()).load("triptime")
for name, unit in profile.units.items():
    module = importlib.import_module("tuned.plugins.plugin_" + unit.type)
    plugin = next(value for key, value in vars(module).items() if key.endswith("Plugin") and value.__module__ == module.__name__)
    known = plugin._get_config_options()
    for key, value in unit.options.items():
        takes = {"sysctl": lambda: "." in key and "/" not in key, "sysfs": lambda: key.startswith("/sys/"),
                 "bootloader": lambda: key.startswith("cmdline"), "scheduler": lambda: key in known or key.startswith("group.")}
        if not takes.get(unit.type, lambda: key in known)():
            sys.exit(f"[{name}] {key}={value}: the plugin {unit.type} takes no such option")
        print(f"{name} {key} {value}")
