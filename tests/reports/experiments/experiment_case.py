# SPDX-License-Identifier: MIT
# Runs a declared experiment in its shortest form -> trials, results, what steps printed.
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "conductor"))
from conduct_case import NSCONDUCT, SKIP, SOURCE, ConductCase, main  # noqa: E402

EXPERIMENTS = os.path.join(SOURCE, "reports", "experiments")
BIN = os.path.dirname(NSCONDUCT)


class ExperimentCase(ConductCase):
    def conduct_experiment(self, name, seconds, code=0, folder=EXPERIMENTS):
        """name: tcp/tcp_2_hosts -> its trials by variant.  code: None for any."""
        self.out = self.path(os.path.basename(name) + "-results")
        done = self.conduct(
            *("run", os.path.join(folder, f"{name}.cfg"), "-o", self.out, "--quiet"),
            *("--trials", "1", "--warmup", "0"),
            env={
                "EXPERIMENT_SECONDS": str(seconds),
                "PATH": f"{BIN}:{os.environ['PATH']}",
                "TMPDIR": self.folder,
            },
        )
        self.assertEqual(done.returncode, done.returncode if code is None else code, done.stderr)
        return {trial["variant"]: trial for trial in self.trials()}

    def value(self, trial, name):
        return trial["values"][name]["value"]

    def interface(self, trial, player, name):
        """What it received and sent while Run went on."""
        return trial["collected"][player]["interfaces"]["interfaces"][name]


def require(*programs):
    """Skips the test where namespaces or programs are missing."""
    if os.geteuid() != 0:
        skip("network namespaces require root")
    path = f"{BIN}:{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [name for name in programs if not shutil.which(name, path=path)]
    if missing:
        skip(f"not installed: {' '.join(missing)}")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIP)


__all__ = ["EXPERIMENTS", "ExperimentCase", "main", "require", "skip"]
