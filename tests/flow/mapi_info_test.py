#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mapi-info reports what a running mapid has, and respects permissions."""

import os
import socket
import subprocess
import unittest

import needs
from mapi_info_run import COUNT, INFO, ODD, SECRET, TAP, TRACE, Test, has_probes
from mapid import Daemon, wait_until


class Lists(Test):
    def test_devices_are_listed_with_driver_flows_packets_and_drops_by_cause(self):
        daemon = self.daemon()
        client = daemon.client()
        client.do(
            COUNT + "\nslow = Flow.on_device('tap')\nbuffer = slow.apply('TO_BUFFER', 0)\n"
            "slow.connect()\n"
            f"once = Flow.on_device({ODD!r})\ncount = once.apply('PKT_COUNTER')\nonce.run()"
        )
        self.assertTrue(wait_until(lambda: client.get("slow.dropped(buffer)") > 0))
        least = client.get("[stats_of('tap').ps_recv, stats_of('tap').drop_buffer_full]")
        reported = {device["device"]: device for device in self.json(daemon, "devices")["devices"]}
        most = client.get("[stats_of('tap').ps_recv, stats_of('tap').drop_buffer_full]")
        self.assertEqual(set(reported), {"tap", ODD})
        tap = reported["tap"]
        self.assertEqual((tap["driver"], tap["state"], tap["flows"]), ("pcap_file", "open", 2))
        for before, found, after in zip(least, (tap["packets"], tap["drops"]["buffer_full"]), most):
            self.assertTrue(before <= found <= after, (before, found, after))
        self.assertEqual({cause for cause, count in tap["drops"].items() if count}, {"buffer_full"})
        self.assertEqual(
            (reported[ODD]["packets"], reported[ODD]["bytes"], reported[ODD]["description"]),
            (893, 283464, "once"),
        )
        rows = {row["DEVICE"]: row for row in self.table(daemon, "devices")}
        self.assertEqual((rows["tap"]["STATE"], rows["tap"]["FLOWS"]), ("open", "2"))
        self.assertEqual(rows["tap"]["CAUSES"], f"buffer_full={rows['tap']['DROPS']}")
        odd = rows["o\\x20d\\x1b[31md"]
        self.assertEqual(
            (odd["PACKETS"], odd["BYTES"], odd["DROPS"], odd["CAUSES"]), ("893", "283464", "0", "-")
        )

    def test_flows_are_listed_with_client_device_status_and_functions(self):
        daemon = self.daemon()
        client, other = daemon.client(), daemon.client()
        client.do(
            f"flow = Flow.offline({str(TRACE)!r})\nflow.apply('BPF_FILTER', 'tcp')\n"
            "flow.apply('PKT_COUNTER')\nflow.run()\nsecond = Flow.on_device('tap')"
        )
        other.do(COUNT)
        mine, new, theirs = self.json(daemon, "flows")["flows"]
        self.assertEqual(
            (mine["pid"], mine["uid"], mine["flow"], mine["status"]),
            (client.process.pid, os.getuid(), 1, "finished"),
        )
        self.assertTrue(mine["device"].startswith(f"{TRACE}@"))
        reported = [
            (each["number"], each["function"], each["seen"], each["passed"], each["dropped"])
            for each in mine["functions"]
        ]
        self.assertEqual(
            reported, [(1, "BPF_FILTER", 893, 596, 0), (2, "PKT_COUNTER", 596, 596, 0)]
        )
        self.assertGreater(mine["function_bytes"], new["function_bytes"])
        self.assertEqual((new["status"], new["functions"], new["device"]), ("new", [], "tap"))
        self.assertEqual(
            (theirs["pid"], theirs["status"], theirs["device"]),
            (other.process.pid, "active", "tap"),
        )
        row, *_ = self.table(daemon, "flows")
        self.assertEqual(
            (row["PID"], row["STATUS"], row["FUNCTIONS"]),
            (str(client.process.pid), "finished", "BPF_FILTER=893/596,PKT_COUNTER=596/596"),
        )
        rows = self.table(daemon, "functions")
        self.assertEqual(
            [(row["PID"], row["FUNCTION"]) for row in rows],
            [
                (str(client.process.pid), "BPF_FILTER"),
                (str(client.process.pid), "PKT_COUNTER"),
                (str(other.process.pid), "BPF_FILTER"),
                (str(other.process.pid), "PKT_COUNTER"),
            ],
        )
        self.assertEqual((rows[0]["SEEN"], rows[0]["PASSED"]), ("893", "596"))
        client.kill()
        self.assertTrue(wait_until(lambda: len(self.table(daemon, "flows")) == 1))

    def test_all_flows_and_functions_are_listed_however_many_there_are(self):
        daemon = self.daemon()
        clients = [daemon.client() for _ in range(3)]
        clients[0].do(
            "flow = Flow.on_device('tap')\nfor _ in range(3000): flow.apply('PKT_COUNTER')"
        )
        for client in clients[1:]:
            client.do(
                "flows = [Flow.on_device('tap') for _ in range(600)]\n"
                "for flow in flows: flow.apply('BYTE_COUNTER')"
            )
        flows = self.json(daemon, "flows")["flows"]
        self.assertEqual([each["number"] for each in flows[0]["functions"]], list(range(1, 3001)))
        self.assertEqual(
            [(flow["pid"], flow["flow"]) for flow in flows[1:]],
            [(client.process.pid, number) for client in clients[1:] for number in range(1, 601)],
        )
        self.assertTrue(all(len(flow["functions"]) == 1 for flow in flows[1:]))
        self.assertEqual(len(self.table(daemon, "functions")), 3000 + 1200)

    def test_a_device_whose_driver_is_unknown_hides_no_other(self):
        daemon = self.daemon(TAP + "[driver]\ndevice=card\ndriver=mapidagdrv.so\npath=/dev/dag0\n")
        devices = {each["device"]: each for each in self.json(daemon, "devices")["devices"]}
        self.assertEqual(
            (devices["card"]["driver"], devices["card"]["description"]), ("mapidagdrv.so", "")
        )
        self.assertIn("pcap", devices["tap"]["description"])

    def test_without_a_command_mapid_devices_and_flows_are_listed(self):
        daemon = self.daemon()
        daemon.client().do(COUNT)
        mapid, devices, flows = self.run_info(daemon).split("\n\n")
        head, reported = [line.split() for line in mapid.splitlines()]
        self.assertEqual(
            (head[0], reported[0], reported[head.index("RECORDING")]),
            ("MAPID", str(daemon.process.pid), "no"),
        )
        self.assertEqual(
            (devices.split()[0], flows.split()[0], len(flows.splitlines())), ("DEVICE", "CLIENT", 2)
        )
        self.assertEqual(self.json(daemon)["mapid"]["clients"], 2)

    def test_a_missing_mapid_and_wrong_usage_are_reported_by_code_and_message(self):
        daemon = self.daemon()
        for arguments in (
            ["--no-such"],
            ["cuckoos"],
            ["record", "-d", "0"],
            ["record", "-d", "nan"],
            ["record", "--json"],
            ["devices", "flows"],
        ):
            self.run_info(daemon, *arguments, code=2)
        self.assertIn("record", self.run_info(daemon, "--help"))
        daemon.terminate()
        self.assertIn(f"mapid does not answer at {daemon.socket}", self.run_info(daemon, code=3))
        with open("/dev/full", "w") as full:
            daemon.start()
            done = subprocess.run(
                self.command(daemon), stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
            )
            self.assertEqual(done.returncode, 3)

    def test_a_server_of_another_protocol_at_the_socket_is_refused_with_a_message(self):
        daemon = self.daemon()
        place = daemon.folder / "other.sock"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(place))
            listener.listen()
            with subprocess.Popen(
                [INFO, "--socket", place], stderr=subprocess.PIPE, text=True
            ) as asking:
                with listener.accept()[0] as connection:
                    connection.recv(65536)
                    connection.send(b"\xff" * 100)
                    self.assertIn("malformed reply", asking.communicate(timeout=60)[1])
            self.assertEqual(asking.returncode, 3)


class Rights(Test):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("requires root, to run as another user")

    def test_other_users_see_their_own_flows_and_the_devices_that_they_may_use(self):
        daemon = self.daemon(TAP + SECRET, "--group", "nogroup")
        daemon.client().do(COUNT + "\nsecret = Flow.on_device('secret')")
        stranger = daemon.client(user="nobody", groups=[65534])
        stranger.do(COUNT)
        self.assertEqual(
            {device["device"] for device in self.json(daemon, "devices", user=65534)["devices"]},
            {"tap"},
        )
        reported = self.json(daemon, user=65534)
        self.assertEqual(
            [(flow["pid"], flow["uid"]) for flow in reported["flows"]],
            [(stranger.process.pid, 65534)],
        )
        self.assertEqual(reported["devices"][0]["flows"], 1)
        self.assertNotIn("clients", reported["mapid"])
        self.assertNotIn("refusals", reported["mapid"])
        self.assertEqual(self.json(daemon, user=65533)["flows"], [])
        self.assertEqual(self.json(daemon, user=65533)["devices"], [])
        self.assertEqual(len(self.json(daemon)["flows"]), 3)
        self.assertEqual(len(self.json(daemon)["devices"]), 2)

    def test_statistics_of_a_device_are_for_users_who_may_use_it(self):
        daemon = self.daemon(TAP + SECRET, "--group", "nogroup")
        daemon.client().do(
            "flow = Flow.on_device('secret')\nflow.apply('PKT_COUNTER')\nflow.connect()"
        )
        stranger = daemon.client(user="nobody", groups=[65534])
        with self.assertRaises(Exception) as caught:
            stranger.do("stats_of('secret')")
        self.assertIn("3139", str(caught.exception))

    def test_recording_is_for_root_and_mapids_own_user(self):
        daemon = self.daemon()
        folder = daemon.folder / "open"
        folder.mkdir()
        folder.chmod(0o777)
        self.assertIn(
            "permission denied: user 65534 is neither",
            self.run_info(
                daemon, "record", "-d", "1", "-w", str(folder / "t.nsl"), user=65534, code=3
            ),
        )
        self.assertFalse((folder / "t.nsl").exists())

    def test_mapid_writes_to_the_passed_file_whatever_its_own_rights(self):
        if not has_probes():
            self.skipTest("built without probes")
        daemon = Daemon(TAP, "--group", "nogroup")
        self.addCleanup(daemon.close)
        daemon.terminate()
        daemon.folder.chmod(0o777)
        subprocess.run(["chmod", "-R", "a+rw", daemon.folder], check=True)
        with open(daemon.log_path, "a") as log:
            daemon.process = subprocess.Popen(
                [
                    "setpriv",
                    "--reuid=65534",
                    "--regid=65534",
                    "--clear-groups",
                    *daemon.command("--group", "nogroup"),
                ],
                stderr=log,
            )
        self.assertTrue(wait_until(daemon.answers), daemon.log())
        daemon.client().do(COUNT)
        trace = daemon.folder / "root.nsl"
        trace.touch(0o600)
        done = subprocess.run(
            self.command(daemon, "record", "-d", "0.3", "-w", str(trace)),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("driver_read", self.slices(trace))


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
