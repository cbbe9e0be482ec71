#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Functions and drivers of a plug-in, in process and through mapid."""

import os
import pathlib
import shutil
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


if __name__ == "__main__":
    unittest.main()
