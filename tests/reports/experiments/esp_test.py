#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""esp.sh: what is missing or wrong is named, and a tunnel that nothing uses is an error."""

import glob
import os
import re
import subprocess
import unittest
import unittest.mock

from cipher_case import OF_PACKAGE, CipherCase, require_esp
from experiment_case import EXPERIMENTS, main

ESP = os.path.join(EXPERIMENTS, "ciphers", "esp.sh")


class Esp(CipherCase):
    def esp(self, *arguments, **variables):
        """In namespaces of its own -> what it said when it failed."""
        done = subprocess.run(
            ["unshare", "--net", "--mount", ESP, *arguments],
            env={**os.environ, "TMPDIR": self.folder, "ESP_BY": "strongswan", **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(glob.glob(self.path("nsconduct-esp-*")), [])
        return done.stderr

    def test_neither_encryption_nor_authentication_requires_the_kernel(self):
        said = self.esp("up", "left", "null", "yes")
        self.assertIn("esp: missing: ESP of the kernel (CONFIG_INET_ESP)", said)

    def test_the_experiment_says_so_where_the_kernel_has_none(self):
        trial = self.conduct_experiment("ciphers/null_2_hosts", 1, code=None)["null"]
        if trial["status"] == "ok":
            self.assertGreater(self.value(trial, "throughput"), 0)
        else:
            self.assertIn("missing: ESP of the kernel", trial["failure"])

    @unittest.skipIf(os.path.exists(OF_PACKAGE), "the daemon is installed")
    def test_a_missing_daemon_is_named(self):
        said = self.esp("up", "left", "null-sha1", "yes", XDG_CACHE_HOME=self.folder, CHARON="")
        self.assertIn("fetch_charon.sh", said)

    def test_an_unknown_cipher_or_side_is_refused(self):
        self.assertIn('cipher "rot13" is unknown', self.esp("up", "left", "rot13", "yes"))
        self.assertIn('"middle" is neither', self.esp("up", "middle", "none", "yes"))
        self.assertIn("nothing is set up", self.esp("describe"))

    def test_what_another_user_has_written_is_not_run(self):
        """Any user can make a folder of the state's name in the folder for temporary files."""
        os.chmod(self.folder, 0o1777)
        plant = (
            'state="$TMPDIR/nsconduct-esp-$(stat -Lc %i /proc/self/ns/net)"; mkdir "$state"; '
            'echo "$TMPDIR/planted null yes" >"$state/what"; chown -R 65534 "$state"; '
            'printf "#!/bin/sh\\ntouch \\"$TMPDIR/ran\\"" >"$TMPDIR/planted_$1"; '
            'chmod 755 "$TMPDIR/planted_$1"; exec "$0" "$1"'
        )
        for command in ("describe", "down"):
            done = subprocess.run(
                ["unshare", "--net", "--mount", "sh", "-c", plant, ESP, command],
                env={**os.environ, "TMPDIR": self.folder},
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertTrue(os.path.exists(self.path(f"planted_{command}")), done.stderr)
            self.assertFalse(os.path.exists(self.path("ran")), done.stderr)

    def test_a_tunnel_that_nothing_uses_is_an_error(self):
        steps = {"startup": "up right null-sha1 yes", "run": "describe", "reset": "down"}
        self.player("host", **{phase: f"step1: {ESP} {words}" for phase, words in steps.items()})
        self.master("host", more="[Transport]\nhost: namespace\n")
        said = self.run_master(code=1, env={"TMPDIR": self.folder})
        self.assertRegex(said, "there is no tunnel|no packet went through the tunnel")
        self.assertEqual(self.daemons(), [])
        self.assertEqual(glob.glob(self.path("nsconduct-esp-*")), [])

    def test_a_killed_run_leaves_no_daemon(self):
        self.player("host", startup=f"step1: {ESP} up right null-sha1 yes", run="step1: sleep 60")
        self.master("host", more="[Transport]\nhost: namespace\n")
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": self.folder, "ESP_BY": "strongswan"}):
            with self.running() as process:
                self.wait_for(self.daemons, "charon")
                process.kill()
        self.wait_for(lambda: not self.daemons(), "the end of charon")

    def test_the_switch_takes_the_instructions_from_openssl(self):
        self.assertGreater(self.speed(), 2 * self.speed(OPENSSL_ia32cap="~0x200000200000000"))

    def speed(self, **variables):
        """Bytes per second of AES-GCM, in packets of the tunnel's size."""
        done = subprocess.run(
            ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", "1408", "-evp", "aes-128-gcm"],
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(re.search(r"^\+F:.*:([0-9.]+)$", done.stdout, re.MULTILINE)[1])


if __name__ == "__main__":
    require_esp()
    main()
