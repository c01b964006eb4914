"""Scrapes the textfiles of real runs with node_exporter and Prometheus, or a run under way, and asks the rules and the dashboard's queries.

monitoring.py PROMETHEUS MONITORING TEXTFILES: programs below PROMETHEUS/usr/bin; rules.yml and dashboards in MONITORING. Prints as JSON the number of
rows of each query of the dashboard, and the alerts that fire or are pending.
monitoring.py PROMETHEUS MONITORING HOST:PORT: the same of the run that is served there, and its state.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

WAIT_S = 90


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url):
    with urllib.request.urlopen(url, timeout=10) as answer:
        return json.load(answer)


def ask(base, expression):
    return get(f"{base}/api/v1/query?{urllib.parse.urlencode({'query': expression})}")["data"]["result"]


def until(true, what):
    end = time.monotonic() + WAIT_S
    while True:
        try:
            found = true()
        except OSError:
            found = None
        if found:
            return found
        assert time.monotonic() < end, f"waited {WAIT_S} s for {what}"
        time.sleep(0.2)


def queries(path):
    """The queries of a dashboard, with its variables as Grafana replaces them when everything is chosen."""
    for panel in json.load(open(path, encoding="utf-8"))["panels"]:
        for target in panel["targets"]:
            yield panel["title"], re.sub(r"\$(instance|command|series)", ".*", target["expr"])


def main(programs, monitoring, source):
    if os.path.isdir(source):
        of_textfiles(programs, monitoring, os.path.abspath(source))
    else:
        of_a_run(programs, monitoring, source)


def of_a_run(programs, monitoring, target):
    server = free_port()
    with tempfile.TemporaryDirectory() as data:
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{monitoring}/rules.yml"],
            "scrape_configs": [{"job_name": "triptime", "static_configs": [{"targets": [target]}]}],
        }
        with open(f"{data}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump(config, file)
        words = [f"{programs}/usr/bin/prometheus", f"--config.file={data}/prometheus.yml", f"--storage.tsdb.path={data}/tsdb",
                 f"--web.listen-address=127.0.0.1:{server}"]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open(f"{data}/log", "wb"))
        try:
            base = f"http://127.0.0.1:{server}"
            until(lambda: ask(base, "triptime_run") and ask(base, "triptime:age_seconds") and ask(base, "triptime:margin_ratio:min"), "figures")
            # Alerts are evaluated each second.
            time.sleep(5)
            rows = {title: len(ask(base, query)) for title, query in queries(f"{monitoring}/dashboards/triptime.json")}
            alerts = get(f"{base}/api/v1/alerts")["data"]["alerts"]
            state = ask(base, "triptime_run_state")
            print(json.dumps({"rows": rows, "alerts": sorted({alert["labels"]["alertname"] for alert in alerts}),
                              "state": state[0]["metric"]["state"] if state else None}))
        except AssertionError:
            sys.stderr.write(open(f"{data}/log", encoding="utf-8").read()[-3000:])
            raise
        finally:
            process.kill()
            process.wait()


def of_textfiles(programs, monitoring, textfiles):
    exporter, server = free_port(), free_port()
    with tempfile.TemporaryDirectory() as data:
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [f"{monitoring}/rules.yml"],
            "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{exporter}"]}]}],
        }
        with open(f"{data}/prometheus.yml", "w", encoding="utf-8") as file:
            json.dump(config, file)
        running = [
            [f"{programs}/usr/bin/prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{exporter}", "--collector.disable-defaults",
             "--collector.textfile", f"--collector.textfile.directory={textfiles}"],
            [f"{programs}/usr/bin/prometheus", f"--config.file={data}/prometheus.yml", f"--storage.tsdb.path={data}/tsdb",
             f"--web.listen-address=127.0.0.1:{server}"],
        ]
        running = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=open(f"{data}/{index}.log", "wb")) for index, words in enumerate(running)]
        try:
            base = f"http://127.0.0.1:{server}"
            runs = len([name for name in os.listdir(textfiles) if name.endswith(".prom")])
            until(lambda: len(ask(base, "triptime_run")) == runs and ask(base, "triptime:age_seconds"), "the figures of the runs")
            rows = {title: len(ask(base, query)) for title, query in queries(f"{monitoring}/dashboards/triptime.json")}
            alerts = until(lambda: get(f"{base}/api/v1/alerts")["data"]["alerts"], "an alert")
            errors = ask(base, "node_textfile_scrape_error")
            print(json.dumps({"rows": rows, "alerts": sorted({alert["labels"]["alertname"] for alert in alerts}),
                              "error": errors[0]["value"][1] if errors else None}))
        except AssertionError:
            for index in range(len(running)):
                sys.stderr.write(open(f"{data}/{index}.log", encoding="utf-8").read()[-3000:])
            raise
        finally:
            for process in running:
                process.kill()
                process.wait()


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3])
