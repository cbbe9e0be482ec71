# SPDX-License-Identifier: MIT
# A folder as nsreport papers leaves it, with results of all parts: recorded, or of known values.
import json
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "..", "reports"))
import budget_test  # noqa: E402
import ktime_support  # noqa: E402
import qos_test  # noqa: E402
import sids_test  # noqa: E402
import support  # noqa: E402
import system_test  # noqa: E402
import traffic_support  # noqa: E402

DATA = os.path.join(HERE, "data")
STATUS = {
    **{"form": "short", "kernel": "Linux 6.1 x86_64", "cpu": "a CPU, 2 CPUs", "version": "1"},
    **{"started": "2026-01-02T03:04:05Z", "seconds": 60.0, "failures": []},
}
CIPHERS = {"hmac_sha1": 628, "aes_gcm_soft_128": 276, "aes_gcm_soft_256": 260}
CIPHERS |= {"aes_gcm_hard_128": 1270, "aes_gcm_hard_256": 1100}


def value(samples):
    middle, spread = statistics.mean(samples), statistics.stdev(samples)
    return {
        **{"samples": samples, "count": len(samples), "min": min(samples), "max": max(samples)},
        **{"median": statistics.median(samples), "mean": middle, "stddev": spread},
        **{"ci95": [middle - spread, middle + spread], "outliers": [], "trials_for_1_percent": 9},
    }


def conducted(name, unit, by_variant, failures=()):
    """results.json of nsconduct."""
    variants = {variant: value(samples) for variant, samples in by_variant.items()}
    measured = {"throughput": {"unit": unit, "variants": variants, "comparisons": []}}
    return {"format": 1, "experiment": name, "values": measured, "failures": list(failures)}


def experiments():
    """(part, experiment, its results)."""
    bits = {name: [1e6 * mbit + n for n in range(3)] for name, mbit in CIPHERS.items()}
    causes = [f"{player}: run step1: killed; by a signal" for player in ("sink", "source")]
    failed = [
        {"round": n + 1, "variant": "no_ipsec", "failure": "; ".join(order)}
        for n, order in enumerate((causes, reversed(causes)))
    ]
    offload = {"offload_off": [3e9, 4e9, 5e9], "offload_on": [6e9, 7e9, 8e9]}
    tcp = conducted("tcp_2_hosts", "bits/s", offload)
    again = {name: value([0, 1, 2]) for name in offload}
    tcp["values"]["retransmits"] = {"unit": "segments", "variants": again, "comparisons": []}
    yield "tcp", "tcp_2_hosts", tcp
    yield "packets", "packets_2_hosts", conducted("p", "packets/s", {"plain": [1e6, 2e6, 3e6]})
    yield "ciphers", "ciphers_2_hosts", conducted("ciphers_2_hosts", "bits/s", bits, failed)
    for hosts, mbit in (("2", 2250), ("4", 3380)):
        null = {"null": [1e6 * mbit + n for n in range(3)]}
        results = conducted(f"null_{hosts}_hosts", "bits/s", null)
        worst = {"mean": 0.1, "max": 0.1 * int(hosts), "round": 2, "variant": "null"}
        results["disturbance"] = {"load_by_others": {**worst, "busiest": "cc"}, "steal": None}
        yield "ciphers", f"null_{hosts}_hosts", results


def _write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content if isinstance(content, str) else json.dumps(content))


def documents():
    """Part and file -> results."""
    load, placement = traffic_support.load(), traffic_support.placement()
    placement["too_long"] = [["filters", 512, 400]]
    made = {
        "load/report/data/results.json": load,
        "placement/report/data/results.json": placement,
        "sids/report/data/results.json": sids_test.document(),
        "qos/report/data/results.json": qos_test.document(),
        "ktime/report/data/results.json": ktime_support.document(),
        "system/report/data/results.txt": system_test.results(),
        "cost/mapi-cost.json": cost(),
        "budget/report/data/results.json": budget_test.budget_of(support.cost()),
    }
    for part, experiment, results in experiments():
        made[f"{part}/{experiment}/results.json"] = results
    said = "implementation: kernel, driver gcm-aesni\ncipher: null\n"
    made["ciphers/null_2_hosts/output/1/null/sink/collect-step1.out"] = said
    return made


def cost():
    """With a row of Table 3, which the recorded run does not have."""
    document = support.cost()
    row = {**document["rows"][1], "table": 3, "scenario": "TO_BUFFER"}
    row["paper"] = {"scampi_instructions": 513, "intel_instructions": 1246}
    document["rows"].append({**row, "paper": {**document["rows"][0]["paper"], **row["paper"]}})
    return document


def make(folder, names=None):
    """folder/parts/NAME with results and status.json.  names: of the parts, if not all."""
    parts = os.path.join(folder, "parts")
    for path, content in documents().items():
        if names is None or path.split("/")[0] in names:
            _write(os.path.join(parts, path), content)
    for part, name in (("calibrate", "calibration.json"), ("send", "send.json")):
        os.makedirs(os.path.join(parts, part))
        to = {"send.json": "stats.json"}.get(name, name)
        shutil.copy(os.path.join(DATA, name), os.path.join(parts, part, to))
    for part in os.listdir(parts):
        _write(os.path.join(parts, part, "status.json"), {**STATUS, "commands": [f"make {part}"]})
    return folder
