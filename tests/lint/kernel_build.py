# SPDX-License-Identifier: MIT
# kernel_build: the kernel module -> builds for all kernels in the guests' cache, both
# architectures; warnings of W=1 and sparse are faults.
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

import tree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "vm"))
import guest
import kernel_modules

SKIP = 77
COMPILERS = {"amd64": "gcc-12", "arm64": "aarch64-linux-gnu-gcc"}


def lacking(architecture):
    """What is missing to build for it, or None."""
    for tool in ("make", COMPILERS[architecture]):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    kernels = guest.cache_folder(architecture) / "kernels"
    return None if kernels.exists() else f"{kernels} is missing; tests/vm/fetch.sh creates it"


def main():
    with contextlib.ExitStack() as stack:
        # In the build folder, because the guests' tests use the same modules.
        check_all(
            os.environ.get("NETSLICE_BUILD")
            or stack.enter_context(tempfile.TemporaryDirectory(prefix="netslice-lint-"))
        )


def check_all(build):
    source = tree.root() / "nsmod"
    problems, built = [], 0
    for architecture in COMPILERS:
        reason = lacking(architecture)
        if reason:
            print(f"{architecture}: not built: {reason}")
            continue
        for kernel in sorted((guest.cache_folder(architecture) / "kernels").iterdir()):
            if not (kernel / "headers/Makefile").exists() or kernel.name.endswith("debug"):
                continue  # a debug kernel is one of these with options that do not affect warnings
            try:
                kernel_modules.build_once(source, kernel, architecture, build, ())
            except RuntimeError as error:
                problems.append(f"{architecture} {kernel.name}: {error}")
            built += 1
    if not built:
        print("skipped: no kernel to build for")
        sys.exit(SKIP)
    print("with sparse" if shutil.which("sparse") else "without sparse, which is not installed")
    tree.finish("kernel_build", problems, built)


main()
