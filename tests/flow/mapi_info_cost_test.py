#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-info cost: what the program of a device with driver=xdp costs a packet."""

import json
import subprocess
import time
import unittest

import needs
from mapi_info_run import TAP, TRACE, Test
from mapi_interfaces import enter_name_space, make_pair, run, send, wait_until
from mapi_live_library import ARP, UDP, tagged
from mapi_xdp_library import Sender
from mapid import Daemon

DESCRIBED = "description=in the kernel\n"
KERNEL = f"[driver]\ndevice=kernel\ndriver=xdp\npath=far\n{DESCRIBED}"
FLOW = (
    "flow = Flow.on_device('{}')\nflow.apply('BPF_FILTER', 'udp')\n"
    "packets = flow.apply('PKT_COUNTER')\nflow.connect()"
)
COLUMNS = (
    "DEVICE MODE FUNCTIONS INSTRUCTIONS CODE_BYTES RUNS RUN_NS EMPTY_RUN_NS PACKETS TEST_RUNS"
    " TEST_NS EMPTY_TEST_NS NET_NS NET_P10_NS NET_P90_NS"
).split()


class Unprivileged(Daemon):
    """Without CAP_SYS_ADMIN, but able to load programs."""

    def command(self, *options):
        return ["setpriv", "--bounding-set=-sys_admin", *super().command(*options)]


class Cost(Test):
    def setUp(self):
        make_pair("near", "far")
        self.addCleanup(
            lambda: subprocess.run(["ip", "link", "del", "near"], stderr=subprocess.DEVNULL)
        )

    def kernel(self, config=KERNEL, kind=Daemon):
        daemon = kind(config)
        self.addCleanup(daemon.close)
        client = daemon.client()
        client.do(FLOW.format("kernel"))
        return daemon, client

    def start_sending(self, *frames):
        sender = Sender(*frames, pause_s=0.002)
        sender.start()
        self.addCleanup(sender.stop)
        return sender

    def begin(self, daemon, *arguments):
        process = subprocess.Popen(
            self.command(daemon, *arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def fail_cost(self, daemon, *arguments, code=3, **how):
        return self.run_info(daemon, "cost", *arguments, code=code, **how)

    def test_a_table_has_the_runs_and_the_net_cost_and_no_count_changes(self):
        daemon, client = self.kernel(KERNEL + TAP)
        sender = self.start_sending(UDP, ARP, tagged(UDP, "81000064"))
        (row,) = self.table(daemon, "cost")
        sender.stop()
        self.assertEqual(list(row), COLUMNS)
        self.assertEqual((row["DEVICE"], row["MODE"], row["FUNCTIONS"]), ("kernel", "native", "2"))
        self.assertGreater(int(row["PACKETS"]), 4)  # on a busy machine not all that were taken
        self.assertLessEqual(int(row["PACKETS"]), 64)
        self.assertGreater(int(row["INSTRUCTIONS"]), 20)
        self.assertGreater(int(row["CODE_BYTES"]), 20)
        self.assertGreater(int(row["RUNS"]), 100)
        self.assertGreater(int(row["TEST_RUNS"]), 1000)
        self.assertGreater(float(row["RUN_NS"]), 0)
        self.assertGreater(float(row["TEST_NS"]), float(row["EMPTY_TEST_NS"]))
        self.assertLessEqual(float(row["NET_P10_NS"]), float(row["NET_NS"]))
        self.assertLessEqual(float(row["NET_NS"]), float(row["NET_P90_NS"]))
        counted = "flow.word(packets)"
        self.assertTrue(wait_until(lambda: client.get(counted) >= sender.sent))
        time.sleep(0.05)
        self.assertEqual(client.get(counted), sender.sent)

    def test_a_list_of_devices_says_what_xdp_does_not_see_and_that_a_mode_is_generic(self):
        daemon, client = self.kernel(KERNEL.replace("path=far", "path=lo").replace(DESCRIBED, ""))
        send("lo", UDP, count=20)
        self.assertTrue(wait_until(lambda: client.get("flow.word(packets)") == 20))
        done = subprocess.run(
            self.command(daemon, "devices"), capture_output=True, text=True, check=True
        )
        names = [line.split()[0] for line in done.stdout.splitlines()]
        self.assertEqual(names, ["DEVICE", "kernel"])
        self.assertIn("device kernel: lo: XDP in generic mode", done.stderr)
        (device,) = self.json(daemon, "devices")["devices"]
        self.assertIn("generic", device["remark"])
        self.assertIn("outgoing packets only with both=1, and no VLAN tag", device["description"])

    def test_json_has_the_same_for_one_device(self):
        daemon, _ = self.kernel()
        self.start_sending(UDP)
        document = self.json(daemon, "cost", "kernel", "-d", "0.2")
        self.assertEqual(document["schema"], "netslice-mapi-info-1")
        (cost,) = document["costs"]
        self.assertEqual((cost["device"], cost["place"]), ("kernel", "kernel"))
        self.assertEqual(
            list(cost["live"]), ["runs", "empty_runs", "run_ns", "empty_run_ns"], cost["live"]
        )
        self.assertGreater(cost["net"]["net_ns"], 0)

    def test_packets_of_functions_in_the_engine_are_not_handed_over_twice(self):
        daemon, client = self.kernel()
        client.do(
            "gap = Flow.on_device('kernel')\ngap.apply('BPF_FILTER', 'udp')\ngap.apply('GAP')\n"
            "seen = gap.apply('PKT_COUNTER')\ngap.connect()"
        )
        sender = self.start_sending(UDP)
        self.json(daemon, "cost", "-d", "0.2")
        sender.stop()
        time.sleep(0.2)
        counts = client.get("flow.word(packets)"), client.get("gap.word(seen)")
        self.assertEqual(counts, (sender.sent, sender.sent))

    def test_without_packets_there_is_only_the_size(self):
        daemon, _ = self.kernel()
        none = "no packet arrived during the measurement"
        self.assertEqual(
            self.fail_cost(daemon, "-d", "0.1", code=1),
            f"mapi-info: kernel: no run statistics: {none}\n"
            f"mapi-info: kernel: no net cost: {none}\n",
        )
        shown = subprocess.run(
            self.command(daemon, "cost", "--json", "-d", "0.1"), capture_output=True
        )
        (cost,) = json.loads(shown.stdout)["costs"]
        self.assertGreater(cost["instructions"], 0)
        self.assertEqual(cost["net"], {"packets": 0, "test_runs": 0, "missing": none})

    def test_a_device_that_drops_has_run_statistics(self):
        daemon, _ = self.kernel(KERNEL + "drop=1\n")
        self.start_sending(UDP)
        self.assertEqual(
            self.fail_cost(daemon, "-d", "0.2", code=1),
            "mapi-info: kernel: no net cost: the device drops all packets, so that none could be "
            "taken for test runs (drop=1)\n",
        )

    def test_without_the_capability_it_is_named_and_the_net_cost_is_measured(self):
        daemon, _ = self.kernel(kind=Unprivileged)
        self.start_sending(UDP)
        shown = subprocess.run(
            self.command(daemon, "cost", "--json", "-d", "0.2"), capture_output=True, text=True
        )
        self.assertEqual(
            (shown.returncode, shown.stderr),
            (
                1,
                "mapi-info: kernel: no run statistics: BPF_ENABLE_STATS: Operation not permitted "
                "(requires the capability CAP_SYS_ADMIN)\n",
            ),
        )
        self.assertGreater(json.loads(shown.stdout)["costs"][0]["net"]["net_ns"], 0)

    def test_errors_name_the_device_and_the_cause(self):
        daemon = self.daemon(KERNEL + TAP)
        self.assertEqual(
            self.fail_cost(daemon, code=1),
            "mapi-info: no open device has a driver that runs functions in the kernel (driver=xdp "
            "in mapi.conf; its first flow opens it)\n",
        )
        daemon.client().do(FLOW.format("tap"))
        for device, text in (
            ("none", f'no device "none" in {daemon.config}, and no network interface of that name'),
            ("kernel", "device kernel is not open; its first flow opens it"),
            (
                "tap",
                "device tap: its driver pcap_file runs no functions whose cost it could measure",
            ),
        ):
            self.assertEqual(self.fail_cost(daemon, device), f"mapi-info: {text}\n")
        for wrong in "0", "11", "nan":
            self.assertEqual(
                self.fail_cost(daemon, "-d", wrong, code=2),
                f'mapi-info: --duration: "{wrong}" is not a number of seconds from 0.01 to 10 '
                "(see mapi-info cost --help)\n",
            )

    def test_only_users_of_the_device_may_measure_it(self):
        daemon, _ = self.kernel(KERNEL + "group=shadow\n")
        self.assertIn(
            'device kernel: permission denied: user 65534 is not in group "shadow"',
            self.fail_cost(daemon, "kernel", user="65534"),
        )
        self.assertIn("no open device has a driver", self.fail_cost(daemon, code=1, user="65534"))

    def test_others_are_served_meanwhile_and_a_second_measurement_is_refused(self):
        daemon, _ = self.kernel()
        process = self.begin(daemon, "cost", "-d", "5")
        time.sleep(0.5)
        start = time.monotonic()
        self.assertIn(
            "another client is measuring a cost (one at a time)", self.fail_cost(daemon, "kernel")
        )
        self.run_info(daemon)
        self.assertLess(time.monotonic() - start, 3)
        self.assertIsNone(process.poll())
        start = time.monotonic()
        self.assertEqual(daemon.terminate(), 0)
        self.assertLess(time.monotonic() - start, 3)
        process.wait(20)

    def test_flows_that_come_and_go_meanwhile_disturb_nothing(self):
        daemon, client = self.kernel()
        self.start_sending(UDP)
        process = self.begin(daemon, "cost", "--json")
        time.sleep(0.3)
        for number in range(20):
            client.do(
                f"other = Flow.on_device('kernel'); other.apply('BPF_FILTER', 'port {number}')\n"
                "other.connect(); other.close()"
            )
        client.do("flow.close()")
        output, error = process.communicate(timeout=30)
        self.assertIn(process.returncode, (0, 1), error)
        # on a busy machine it begins while one of the others is connected
        self.assertIn(json.loads(output)["costs"][0]["functions"], (2, 3))


if __name__ == "__main__":
    needs.captures(TRACE)
    needs.tools("bpftool", "setpriv")
    if subprocess.run(["bpftool", "prog"], capture_output=True).returncode != 0:
        needs.skip("cannot load BPF programs")
    enter_name_space(is_own_user=False)
    run("ip", "link", "set", "lo", "up")
    unittest.main()
