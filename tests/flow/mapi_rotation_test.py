#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of packets that mapi-flow rotates by size or time; with and without mapid."""

import subprocess

import needs
from mapi_captures_library import TIME_S, TRACE, CapturesTest, found, frame, main, pcap, run, times


def packets_in(files):
    """Of each file, by one program that starts in a fraction of tshark's time."""
    table = found("capinfos", "-T", "-r", "-M", "-c", *map(str, files))
    return [int(line.split("\t")[1]) for line in table.splitlines()]


class Rotation(CapturesTest):
    def rotated(self, socket, form, source, rotation, extension):
        for old in self.folder.glob("out_*"):
            old.unlink()
        done = run(
            "mapi-flow",
            "-r",
            source,
            f"TO_FILE {form} {self.folder}/out.{extension} 0 {rotation}",
            socket=socket,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        files = sorted(self.folder.glob("out_*"))
        self.assertFalse((self.folder / f"out.{extension}").exists())
        return files, packets_in(files)

    def test_rotation_by_size_keeps_the_last_files(self):
        # 1000 bytes each
        source = pcap(
            self.folder / "source.pcap", [(TIME_S + i, frame(b"x" * 958)) for i in range(25)]
        )
        for socket in self.sockets:
            for form, extension in (0, "pcap"), (5, "pcapng"):
                files, counts = self.rotated(socket, form, source, "size=3200,files=4", extension)
                self.assertEqual(
                    [file.name for file in files], [f"out_{i}.{extension}" for i in range(1, 5)]
                )
                # 3 in each; the ninth file reuses the first name
                self.assertEqual(counts, [1, 3, 3, 3])
                self.assertEqual(times(files[0]), [str(TIME_S + 24)])
                for file in files:
                    self.assertLessEqual(file.stat().st_size, 3200)
                    self.assertIn("Number of packets", found("capinfos", file))
                files, counts = self.rotated(socket, form, source, "size=1M,files=12", extension)
                self.assertEqual((counts, files[-1].name), ([25] + [0] * 11, f"out_12.{extension}"))

    def test_rotation_by_time_uses_the_packets_times(self):
        source = pcap(
            self.folder / "source.pcap",
            [(TIME_S + seconds, frame()) for seconds in (0, 9, 10, 10, 25, 26, 100)],
        )
        for socket in self.sockets:
            self.assertEqual(
                self.rotated(socket, 0, source, "time=10,files=5", "pcap")[1], [2, 2, 2, 1, 0]
            )
            self.assertEqual(
                self.rotated(socket, 5, source, "time=10s,files=3", "pcap")[1], [1, 2, 2]
            )
            self.assertEqual(
                self.rotated(socket, 5, source, "time=1h,files=3", "pcap")[1], [7, 0, 0]
            )

    def test_every_rotated_file_has_the_interfaces_that_it_needs(self):
        pcap(self.folder / "a.pcap", [(TIME_S + i, frame()) for i in range(3)])
        pcap(self.folder / "b.pcap", [(TIME_S + 10 + i, frame()[14:]) for i in range(4)], 101)
        source = self.folder / "both.pcapng"
        subprocess.run(
            ["mergecap", "-w", source, self.folder / "a.pcap", self.folder / "b.pcap"], check=True
        )
        for socket in self.sockets:
            files, counts = self.rotated(socket, 5, source, "size=330,files=9", "pcapng")
            self.assertEqual(sum(counts), 7)
            self.assertGreater(len([count for count in counts if count]), 2)
            encapsulations = [
                line
                for file in files
                for line in found(
                    "tshark", "-n", "-r", file, "-T", "fields", "-e", "frame.encap_type"
                ).split()
            ]
            self.assertEqual(encapsulations, ["1"] * 3 + ["7"] * 4)

    def test_an_invalid_rotation_is_refused(self):
        for rotation in (
            "size=10",
            "files=3",
            "size=0,files=3",
            "size=1M,files=1",
            "size=1M,files=1001",
            "size=1X,files=3",
            "time=-1,files=3",
            "size=1M,files=3,",
            "size",
            "x=1,size=1M,files=2",
        ):
            done = run("mapi-flow", "-r", TRACE, f"TO_FILE 0 {self.folder}/out.pcap 0 '{rotation}'")
            self.assertEqual(done.returncode, 3, rotation)
            self.assertIn(b"is not a rotation (size=BYTES", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])
        self.assertEqual(
            run("mapi-flow", "-r", TRACE, "TO_FILE 0 - 0 size=1M,files=2").returncode, 3
        )

    def test_a_rotation_over_more_files_than_mapid_takes_is_refused_by_its_limit(self):
        for socket in self.sockets:
            self.assertEqual(
                len(self.rotated(socket, 5, TRACE, "size=1M,files=16", "pcapng")[0]), 16
            )
            done = run(
                "mapi-flow",
                "-r",
                TRACE,
                f"TO_FILE 5 {self.folder}/more.pcapng 0 size=1M,files=17",
                socket=socket,
            )
            files = len(list(self.folder.glob("more_*")))
            if socket == "none":
                self.assertEqual((done.returncode, files), (0, 17))
            else:
                self.assertEqual((done.returncode, files), (3, 0))
                self.assertIn(
                    b"TO_FILE: 17 files are too many: mapid accepts at most 16 (no limit with "
                    b"MAPI_SOCKET=none)",
                    done.stderr,
                )
                self.assertIn(b"(error 6162)", done.stderr)
            for file in self.folder.glob("more_*"):
                file.unlink()


if __name__ == "__main__":
    needs.captures(TRACE)
    main()
