#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-qos finds, between two captures, what a link did to each packet: delay, variation, loss,
duplicates and order as the link's own log and another program have them."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

import needs

QOS = pathlib.Path(os.environ["NETSLICE_BIN"]) / "mapi-qos"
DATA = pathlib.Path(
    os.environ.get("NETSLICE_DATA")
    or pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "../shared/data"
)
LINK = DATA / "qos-pairs/emulated-link-1"
PAIRS = DATA / "chrissanders+packets"
MICROSECOND_MS = 0.001


def run(*arguments, code=0):
    done = subprocess.run([QOS, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        raise AssertionError(f"{arguments}: exit code {done.returncode}: {done.stderr}")
    return done


def collect(store, captures, *options):
    for point, capture in zip("ab", captures):
        run("collect", "-q", "-r", capture, "--point", point, "--store", store, *options)


def report(store, *options):
    return json.loads(
        run("report", "-q", "--json", "--store", store, "--from", "a", "--to", "b", *options).stdout
    )


class EmulatedLink(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = pathlib.Path(cls.folder.name) / "qos.db"
        collect(cls.store, (LINK / "a_side.pcap", LINK / "b_side.pcap"))
        cls.wanted = json.loads((LINK / "expected.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def compare(self, found, wanted):
        for name, wanted_name in (
            ("sent", "sent"),
            ("received", "received_unique"),
            ("lost", "lost"),
            ("duplicates", "extra_copies"),
            ("reordered", "reordered"),
        ):
            self.assertEqual(found[name], wanted[wanted_name], name)
        self.assertEqual(found["loss_ci95"], [found["loss"]] * 2)
        self.assertAlmostEqual(found["loss"], wanted["loss_ratio"], delta=1e-6)
        for name in ("min", "mean", "max", "p50", "p95"):
            self.near(found["delay_ms"][name], wanted["owd_ms"][name], name)
        if "ipdv_ms" in wanted:
            for name in ("mean_abs", "min", "max"):
                self.near(found["ipdv_ms"][name], wanted["ipdv_ms"][name], name)
            self.near(found["jitter_ms"], wanted["rfc3550_jitter_ms_final"], "jitter")
        else:
            self.assertIsNone(found["ipdv_ms"])

    def near(self, found, wanted, name):
        self.assertAlmostEqual(found, wanted, delta=MICROSECOND_MS, msg=name)

    def test_both_directions_and_each_flow_are_as_the_link_made_them(self):
        found = report(self.store)
        self.assertTrue(found["clock"]["synchronised"])
        for path, name in zip(found["paths"], ("a_to_b", "b_to_a")):
            wanted = self.wanted[name]
            self.compare(path, wanted)
            self.assertEqual(path["only_at_receiver"], wanted["unmatched_at_receiver"])
            self.assertEqual(path["undecided"], 0)
            flows = {flow["flow"]: flow for flow in path["flows"]}
            self.assertEqual(set(flows), set(wanted["flows"]))
            for flow, figures in wanted["flows"].items():
                self.compare(flows[flow], figures)

    def test_intervals_add_up_to_the_whole(self):
        for path in report(self.store, "--interval", 1)["paths"]:
            self.assertGreater(len(path["intervals"]), 20)
            for name in ("sent", "received", "lost", "duplicates"):
                self.assertEqual(sum(one[name] for one in path["intervals"]), path[name])
            begins = [one["begin_s"] for one in path["intervals"]]
            self.assertEqual(begins, sorted(begins))

    def test_the_interval_of_a_selection_contains_the_whole(self):
        for rate in (0.05, 0.1, 0.5):
            for path, whole in zip(
                report(self.store, "--rate", rate)["paths"], report(self.store)["paths"]
            ):
                self.assertLess(abs(path["sent"] / whole["sent"] - rate), rate / 2)
                low, high = path["loss_ci95"]
                self.assertTrue(low <= whole["loss"] <= high, (rate, path))

    def test_less_selected_is_the_same_as_collected_with_that_rate(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "qos.db"
            collect(store, (LINK / "a_side.pcap", LINK / "b_side.pcap"), "--rate", "10%")
            found, wanted = report(store), report(self.store, "--rate", "10%")
        self.assertEqual(found["paths"], wanted["paths"])
        self.assertAlmostEqual(found["rate"], 0.1, delta=1e-6)

    def test_csv_and_metrics_have_the_same_figures(self):
        arguments = ("report", "--store", self.store, "--from", "a", "--to", "b")
        rows = run(*arguments, "--format", "csv").stdout.splitlines()
        self.assertEqual(len({row.count(",") for row in rows}), 1)
        self.assertTrue(any(row.startswith('"a","b",all,,,2237,2223,14,') for row in rows))
        metrics = run(*arguments, "--format", "prometheus", "--flows", 1).stdout
        self.assertIn('mapi_qos_lost_packets{from="a",to="b",flow=""} 14\n', metrics)
        self.assertIn(
            'mapi_qos_sent_packets{from="a",to="b",flow="17 10.77.0.1:5062>10.77.0.2:5062"} 1202\n',
            metrics,
        )

    def test_a_run_that_is_collected_twice_counts_once(self):
        with tempfile.TemporaryDirectory() as folder:
            store = pathlib.Path(folder) / "qos.db"
            for _ in range(2):
                collect(store, (LINK / "a_side.pcap", LINK / "b_side.pcap"))
            found = report(store)
        self.assertEqual(found["paths"], report(self.store)["paths"])
        self.assertEqual(found["points"][0]["repeated"], 3063)

    def test_a_point_that_ends_early_does_not_make_loss(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            cut = folder / "b.pcap"
            whole = (LINK / "b_side.pcap").read_bytes()
            cut.write_bytes(whole[: len(whole) // 2])
            store = folder / "qos.db"
            collect(store, (LINK / "a_side.pcap",))
            run("collect", "-q", "-r", cut, "--point", "b", "--store", store, code=1)
            forward = report(store)["paths"][0]
            self.assertGreater(forward["undecided"], 500)
            self.assertLess(forward["lost"], 15)
            everything = report(store, "--all-time")["paths"][0]
            self.assertEqual(everything["lost"], forward["lost"] + forward["undecided"])


def with_times(capture, time_of):
    """The capture with other times; time_of(number of the packet, its time in ns)."""
    data = bytearray(capture)
    at, number = 24, 0
    while at < len(data):
        seconds, fraction, length = struct.unpack_from("<III", data, at)
        time_ns = time_of(number, seconds * 10**9 + fraction)
        struct.pack_into("<II", data, at, *divmod(time_ns, 10**9))
        at += 16 + length
        number += 1
    return bytes(data)


def with_clock(capture, offset_ns, drift):
    """The capture as recorded by a clock that is wrong."""
    seconds, fraction = struct.unpack_from("<II", capture, 24)
    first_ns = seconds * 10**9 + fraction
    return with_times(
        capture, lambda _, time_ns: time_ns + offset_ns + round((time_ns - first_ns) * drift)
    )


def with_step(capture, step_ns, packet):
    """The capture as recorded by a clock that steps at this packet."""
    return with_times(
        capture, lambda number, time_ns: time_ns + (step_ns if number >= packet else 0)
    )


class Unsynchronised(unittest.TestCase):
    def test_figures_of_a_link_hold_although_a_clock_is_wrong_and_drifts(self):
        for offset_ns, drift in ((-5 * 10**9, 50e-6), (86400 * 10**9, -20e-6)):
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                wrong, right, store = (folder / name for name in ("b.pcap", "right.db", "wrong.db"))
                wrong.write_bytes(with_clock((LINK / "b_side.pcap").read_bytes(), offset_ns, drift))
                collect(right, (LINK / "a_side.pcap", LINK / "b_side.pcap"))
                collect(store, (LINK / "a_side.pcap", wrong))
                found, wanted = report(store), report(right)
            self.assertFalse(found["clock"]["synchronised"])
            self.assertEqual(found["clock"]["steps"], [])
            piece = found["clock"]["pieces"][0]
            self.assertAlmostEqual(piece["offset_ms"], offset_ns / 1e6, delta=0.5)
            self.assertAlmostEqual(piece["drift_ppm"], drift * 1e6, delta=10)
            for path, true in zip(found["paths"], wanted["paths"]):
                for name in ("sent", "received", "lost", "duplicates", "reordered", "undecided"):
                    self.assertEqual(path[name], true[name], name)
                self.assertAlmostEqual(path["jitter_ms"], true["jitter_ms"], delta=0.01)
                for name in ("min", "mean", "p50", "p95"):
                    self.assertAlmostEqual(
                        path["delay_ms"][name], true["delay_ms"][name], delta=0.3, msg=name
                    )

    def compare_with_step(self, side, step_ms, packet, wanted):
        captures = [(LINK / f"{name}_side.pcap").read_bytes() for name in "ab"]
        captures["ab".index(side)] = with_step(
            captures["ab".index(side)], step_ms * 10**6, packet
        )
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, capture in zip("ab", captures):
                (folder / name).write_bytes(capture)
            collect(folder / "qos.db", (folder / "a", folder / "b"))
            found = report(folder / "qos.db")
        steps = [step["step_ms"] for step in found["clock"]["steps"]]
        self.assertEqual(len(steps), 1)
        self.assertAlmostEqual(steps[0], step_ms if side == "b" else -step_ms, delta=1)
        self.assertEqual(found["clock"]["times_of"], 1 if side == "a" else 0)
        for path, true in zip(found["paths"], wanted["paths"]):
            for name in ("sent", "received", "lost", "duplicates", "reordered", "undecided"):
                self.assertEqual(path[name], true[name], name)
            self.assertAlmostEqual(path["jitter_ms"], true["jitter_ms"], delta=0.02)
            for name in ("min", "mean", "p50", "p95"):
                self.assertAlmostEqual(
                    path["delay_ms"][name], true["delay_ms"][name], delta=0.3, msg=name
                )

    def test_figures_hold_although_either_clock_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            right = pathlib.Path(folder) / "qos.db"
            collect(right, (LINK / "a_side.pcap", LINK / "b_side.pcap"))
            wanted = report(right)
        for side in "ab":
            for step_ms in (-100, 100, -5000, 5000, -60000, 60000):
                with self.subTest(side=side, step_ms=step_ms):
                    self.compare_with_step(side, step_ms, 1500, wanted)
            for step_ms in (-100, 100):
                with self.subTest("near the end", side=side, step_ms=step_ms):
                    self.compare_with_step(side, step_ms, 2960, wanted)

    def test_real_pairs_match_although_hop_limit_and_checksum_differ(self):
        for pair in ("ppa-ip_ttl", "ppa-stranded"):
            wanted = json.loads((DATA / "qos-pairs" / pair / "expected.json").read_text())
            with tempfile.TemporaryDirectory() as folder:
                store = pathlib.Path(folder) / "qos.db"
                collect(store, (PAIRS / wanted["a"], PAIRS / wanted["b"]))
                found = report(store)
            self.assertFalse(found["clock"]["synchronised"])
            differences = []
            for path, name, sign in zip(found["paths"], ("a_to_b", "b_to_a"), (1, -1)):
                self.assertEqual(path["received"], wanted[name]["received_unique"])
                self.assertEqual(path["lost"], 0)
                differences.append(sign * wanted[name]["owd_ms"]["min"])
            offset = found["clock"]["pieces"][0]["offset_ms"]
            self.assertAlmostEqual(offset, sum(differences) / 2, delta=MICROSECOND_MS)
            self.assertAlmostEqual(
                found["paths"][0]["delay_ms"]["min"],
                differences[0] - offset,
                delta=MICROSECOND_MS,
            )


if __name__ == "__main__":
    needs.captures(LINK / "a_side.pcap", PAIRS)
    unittest.main()
