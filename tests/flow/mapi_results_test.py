#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results of more than two words are read through mapid without a request to it, and equal those of
an engine in process."""

import re
import signal
import unittest

import needs
from mapid import DATA, ClientError, Daemon, wait_until

TRACE = DATA / "seladb+PcapPlusPlus/Tests/Pcap++Test/PcapExamples/example.pcap"
REPEATED = f"[driver]\ndevice=tap\npath={TRACE}\nrepeat=forever\n"
ROWS, FLOWS = 1000, 50
# rows(): value, packets and bytes of each row of TOP. ended(): one read of EXPIRED_FLOWS, with the
# number of flows that have ended, and packets and bytes of each reported one.
READERS = """
def read(flow, fid):
    results = flow.library.mapi_read_results(flow.fd, fid)
    assert results, flow.error()
    return ctypes.string_at(results.contents.res, results.contents.size)
def rows(flow, fid):
    data = read(flow, fid)
    count = struct.unpack_from("=I", data)[0]
    return [struct.unpack_from("=I20xQQI", data, 4 + i * 48)[:3] for i in range(count)]
def ended(flow, fid):
    data = read(flow, fid)
    sent, _, expired = struct.unpack_from("=3I", data)
    return expired, [struct.unpack_from("=8xQQ", data, 40 + i * 40) for i in range(sent)]
def all_ended(flow, fid):
    expired, flows = ended(flow, fid)
    while True:
        more_expired, more = ended(flow, fid)
        if not more:
            return expired, flows
        expired, flows = expired + more_expired, flows + more
globals().update(read=read, rows=rows, ended=ended, all_ended=all_ended)
"""
APPLY = (
    f"top = flow.apply('TOP', {ROWS}, 1, 9, 1, 0)\n"
    f"expired = flow.apply('EXPIRED_FLOWS', {FLOWS}, 100000, 0)\n"
)
OFFLINE = f"flow = Flow.offline({str(TRACE)!r})\n"
LIVE = "flow = Flow.on_device('tap')\n"


class Results(unittest.TestCase):
    def daemon(self, *options):
        daemon = Daemon(REPEATED, *options)
        self.addCleanup(daemon.close)
        return daemon

    def client(self, daemon, flow, is_alone=False):
        client = daemon.alone() if is_alone else daemon.client()
        client.do(READERS + flow + APPLY)
        return client

    def test_of_a_daemon_that_is_stopped_all_is_read_as_in_process(self):
        daemon = self.daemon()
        through, alone = self.client(daemon, OFFLINE), self.client(daemon, OFFLINE, True)
        for client in (through, alone):
            client.do("flow.run()")
        self.addCleanup(daemon.process.send_signal, signal.SIGCONT)
        daemon.process.send_signal(signal.SIGSTOP)
        tops = [client.get("rows(flow, top)") for client in (through, alone)]
        self.assertEqual(*tops)
        self.assertGreater(len(tops[0]), 20)
        flows = [client.get("all_ended(flow, expired)") for client in (through, alone)]
        self.assertEqual(*flows)
        self.assertEqual(flows[0][0], len(flows[0][1]))
        self.assertGreater(len(flows[0][1]), FLOWS)

    def test_reads_while_packets_arrive_send_no_request_and_return_a_consistent_snapshot(self):
        daemon = self.daemon("--log-level", "trace")
        client = self.client(daemon, LIVE)
        client.do("flow.connect()")
        self.assertTrue(wait_until(lambda: len(client.get("rows(flow, top)")) > 20))
        asked = len(re.findall("client .*question|client .*flow", daemon.log()))
        self.assertGreater(asked, 0)
        client.do(
            "for _ in range(300):\n    some = rows(flow, top)\n"
            "    counts = [row[1] for row in some]\n"
            "    assert counts == sorted(counts, reverse=True) and len({row[0] for row in some}) "
            "== len(some), some\n    ended(flow, expired)"
        )
        self.assertEqual(len(re.findall("client .*question|client .*flow", daemon.log())), asked)

    def test_as_many_flows_wait_as_in_process_and_the_others_are_dropped(self):
        daemon = self.daemon()
        reported = []
        for client in (daemon.client(), daemon.alone()):
            client.do(
                READERS + OFFLINE + "expired = flow.apply('EXPIRED_FLOWS', 5, 2, 0)\nflow.run()"
            )
            reported.append(
                client.get(
                    "[[len(ended(flow, expired)[1]) for _ in range(3)], flow.dropped(expired)]"
                )
            )
        self.assertEqual(*reported)
        self.assertEqual(reported[0][0], [5, 2, 0])
        self.assertGreater(reported[0][1], FLOWS)

    def test_flows_that_had_ended_are_read_after_the_daemon_died_and_others_are_refused(self):
        daemon = Daemon(REPEATED)
        finished, running = self.client(daemon, OFFLINE), self.client(daemon, LIVE)
        finished.do("flow.run()")
        running.do("flow.connect()")
        daemon.process.kill()
        daemon.process.wait()
        self.assertGreater(finished.get("len(rows(flow, top))"), 20)
        expired, flows = finished.get("all_ended(flow, expired)")
        self.assertEqual(expired, len(flows))
        for read in ("rows(flow, top)", "ended(flow, expired)"):
            with self.assertRaisesRegex(ClientError, "gone"):
                running.do(f"for _ in range(20):\n    {read}\n    time.sleep(0.1)")
        for client in (finished, running):
            client.kill()
        daemon.temporary.cleanup()

    def test_ended_flows_cannot_be_waited_for(self):
        daemon = self.daemon()
        for is_alone in (False, True):
            client = self.client(daemon, OFFLINE, is_alone)
            client.do("flow.connect()")
            with self.assertRaisesRegex(ClientError, "one by one"):
                client.do(
                    "assert flow.library.mapi_get_poll_descriptor(flow.fd, expired) >= 0, "
                    "flow.error()"
                )


if __name__ == "__main__":
    needs.captures(TRACE)
    unittest.main()
