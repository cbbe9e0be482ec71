# SPDX-License-Identifier: MIT
"""A capture of a gigabyte in the page cache."""

import os
import shutil
import subprocess
import sys

MBYTES = 1024


def big_capture(source, build):
    """The capture made from shared data, otherwise the demo capture repeated, with a note; kept in
    the build folder.

    On a disk's file system, not tmpfs, which has only single pages.
    """
    folder = os.path.join(build, "bench-data")
    os.makedirs(folder, exist_ok=True)
    why = missing(source)
    if not why:
        return make_once(
            os.path.join(folder, "big.pcap"), lambda path: make_of_shared_data(source, path)
        )
    print(
        f"note: {why}: the capture of a gigabyte is the demo capture repeated, which has few "
        "distinct packets and ports",
        file=sys.stderr,
    )
    return make_once(
        os.path.join(folder, "repeated-demo.pcap"), lambda path: repeat_demo(source, path)
    )


def shared_data(source):
    return os.environ.get("NETSLICE_DATA", os.path.join(source, "..", "shared", "data"))


def missing(source):
    """Why the capture cannot be made from shared data; empty if it can."""
    if not os.path.exists(maker(source)):
        return f"no captures in {shared_data(source)}"
    return "" if shutil.which("editcap") else "requires the program editcap"


def maker(source):
    return os.path.join(shared_data(source), "make_big.sh")


def make_once(path, make):
    if not os.path.exists(path):
        make(path + ".part")
        os.rename(path + ".part", path)
    return path


def make_of_shared_data(source, path):
    subprocess.run([maker(source), path, str(MBYTES)], stdout=sys.stderr, check=True)


def repeat_demo(source, path):
    with open(os.path.join(source, "mapi-core/apps/demo/demo.pcap"), "rb") as demo:
        header, packets = demo.read(24), demo.read()
    with open(path, "wb") as out:
        out.write(header)
        for _ in range(MBYTES * 1024 * 1024 // len(packets)):
            out.write(packets)


def load(path):
    """Loads the capture into the page cache by read-ahead, in large folios.  With the single pages
    of writing it, the kernel's path through the cache costs both programs as much as everything
    else."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(fd, 1 << 20):
        pass
    os.close(fd)
