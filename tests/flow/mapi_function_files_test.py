#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that functions write have what tcpdump writes, and rows with what each interval added."""

import decimal
import pathlib
import struct
import tempfile

from mapi_functions_library import (
    CAPTURES,
    PKT_SIZE,
    PKT_TS,
    FunctionsTest,
    main,
    nanoseconds,
    ntp,
    tcpdump,
    tshark,
)
from mapi_library import MFF_PCAP, Flow


class Files(FunctionsTest):
    def test_a_file_of_packets_is_what_tcpdump_would_write(self):
        for capture, flow in self.each():
            with tempfile.TemporaryDirectory() as folder:
                whole, some = (
                    pathlib.Path(folder) / "whole.pcap",
                    pathlib.Path(folder) / "some.pcap",
                )
                some.write_text("of an earlier run, and longer than what comes" * 10000)
                flow.apply("BPF_FILTER", "tcp")
                files = (
                    flow.apply("TO_FILE", MFF_PCAP, str(whole), 0),
                    flow.apply("TO_FILE", MFF_PCAP, str(some), 50),
                )
                flow.run()
                self.assertEqual([flow.word(file) for file in files], [0, 0])
                for path, more in (whole, []), (some, ["-c", "50"]):
                    self.assertEqual(tcpdump(path), tcpdump(capture, *more, "tcp"))

    def test_a_file_without_a_packet_is_a_capture_file(self):
        with tempfile.TemporaryDirectory() as folder:
            flow = Flow.offline(CAPTURES[0])
            flow.apply("BPF_FILTER", "udp port 1")
            flow.apply("TO_FILE", MFF_PCAP, folder + "/empty.pcap", 0)
            flow.run()
            self.assertEqual(tcpdump(folder + "/empty.pcap"), "")
            flow.close()

    def test_rows_of_results_have_what_each_interval_added(self):
        for capture, flow in self.each():
            with tempfile.TemporaryDirectory() as folder:
                count, size, time = (
                    flow.apply("PKT_COUNTER"),
                    flow.apply("PKTINFO", PKT_SIZE),
                    flow.apply("PKTINFO", PKT_TS),
                )
                statistics = flow.apply("STATS", flow.fd, size, "0")
                columns = ",".join(
                    f"{function}@{flow.fd}" for function in (count, size, time, statistics)
                )
                flow.apply(
                    "RES2FILE",
                    "1,1,2,3",
                    columns,
                    "count size time stats",
                    folder + "/periods",
                    "5s",
                    1,
                )
                flow.apply(
                    "RES2FILE",
                    "1,1",
                    f"{count}@{flow.fd},{size}@{flow.fd}",
                    "each",
                    folder + "/each",
                    "0",
                    0,
                )
                flow.apply(
                    "RES2FILE",
                    "1,3",
                    f"{count}@{flow.fd},{statistics}@{flow.fd}",
                    "end",
                    folder + "/end",
                    "-1",
                    0,
                )
                flow.apply("RES2FILE", "0", f"{count}@{flow.fd}", "raw", folder + "/raw", "-1", 0)
                flow.run()
                rows = {
                    name: (pathlib.Path(folder) / name).read_bytes()
                    for name in ("periods", "each", "end", "raw")
                }
            packets = [
                (nanoseconds(epoch), int(length))
                for epoch, length in tshark(capture, "frame.time_epoch", "frame.len")
            ]
            sizes = [length for _, length in packets]

            def stats(upto):
                return (
                    f"{upto}  {sum(sizes[:upto])}.000000 "
                    f"{sum(x * x for x in sizes[:upto])}.000000 {min(sizes[:upto])} "
                    f"{max(sizes[:upto])}"
                )

            wanted, begin, before = ["count size time stats"], packets[0][0], 0
            for i, (time, _) in enumerate(packets + [(packets[-1][0] + 5 * 10**9, 0)]):
                for silent in range((time - begin) // (5 * 10**9)):
                    begin += 5 * 10**9
                    wanted.append(
                        f"0 0 0.000000000000 {stats(i)}"
                        if silent
                        else (
                            f"{i - before} {sizes[i - 1]} "
                            f"{decimal.Decimal(ntp(packets[i - 1][0])) / 2**32:.12f} {stats(i)}"
                        )
                    )
                    before = i
            self.assertEqual(
                [line.rstrip() for line in rows["periods"].decode().splitlines()], wanted
            )
            self.assertEqual(
                rows["each"].decode().splitlines(),
                ["each"] + [f"{i} {length} " for i, length in enumerate(sizes, 1)],
            )
            self.assertEqual(
                rows["end"].decode().splitlines(), ["end", f"{len(sizes)} {stats(len(sizes))} "]
            )
            self.assertEqual(rows["raw"], b"raw\n" + struct.pack("<QQ", 8, len(sizes)) + b"\n")

    def test_what_does_not_fit_on_a_full_disk_is_counted(self):
        for _, flow in self.each():
            file = flow.apply("TO_FILE", MFF_PCAP, "/dev/full", 0)
            count = flow.apply("PKT_COUNTER")
            flow.run()
            self.assertEqual(flow.dropped(file), flow.word(count))


if __name__ == "__main__":
    main()
