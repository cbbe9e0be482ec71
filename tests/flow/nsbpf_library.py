# SPDX-License-Identifier: MIT
"""nsdump kernel with BPF programs: recordings in the background, and what is in their traces."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess

import mapi_interfaces

NSDUMP = pathlib.Path(os.environ["NETSLICE_BIN"]) / "nsdump"
SOURCE = pathlib.Path(os.environ["NETSLICE_SOURCE"])
HEADERS = [
    f"-I{SOURCE / folder}" for folder in ("libnsprobe/include", "nsmod/uapi", "nsbpf/include")
]
CLANG = next((one for one in ("clang", "clang-14") if shutil.which(one)), None)
BPF = "--kernel-recorder=bpf"
PACKET_BYTES = 60
# A slice inside another.
NESTED = """
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <nslice/bpf.h>

SEC("xdp") int nested(struct xdp_md *context)
{
	(void)context;
	NET_SLICE_INIT(packet, 0, 1, 60);
	NET_SLICE_START(outer);
	NET_SLICE_START(inner);
	NET_SLICE_STOP(inner);
	NET_SLICE_STOP(outer);
	NET_SLICE_EXIT(packet);
	return XDP_PASS;
}
"""


def run(*words, **options):
    return subprocess.run(
        [*map(str, words)], capture_output=True, text=True, check=False, timeout=250, **options
    )


def stats_of(trace):
    done = run(NSDUMP, "export", trace, "--what", "stats", "--format", "json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def counts(stats):
    """Name -> how often it was recorded, without the prefix of the kernel's names."""
    return {
        one["name"].removeprefix("kernel:"): one[number]
        for kind, number in (("slices", "count"), ("marks", "count"), ("units", "packets"))
        for one in stats[kind]
    }


def udp_frame(port, payload_bytes=100):
    udp = struct.pack("!HHHH", 1000, port, 8 + payload_bytes, 0) + bytes(payload_bytes)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 9, 17, 0) + b"\n\0\0\1\n\0\0\2"
    return bytes(6) + b"\2\0\0\0\0\1" + b"\x08\0" + ip + udp


def stop(process):
    """If it still runs."""
    if process.poll() is None:
        process.kill()
        process.communicate()
    for pipe in process.stdout, process.stderr:
        if pipe:
            pipe.close()


def fail_of(process, what):
    """It may still run: what it wrote can be read only after its end."""
    process.kill()
    raise AssertionError(what, process.communicate())


def compile_program(source, folder):
    """Returns the object of a BPF program with this text."""
    (folder / "own.bpf.c").write_text(source + 'char LICENSE[] SEC("license") = "Dual MIT/GPL";\n')
    machine = os.uname().machine
    done = run(
        *(CLANG, "-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror"),
        *(f"-I{folder}", *HEADERS, "-idirafter", f"/usr/include/{machine}-linux-gnu"),
        f"-D__TARGET_ARCH_{'x86' if machine == 'x86_64' else 'arm64'}",
        *("-c", folder / "own.bpf.c", "-o", folder / "own.bpf.o"),
    )
    assert done.returncode == 0, done.stderr
    return folder / "own.bpf.o"


class Pins:
    """A folder for programs that stay loaded until the end."""

    def __init__(self, parent):
        self.folder = parent / "pins"
        self.folder.mkdir()
        self.packet = parent / "packet"
        self.packet.write_bytes(bytes(PACKET_BYTES))
        done = run("mount", "-t", "bpf", "bpf", self.folder)
        assert done.returncode == 0, done.stderr

    def load(self, program, name):
        done = run("bpftool", "prog", "load", program, self.folder / name)
        assert done.returncode == 0, done.stderr
        return self.folder / name

    def run_words(self, pinned, times):
        """A command that calls the program."""
        packet = ("data_in", self.packet, "repeat", times)
        return [*map(str, ("bpftool", "prog", "run", "pinned", pinned, *packet))]

    def end(self):
        done = run("umount", self.folder)
        assert done.returncode == 0, done.stderr


class Recording:
    """nsdump in the background, which records when this returns."""

    def __init__(self, trace, groups, *options):
        self.trace = trace
        trace.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [*map(str, (NSDUMP, "kernel", groups, BPF, "-w", trace, *options))],
            stderr=subprocess.PIPE,
            text=True,
        )
        if not mapi_interfaces.wait_until(self.has_begun):
            fail_of(self.process, "it has not begun")

    def has_begun(self):
        return self.trace.exists() and b"kernel.recorder=bpf" in self.trace.read_bytes()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.words = self.process.communicate(timeout=60)[1]
        assert self.process.returncode == 0, self.words
        return stats_of(self.trace)

    def kill(self):
        stop(self.process)
