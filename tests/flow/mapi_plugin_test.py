#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions and drivers of a plug-in, in process and through mapid."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from mapid import BUILD, ClientError, Daemon

CONFIG = (
    "libpath=/nowhere:{tests}\nlibs=stdflib.so:{library}\n[driver]\ndevice=made\ndriver=zeros\n"
    "path=1001\n"
)
COUNT = """
from mapi_library import Flow
flow = Flow.on_device("made")
flow.apply("EVERY_OTHER")
packets = flow.apply("PKT_COUNTER")
flow.run()
print(flow.word(packets))
"""


def configuration(library="mapi_example_plugin.so"):
    return CONFIG.format(tests=BUILD.resolve() / "tests", library=library)


class Plugin(unittest.TestCase):
    def count(self, folder, **environment):
        return subprocess.run(
            [sys.executable, "-B", "-c", COUNT],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env=os.environ
            | {
                "MAPI_SOCKET": "none",
                "PYTHONPATH": os.path.dirname(os.path.abspath(__file__)),
                "NETSLICE_BUILD": str(BUILD.resolve()),
            }
            | environment,
        )

    def in_process(self, text, **environment):
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "mapi.conf"
            config.write_text(text)
            return self.count(folder, MAPI_CONF=str(config), **environment)

    def test_functions_and_drivers_of_a_plug_in_are_used_like_others(self):
        done = self.in_process(configuration())
        self.assertEqual((done.stdout.strip(), done.stderr), ("500", ""))

    def test_mapid_has_them_for_all_clients(self):
        daemon = Daemon(configuration())
        self.addCleanup(daemon.close)
        client = daemon.client()
        client.do(
            "flow = Flow.on_device('made')\nflow.apply('EVERY_OTHER')\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.run()"
        )
        self.assertEqual(client.get("flow.word(packets)"), 500)

    def test_a_result_that_only_the_plug_in_can_read_is_read_in_process_and_refused_by_mapid(self):
        daemon = Daemon(configuration("mapi_example_plugin.so:own_result_plugin.so"))
        self.addCleanup(daemon.close)
        alone, through = daemon.alone(), daemon.client()
        alone.do("flow = Flow.on_device('made')\ntwice = flow.apply('OWN_RESULT')\nflow.run()")
        self.assertEqual(alone.get("flow.words(twice)"), [2002, 0])
        with self.assertRaisesRegex(
            ClientError,
            "7006.*OWN_RESULT: unsupported through mapid: only the plug-in can read its result "
            ".MAPI_SOCKET=none",
        ):
            through.do("flow = Flow.on_device('made')\nflow.apply('OWN_RESULT')")

    def test_a_function_without_result_in_place_has_none_in_process_and_through_mapid(self):
        daemon = Daemon(configuration("mapi_example_plugin.so:own_result_plugin.so"))
        self.addCleanup(daemon.close)
        for client in (daemon.alone(), daemon.client()):
            client.do(
                "flow = Flow.on_device('made')\nabsent = flow.apply('ABSENT_RESULT')\n"
                "packets = flow.apply('PKT_COUNTER')\nflow.run()"
            )
            self.assertEqual(client.get("flow.word(packets)"), 1001)
            self.assertEqual(client.get("flow.information(absent).result_size"), 0)
            with self.assertRaisesRegex(ClientError, "ABSENT_RESULT has no result"):
                client.get("flow.words(absent)")

    def test_a_file_that_is_not_a_plug_in_is_named(self):
        self.assertIn(
            "missing.so: not found in libpath", self.in_process(configuration("missing.so")).stderr
        )
        self.assertIn(
            "symbol mapi_plugin is missing",
            self.in_process(configuration(str(BUILD.resolve() / "lib/libmapi.so"))).stderr,
        )
        with tempfile.TemporaryDirectory() as folder:
            again = shutil.copy(BUILD / "tests/mapi_example_plugin.so", folder)
            self.assertIn(
                "EVERY_OTHER: defined by a plug-in, but a function or driver of that name already "
                "exists",
                self.in_process(configuration(f"mapi_example_plugin.so:{again}")).stderr,
            )

    def test_a_configuration_in_the_working_folder_loads_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mapi.conf").write_text(configuration())
            environment = {name: value for name, value in os.environ.items() if name != "MAPI_CONF"}
            os.environ.clear()
            os.environ.update(environment)
            self.assertIn("plug-ins are loaded only from /etc/mapi.conf", self.count(folder).stderr)


class TcpSyns(unittest.TestCase):
    """The plug-in of WRITE_A_FUNCTION.md."""

    SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"]) / "mapi-core"
    DEMO = SOURCE / "apps/demo/demo.pcap"
    FILTER = "tcp[tcpflags] & (tcp-syn|tcp-ack) == tcp-syn"
    CONFIG = f"libs={BUILD.resolve() / 'tests/mapi_example_tcp_syns.so'}\n"

    def flow(self, capture, *flows):
        """The result of each flow's last function, by mapi-flow."""
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "mapi.conf"
            config.write_text(self.CONFIG)
            done = subprocess.run(
                [BUILD / "bin/mapi-flow", "--json", "-r", capture, *flows],
                capture_output=True,
                text=True,
                check=False,
                env=os.environ | {"MAPI_SOCKET": "none", "MAPI_CONF": str(config)},
            )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [flow["functions"][-1]["result"] for flow in json.loads(done.stdout)["flows"]]

    def test_the_page_shows_the_code_that_is_built_here_and_its_results(self):
        page = (self.SOURCE / "functions/WRITE_A_FUNCTION.md").read_text()
        code = (self.SOURCE / "apps/examples/tcp_syns.c").read_text()
        self.assertIn(f"```c\n{code}```\n", page)
        syns, filtered, to_80 = self.flow(
            self.DEMO,
            "TCP_SYNS",
            f"BPF_FILTER '{self.FILTER}' | PKT_COUNTER",
            "BPF_FILTER 'dst port 80' | TCP_SYNS",
        )
        self.assertEqual(syns, filtered)
        self.assertIn(f"\n1.1\tTCP_SYNS\t4827\t4827\t0\t{syns}\n", page)
        self.assertIn(f"\n1.2\tTCP_SYNS\t207\t207\t0\t{to_80}\n", page)

    def test_each_condition_of_a_syn_counts(self):
        ethernet = bytes(12) + b"\x08\x00"

        def frame(flags=0x02, fragment=0, protocol=6, version=4, options=b"", ethertype=ethernet):
            ip = struct.pack(
                "!BBHHHBBH8s",
                version << 4 | 5 + len(options) // 4,
                0,
                40 + len(options),
                0,
                fragment,
                64,
                protocol,
                0,
                bytes(8),
            )
            return ethertype + ip + options + bytes(13) + bytes([flags]) + bytes(6)

        counted = [
            frame(),
            frame(0xC2),
            frame(options=bytes(8)),
            frame(fragment=0x2000),
            frame()[:48],
        ]
        others = [
            frame(0x12),
            frame(0x10),
            frame(0x01),
            frame(fragment=1),
            frame(fragment=0x0100),
            frame(protocol=17),
            frame(version=6),
            frame(options=bytes(8))[:50],
            frame()[:47],
            frame()[:20],
            frame()[:1],
            frame(ethertype=bytes(12) + b"\x08\x06"),
        ]
        with tempfile.TemporaryDirectory() as folder:
            for link_type, expected in ((1, len(counted)), (101, 0)):  # Ethernet, plain IP
                capture = pathlib.Path(folder) / f"{link_type}.pcap"
                head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
                # Second 2: behind a truncated frame is a byte that looks like the flags of a SYN.
                capture.write_bytes(
                    head
                    + b"".join(
                        struct.pack("<IIII", 2, 0, len(one), len(one)) + one
                        for one in counted + others
                    )
                )
                self.assertEqual(self.flow(capture, "TCP_SYNS"), [expected])

    def test_clients_of_mapid_get_it_too(self):
        daemon = Daemon(self.CONFIG)
        self.addCleanup(daemon.close)
        client = daemon.client()
        client.do(
            f"flow = Flow.offline({str(self.DEMO)!r})\nsyns = flow.apply('TCP_SYNS')\n"
            f"flow.apply('BPF_FILTER', {self.FILTER!r})\n"
            "packets = flow.apply('PKT_COUNTER')\nflow.run()"
        )
        self.assertGreater(client.get("flow.word(syns)"), 0)
        self.assertEqual(client.get("flow.word(syns)"), client.get("flow.word(packets)"))


if __name__ == "__main__":
    unittest.main()
