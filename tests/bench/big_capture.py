# SPDX-License-Identifier: MIT
"""A capture of a gigabyte in the page cache."""
import os
import subprocess
import sys

MBYTES = 1024


def big_capture(source, build):
    """The capture that shared data makes, else the demo capture again and again; kept in the build folder.

    On a disk's file system, not tmpfs, whose pages come one by one.
    """
    folder = os.path.join(build, "bench-data")
    path = os.path.join(folder, "big.pcap")
    if os.path.exists(path):
        return path
    os.makedirs(folder, exist_ok=True)
    whole = make_capture(source, path + ".part")
    os.rename(whole, path)
    return path


def shared_data(source):
    return os.environ.get("NETSLICE_DATA", os.path.join(source, "..", "shared", "data"))


def make_capture(source, path):
    maker = os.path.join(shared_data(source), "make_big.sh")
    if os.path.exists(maker):
        made = subprocess.run([maker, path, str(MBYTES)], stdout=sys.stderr, check=False)
        if made.returncode == 0:
            return path
    with open(os.path.join(source, "mapi-core/apps/demo/demo.pcap"), "rb") as demo:
        header, packets = demo.read(24), demo.read()
    with open(path, "wb") as out:
        out.write(header)
        for _ in range(MBYTES * 1024 * 1024 // len(packets)):
            out.write(packets)
    return path


def load(path):
    """The capture into the page cache, by read-ahead: in large folios.  As it was written, page by page, the kernel's
    way through the cache costs both programs as much as everything else."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    while os.read(fd, 1 << 20):
        pass
    os.close(fd)
