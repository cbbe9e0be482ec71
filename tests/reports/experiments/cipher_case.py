# SPDX-License-Identifier: MIT
# Checks a trial of TCP through ESP: its cipher encrypted all bytes, and nothing remains.
import contextlib
import glob
import json
import os
import re

from experiment_case import ExperimentCase, require, skip

CHARON = os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
    "netslice/charon/usr/lib/ipsec/charon",
)
OF_PACKAGE = "/usr/lib/ipsec/charon"
PLUGINS = "/usr/lib/ipsec/plugins"
# As describe names them: by strongSwan, by the kernel.
CIPHERS = {
    "hmac_sha1": ("NULL/HMAC_SHA1_96", "null-sha1"),
    "aes_gcm_soft_128": ("AES_GCM_16-128", "aes128gcm16"),
    "aes_gcm_soft_256": ("AES_GCM_16-256", "aes256gcm16"),
    "aes_gcm_hard_128": ("AES_GCM_16-128", "aes128gcm16"),
    "aes_gcm_hard_256": ("AES_GCM_16-256", "aes256gcm16"),
}


class CipherCase(ExperimentCase):
    def check_trials(self, trials, ends):
        """ends: players at the ends of the tunnel."""
        for variant, trial in trials.items():
            self.assertGreater(self.value(trial, "throughput"), 0)
            for player in ends:
                self._check_end(variant, player)
        self.assertEqual(self.daemons(), [])
        self.assertEqual(glob.glob(self.path("nsconduct-esp-*")), [])

    def _check_end(self, variant, player):
        said = self.output("1", variant, player, "collect-step1.out")
        if variant == "no_ipsec":
            self.assertIn("implementation: no IPsec\n", said)
            return
        self.assertRegex(said, f"(?m)^cipher: ({'|'.join(CIPHERS[variant])})")
        if "aes" in variant:
            self.assertEqual("instructions: masked" in said, "soft" in variant, said)
        end = json.loads(self.output("1", variant, "source", "run-step1.out"))["end"]
        most = max(int(count) for count in re.findall(r"^tunnel: .*?(\d+) bytes", said, re.M))
        self.assertGreater(most, end["sum_received"]["bytes"])

    def daemons(self):
        """Those of this test, by their configuration."""
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            with contextlib.suppress(OSError), open(path, "rb") as file:
                if b"STRONGSWAN_CONF=" + self.folder.encode() in file.read():
                    found.append(path)
        return found


def require_esp():
    """ESP in user space; a test by the kernel's is in tests/vm."""
    require("iperf3", "ip", "ss", "unshare", "nsenter", "swanctl")
    if not any(os.path.exists(path) for path in (os.environ.get("CHARON", ""), CHARON, OF_PACKAGE)):
        skip(f"not there: {CHARON} (reports/experiments/ciphers/fetch_charon.sh fetches it)")
    plugins = [f"{PLUGINS}/libstrongswan-{name}.so" for name in ("kernel-libipsec", "openssl")]
    for path in ("/dev/net/tun", *plugins):
        if not os.path.exists(path):
            skip(f"not there: {path}")
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if not re.search(r"\baes\b", file.read()):
            skip("the CPU has no AES instructions")


__all__ = ["CHARON", "CIPHERS", "OF_PACKAGE", "CipherCase", "require_esp"]
