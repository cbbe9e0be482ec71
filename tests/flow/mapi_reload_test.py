#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""SIGHUP: mapid reads mapi.conf again while flows continue, and an invalid file changes nothing."""

import json
import os
import signal
import subprocess
import threading

import needs
from mapi_live_library import UDP, LiveTest, main, send, wait_until
from mapid import BUILD, DATA, ClientError, Daemon

TRACE, TRACE_PACKETS = DATA / "mapi/tracefile", 893
OTHER, OTHER_PACKETS = DATA / "LibtraceTeam+libtrace/test/traces/100_packets.pcap", 100
LINE = "[driver]\ndevice=line\ndriver=af_packet\npath=far\nbuffer_mb={}\n"
FILE = "[driver]\ndevice=file\npath={}\n"
COUNT = "{0} = Flow.on_device({1!r})\n{0}.count = {0}.apply('PKT_COUNTER')\n{0}.connect()"


class Reload(LiveTest):
    def daemon(self, config):
        daemon = Daemon(config)
        self.addCleanup(daemon.close)
        return daemon

    def reload(self, daemon, config=None):
        """The messages that it logs."""
        if config is not None:
            daemon.config.write_text(config)
        before = daemon.log().count("reload: ")
        daemon.process.send_signal(signal.SIGHUP)
        self.assertTrue(
            wait_until(
                lambda: daemon.log().count("reload: ") > before and daemon.log().endswith("\n")
            )
        )
        return [line for line in daemon.log().splitlines() if "reload: " in line][-1]

    def devices(self, daemon):
        reported = subprocess.run(
            [BUILD / "bin/mapi-info", "--socket", daemon.socket, "--json", "devices"],
            capture_output=True,
            check=True,
        ).stdout
        return json.loads(reported)["devices"]

    def assert_all_were_counted(self, client, sent):
        """Packets counted by the flow, or by a loss counter."""

        def counted():
            words = client.get(
                "[flow.word(flow.count), stats_of('line').drop_kernel, stats_of('line').ps_ifdrop]"
            )
            return sum(words), words

        self.assertTrue(wait_until(lambda: counted()[0] >= sent), counted())
        self.assertEqual(counted()[0], sent, counted())
        self.assertGreater(counted()[1][0], sent // 2)

    def test_no_packet_of_a_running_flow_is_lost_to_a_reload(self):
        daemon = self.daemon(LINE.format(8))
        client = daemon.client()
        client.do(COUNT.format("flow", "line"))
        sent = 60000
        sender = threading.Thread(target=send, args=("near", UDP), kwargs={"count": sent})
        sender.start()
        reloads = 0
        while sender.is_alive():
            reloads += 1
            more = "".join(
                f"[driver]\ndevice=more{number}\npath={TRACE}\n" for number in range(reloads % 7)
            )
            self.assertIn(
                "devices", self.reload(daemon, LINE.format(8) + f"description={reloads}\n" + more)
            )
        sender.join()
        self.assertGreater(reloads, 5)
        self.assert_all_were_counted(client, sent)

    def test_a_changed_device_continues_for_its_flows_and_is_reopened_for_the_next(self):
        daemon = self.daemon(LINE.format(8))
        client, next_one = daemon.client(), daemon.client()
        client.do(COUNT.format("flow", "line"))
        send("near", UDP, count=1000)
        self.assertIn("changed, for new flows: line", self.reload(daemon, LINE.format(4)))
        send("near", UDP, count=1000)
        self.assert_all_were_counted(client, 2000)
        next_one.do(COUNT.format("flow", "line"))
        send("near", UDP, count=1000)
        self.assertTrue(
            wait_until(
                lambda: (
                    client.get("flow.word(flow.count)") == 3000
                    and next_one.get("flow.word(flow.count)") == 1000
                )
            )
        )
        self.assertEqual(
            [
                (device["device"], device["state"], device["packets"], device["flows"])
                for device in self.devices(daemon)
            ],
            [("line", "replaced", 3000, 1), ("line", "open", 1000, 1)],
        )
        client.kill()
        self.assertTrue(
            wait_until(lambda: [device["state"] for device in self.devices(daemon)] == ["open"])
        )

    def test_new_devices_appear_changed_ones_apply_to_the_next_flow_and_missing_ones_go(self):
        daemon = self.daemon(FILE.format(TRACE) + LINE.format(8))
        client = daemon.client()
        client.do(COUNT.format("flow", "file"))
        words = self.reload(
            daemon, FILE.format(OTHER) + FILE.format(TRACE).replace("device=file", "device=new")
        )
        for part in ("2 devices", "new: new", "changed, for new flows: file", "removed: line"):
            self.assertIn(part, words)
        for name, device, packets in (
            ("again", "file", OTHER_PACKETS),
            ("new", "new", TRACE_PACKETS),
        ):
            client.do(
                COUNT.format(name, device)
                + f"\nassert Flow.library.mapi_wait_flow({name}.fd, -1) == 0"
            )
            self.assertEqual(client.get(f"{name}.word({name}.count)"), packets)
        self.assertEqual(client.get("flow.word(flow.count)"), TRACE_PACKETS)
        with self.assertRaises(ClientError) as caught:
            client.do("Flow.on_device('line')")
        self.assertIn("3200", str(caught.exception))

    def test_an_invalid_file_is_refused_with_line_and_key_and_changes_nothing(self):
        daemon = self.daemon(LINE.format(8))
        client = daemon.client()
        client.do(COUNT.format("flow", "line"))
        good = LINE.format(8) + FILE.format(TRACE)
        for wrong, words in (
            ("batch=1000\n", "mapi.conf:9: batch=1000"),
            ("no_such_key=1\n", 'mapi.conf:9: unknown key "no_such_key"'),
            ("\x00\xff\n", "mapi.conf:9: "),
            ("[driver\n", "mapi.conf:9: "),
        ):
            reported = self.reload(daemon, good + wrong)
            self.assertIn(words, reported)
            self.assertIn("configuration unchanged", reported)
        daemon.config.rename(daemon.folder / "away")
        self.assertIn("cannot be read", self.reload(daemon))
        for make, leave, words in (
            (os.mkdir, os.rmdir, "mapi.conf: is a directory (specify a file in it)"),
            (os.mkfifo, os.unlink, "is not a regular file"),
        ):
            make(daemon.config)
            reported = self.reload(daemon)
            self.assertIn(words, reported)
            self.assertIn("configuration unchanged", reported)
            leave(daemon.config)
        send("near", UDP, count=1000)
        self.assert_all_were_counted(client, 1000)
        client.do(COUNT.format("second", "line"))
        self.assertEqual([device["device"] for device in self.devices(daemon)], ["line"])
        self.assertIn("new: file", self.reload(daemon, good))
        client.do(COUNT.format("file", "file"))

    def test_an_edited_file_is_applied_at_a_reload_and_not_before(self):
        daemon = self.daemon(FILE.format(TRACE))
        daemon.config.write_text("neither a section nor a key\n")
        client = daemon.client()
        client.do(COUNT.format("flow", "file") + "\nflow.close()")  # so that the next one opens it
        daemon.config.write_text(FILE.format(OTHER))
        client.do(
            COUNT.format("again", "file")
            + "\nassert Flow.library.mapi_wait_flow(again.fd, -1) == 0"
        )
        self.assertEqual(client.get("again.word(again.count)"), TRACE_PACKETS)

    def test_with_an_invalid_file_it_does_not_start(self):
        daemon = self.daemon("")
        daemon.config.write_text(LINE.format(8) + "batch=1000\n")
        done = subprocess.run(
            Daemon.command(daemon)[:1]
            + ["--socket", daemon.folder / "other.sock", "--config", daemon.config],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("mapi.conf:6: batch=1000", done.stderr)


if __name__ == "__main__":
    needs.captures(TRACE, OTHER)
    main()
