# SPDX-License-Identifier: MIT
# What nsreport --load and --placement have in common: sending, reading, figures, stored values; on
# a veth pair as root.
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import support

REPORTS = os.path.join(support.HERE, "..", "..", "..", "reports")
sys.path.insert(0, REPORTS)
import traffic_support  # noqa: E402
from nsreport import errors  # noqa: E402
from nsreport.load import page as load_page, plan as load_plan, search  # noqa: E402
from nsreport.placement import page as placement_page, plan as placement_plan  # noqa: E402
from nsreport.traffic import (  # noqa: E402
    bench,
    capture,
    child,
    figures,
    head,
    lines,
    namespace,
    point,
    programs,
    progress,
    reader,
    sender,
    stored,
)


class Counting:
    """A reader that gets so many packets between two looks."""

    def __init__(self, *received):
        self._received = list(received)

    def counts(self):
        return {"received": self._received.pop(0) if self._received[1:] else self._received[0]}


class Parts(unittest.TestCase):
    def test_the_mixed_packets_have_730_bytes_on_average_and_a_valid_header(self):
        sizes = capture.sizes()
        self.assertAlmostEqual(sum(sizes) / len(sizes), capture.MEAN_BYTES, delta=1)
        self.assertEqual(capture.MEAN_BYTES, 730)
        self.assertEqual(len(capture.packet(64, 3)), 60)
        header = capture.packet(730, 3)[14:34]
        total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, 20, 2))
        self.assertEqual((total & 0xFFFF) + (total >> 16), 0xFFFF)

    def test_a_search_finds_the_last_step_without_a_loss(self):
        self.assertEqual(search.bracket([(10, 0), (30, 1), (20, 0), (40, 0)]), (20, 30))
        self.assertEqual(search.bracket([(10, 5), (20, 0)]), (None, 10))
        self.assertEqual(search.bracket([(10, 0)]), (10, None))
        asked = []
        found = search.searched(
            [(1000, 0), (2600, 1)],
            16,
            load_plan.PROBES,
            lambda rate: asked.append(rate) or (rate, rate > 1730),
        )
        self.assertEqual(found, (1700, 1800, False))
        self.assertEqual(len(asked), load_plan.PROBES)

    def test_a_search_uses_the_rates_that_the_sender_reached(self):
        for probe, expected in (
            (lambda rate: (1200, 0), (1000, 2600, True)),  # far below the rate asked for
            (lambda rate: (rate * 0.97, rate > 1730), (1570.43, 1746, False)),
            (lambda rate: (900, 1), (None, 900, False)),
        ):
            found = search.searched([(1000, 0), (2600, 1)], 16, load_plan.PROBES, probe)
            for value, wanted in zip(found, expected):
                if wanted is None:
                    self.assertIsNone(value)
                else:
                    self.assertAlmostEqual(value, wanted, delta=1)
        limit = search.searched([(1000, 0), (990, 0)], 16, load_plan.PROBES, None)
        self.assertEqual(limit, (1000, None, True))

    def test_the_line_of_progress_has_the_time_left(self):
        lines, now = [], iter((0, 10, 400))
        made = progress.Progress(lines.append, 10, clock=lambda: next(now))
        for words in ("one", "two", "three"):
            made.step(words)
        self.assertEqual(
            lines, ["1 of 10: one", "2 of 10: two; 90 s left", "3 of 10: three; 27 min left"]
        )

    def test_a_reader_that_gets_no_more_packets_is_not_waited_for_until_the_end(self):
        now = iter(range(0, 1000))
        reader = Counting(1, 2, 3, 3)
        counts = point.settled(
            reader, 10, {"received": 0}, 100, lambda: next(now) * 0.05, lambda _s: None
        )
        self.assertEqual(counts["received"], 3)
        self.assertLess(next(now), 30)

    def test_a_missing_program_is_named_with_its_package(self):
        with tempfile.TemporaryDirectory() as folder:
            named = {"MAPI_GEN": "", "PATH": folder}
            before, programs.PLACES_OF_ROOT = programs.PLACES_OF_ROOT, folder
            with unittest.mock.patch.dict(os.environ, named):
                with self.assertRaises(errors.ReportError) as caught:
                    programs.find(os.path.join(folder, "nsreport"), "mapi-gen")
            programs.PLACES_OF_ROOT = before
        self.assertIn("mapi-gen: not found", str(caught.exception))
        self.assertEqual(caught.exception.code, errors.EXIT_TOOL)

    def test_only_the_variables_of_our_programs_name_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = os.path.join(folder, "text")
            with open(plain, "w"):
                pass
            named = {"MAPI_GEN": plain, "IP": plain, "ETHTOOL": plain}
            with unittest.mock.patch.dict(os.environ, named):
                for name in ("ip", "ethtool"):
                    with contextlib.suppress(errors.ReportError):
                        self.assertNotEqual(programs.find("/nowhere/nsreport", name), plain)
                with self.assertRaises(errors.ReportError) as caught:
                    programs.find("/nowhere/nsreport", "mapi-gen")
        self.assertIn(
            "text: not a program that can be run (correct MAPI_GEN)", str(caught.exception)
        )

    def test_a_program_that_cannot_run_is_an_error_with_its_name(self):
        with self.assertRaises(errors.ReportError) as caught:
            namespace._run("/nowhere/ip", "link")
        self.assertIn("/nowhere/ip: cannot run: No such file", str(caught.exception))

    def test_all_measurements_use_the_method_of_the_first(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mapi-gen")
            line = {"method": "af_packet", "packets": 1, "bytes": 64, "refused": 0, "dropped": 2}
            line |= {"seconds": 1, "behind": 0}
            with open(path, "w") as file:
                file.write(f"#!/bin/sh\necho '{json.dumps(line)}'\n")
            os.chmod(path, 0o755)
            one = sender.Sender({"mapi-gen": path}, min(os.sched_getaffinity(0)))
            self.assertNotIn("--method", one.command(64))
            self.assertEqual(one.send(64)["dropped"], 2)
            self.assertIn("--method af_packet", " ".join(one.command(64)))

    def test_an_idle_reader_is_measured(self):
        one = reader.Reader.__new__(reader.Reader)
        with unittest.mock.patch.object(
            reader.Reader, "counts", side_effect=[{"cpu_ns": 1e6}, {"cpu_ns": 3e6}]
        ):
            now = iter((10, 10.2))
            one.measure_idle(lambda: next(now), lambda _s: None)
        self.assertAlmostEqual(one.idle_share, 0.01)

    def test_a_system_that_cannot_be_opened_does_not_lose_the_report(self):
        def opened(_programs, words, _cpu):
            if words == ("bad",):
                raise errors.ReportError(errors.EXIT_TOOL, "no XDP")
            return contextlib.nullcontext()

        one = bench.Bench.__new__(bench.Bench)
        one.programs, one.reading_cpu, one.document = {}, 0, {"unavailable": {}}
        with unittest.mock.patch.object(bench.reader, "opened", opened):
            self.assertEqual(one.available({"a": ("bad",), "b": ("good",)}), ["b"])
            self.assertEqual(one.document["unavailable"], {"a": "no XDP"})
            with self.assertRaises(errors.ReportError):
                one.available({"a": ("bad",)})

    def test_functions_of_a_chain_get_all_packets(self):
        name = "COUNTER + BPF_FILTER + SAMPLE_PACKETS + STR_SEARCH + TO_BUFFER"
        self.assertIn(
            "| SAMPLE 1 2 | STR_SEARCH 'www.scampi.example' 0 0 |", load_plan.flow_of(name)
        )
        self.assertEqual(load_plan.flow_of("SAMPLE_PACKETS"), "SAMPLE 5 3")
        for size in load_plan.cost_sizes():
            made = capture.packet(size, 0, load_plan.SEARCHED.encode())
            self.assertEqual(len(made), size - 4)
            self.assertTrue(made.endswith(b"www.scampi.example"))

    def test_the_last_line_of_a_program_that_fails_is_quoted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mapi-gen")
            with open(path, "w") as file:
                file.write("#!/bin/sh\necho note >&2; echo 'mapi-gen: near: no such' >&2; exit 1\n")
            os.chmod(path, 0o755)
            one = sender.Sender({"mapi-gen": path}, min(os.sched_getaffinity(0)))
            with self.assertRaises(errors.ReportError) as caught:
                one.send(64, rate=1000, seconds=0.5)
        self.assertEqual(str(caught.exception), "mapi-gen: near: no such")

    def test_a_program_that_runs_is_ended_with_its_block(self):
        with self.assertRaises(KeyError):
            with child.started(["sleep", "60"]) as process:
                raise KeyError
        self.assertEqual(process.returncode, -9)


class Lines(unittest.TestCase):
    def test_only_points_without_any_loss_are_drawn_at_the_mark_for_none(self):
        points = [(1000, 0.0001, 0.0, 0.5), (2000, 0, 0, 0)]
        series = [lines.Series("one", 0, 1, [points])]
        drawn = lines.drawing(series, [lines.Axis("lost", True)], "packets/s")
        none = lines.NONE_PERCENT
        self.assertEqual(
            drawn["tables"]["series_1_1"],
            [(1000, lines.LEAST_PERCENT, none, 0.5), (2000, none, none, none)],
        )


class Figures(unittest.TestCase):
    def setUp(self):
        self.document = traffic_support.load()
        self.costs = figures.Costs(self.document, "part", "size")

    def row(self, **changes):
        (row,) = figures.rows(
            self.document, part="sweep", system="plain", size=64, rate=100000, round=2
        )
        return {**row, **changes}

    def test_costs_are_relative_to_unwatched_traffic_of_the_same_round(self):
        row = self.row()
        self.assertAlmostEqual(self.costs.softirq_ns(row), 300)
        self.assertAlmostEqual(self.costs.total_ns(row), 320)
        self.assertAlmostEqual(self.costs.share(row), 3.2)
        self.assertIsNone(self.costs.total_ns(self.row(round=9)))
        self.assertIsNone(self.costs.share(self.row(softirq_ns=None)))

    def test_a_process_that_needs_more_than_one_cpu_is_shown_with_its_demand(self):
        row = self.row(reader_ns=6e8, received=30000, dropped=5000)
        self.assertAlmostEqual(self.costs.share(row), 123)
        self.assertAlmostEqual(figures.demand(row), 120)
        self.assertEqual((figures.dropped(row), figures.late(row)), (5000, 15000))

    def test_the_time_of_an_idle_reader_is_not_that_of_packets(self):
        row = self.row(idle_share=0.001, reader_s=0.7)
        self.assertAlmostEqual(self.costs.process_ns(row), 20 - 700000 / 50000)
        self.assertAlmostEqual(self.costs.process_ns(self.row(received=10)), 20)  # by packets sent

    def test_steal_disturbs_a_measurement(self):
        self.assertTrue(head.is_disturbed(self.row(steal_ns=3e7)))
        self.assertFalse(head.is_disturbed(self.row(steal_ns=1e7)))

    def test_a_single_round_has_neither_a_spread_nor_a_count_of_rounds(self):
        self.assertEqual(head.between(["5", "5"]), "")
        self.assertEqual(head.between(["4", "5"]), "4 to 5")
        disturbed = self.row(steal_ns=3e7)
        self.assertEqual(head.marks([disturbed]), "disturbed")
        self.assertEqual(head.marks([disturbed, self.row()]), "1 of 2 disturbed")

    def test_losses_are_packets_not_received_unless_the_kernel_filters_them(self):
        self.assertEqual(figures.lost(self.row(received=49000)), 1000)
        filtered = self.row(received=0, dropped=7, is_filtered=True)
        self.assertEqual(figures.lost(filtered), 7)
        self.assertEqual(figures.lost(self.row(received=0)), 50000)


class Stored(support.ReportCase):
    def test_values_are_read_again_as_they_were_written(self):
        document = traffic_support.placement()
        path = self.write("results.json", stored.as_text(document))
        self.assertEqual(stored.read(path, placement_plan), document)

    def test_damage_and_other_texts_are_refused(self):
        document = traffic_support.load()
        damaged = [{**document, "points": []}, {**document, "cpus": 3}]
        damaged += [{**document, "points": [{**document["points"][0], "sent": "many"}]}]
        for text, code in (
            ("", errors.EXIT_INPUT),
            ("{}", errors.EXIT_SCHEMA),
            (json.dumps({**document, "schema": "netslice-load-9"}), errors.EXIT_SCHEMA),
            *((json.dumps(one), errors.EXIT_INPUT) for one in damaged),
        ):
            with self.assertRaises(errors.ReportError) as caught:
                stored.read(self.write("results.json", text), load_plan)
            self.assertEqual(caught.exception.code, code, text[:80])

    def drawn(self, page, plan, document):
        """Everything of a page but its file, unless the document is refused."""
        path = self.write("results.json", json.dumps(document))
        try:
            document = stored.read(path, plan)
        except errors.ReportError as error:
            self.assertEqual(error.code, errors.EXIT_INPUT)
            return
        for part in ("facts", "incomplete", "warnings", "figures", "pictures", "tables"):
            getattr(page, part)(document)

    def test_a_rate_at_which_nothing_was_sent_has_no_share_of_losses(self):
        for page, plan, made in (
            (load_page, load_plan, traffic_support.load),
            (placement_page, placement_plan, traffic_support.placement),
        ):
            for is_dead in (lambda row: True, lambda row: row["rate"] == 10000):
                document = made()
                for row in filter(is_dead, document["points"]):
                    row |= dict.fromkeys(("sent", "received", "bytes", "program_runs"), 0)
                self.drawn(page, plan, document)
                has_dead = any(map(is_dead, document["points"]))
                self.assertEqual(len(page.incomplete(document)), int(has_dead))

    def damages(self, row):
        for key in row:
            yield {name: value for name, value in row.items() if name != key}
            for value in (None, "x", [], {}, -1, 0, 1e300, True):
                yield {**row, key: value}

    def test_no_damage_of_a_member_is_a_bug(self):
        for page, plan, made in (
            (load_page, load_plan, traffic_support.load),
            (placement_page, placement_plan, traffic_support.placement),
        ):
            document = made()
            points = {row["part"]: row for row in document["points"]}.values()
            base = {**document, "points": list(points)}
            if page is placement_page:
                base["too_long"] = [["filters", 512, 300]]
            for one in self.damages(base):
                if "schema" in one and one["schema"] == plan.SCHEMA:
                    self.drawn(page, plan, one)
            for row in points:
                for one in self.damages(row):
                    self.drawn(page, plan, {**base, "points": [*points, one]})
            for one in self.damages(document.get("loss_free", [{}])[0]):
                self.drawn(page, plan, {**base, "loss_free": [one]})


@unittest.skipUnless(os.geteuid() == 0, "requires root")
class RealTraffic(unittest.TestCase):
    def setUp(self):
        try:
            self.programs = programs.find_all(support.NSREPORT)
        except errors.ReportError as error:
            self.skipTest(str(error))

    def test_each_way_to_read_counts_what_was_sent_and_nothing_stays_behind(self):
        before = os.readlink("/proc/self/ns/net")
        cpu = min(os.sched_getaffinity(0))
        one = sender.Sender(self.programs, cpu)
        with namespace.pair(self.programs):
            self.assertNotEqual(os.readlink("/proc/self/ns/net"), before)
            for system in ("xdp", "plain", "libpcap"):
                words = load_plan.SYSTEMS[system]
                with bench.reader.opened(self.programs, words, cpu) as reader:
                    row = point.measured(reader, one, 64, rate=10000, seconds=0.2)
                self.assertGreater(row["sent"], 100)  # 2000, if nothing else runs
                self.assertEqual(row["received"], row["sent"], system)
                self.assertGreater(row["reader_ns"], 0)
        self.assertEqual(os.readlink("/proc/self/ns/net"), before)

    def test_run_statistics_end_with_the_reader_that_turned_them_on(self):
        cpu = min(os.sched_getaffinity(0))
        one = sender.Sender(self.programs, cpu)
        with namespace.pair(self.programs):
            words = load_plan.SYSTEMS["xdp"]
            with bench.reader.opened(self.programs, words, cpu) as reading:
                before = point.measured(reading, one, 64, rate=10000, seconds=0.1)
                self.assertEqual(reading.turn_statistics_on(), "")
                row = point.measured(reading, one, 64, rate=10000, seconds=0.1)
                self.assertGreaterEqual(row["program_runs"], row["sent"])
                reading.process.kill()  # as by the kernel without memory
            with bench.reader.opened(self.programs, words, cpu) as reading:
                after = point.measured(reading, one, 64, rate=10000, seconds=0.1)
        if before["program_runs"] == 0:  # nothing else has them on
            self.assertEqual(after["program_runs"], 0)

    def test_an_interrupt_ends_the_measurement_without_a_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "report")
            command = [sys.executable, support.NSREPORT, "--load", "-o", out]
            process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            process.stderr.readline()  # what will be done
            time.sleep(1)
            process.terminate()
            _, said = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 128 + 15, said)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    support.main()
