#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many flows: the time and memory to start 20,000 rules, in process and through mapid, and the
rate with 5,000 header rules that match nothing against the rate with one."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

FLOWS, HEADERS, ROUNDS = 20000, 5000, 7
START_S, START_MBYTES, RATE_RATIO = 10, 500, 0.8
PROGRAM = """
import ctypes, json, sys, time
build, capture, kind, count, repeats = sys.argv[1:]
library = ctypes.CDLL(build + "/lib/libmapi.so")
library.mapi_create_offline_device.restype = ctypes.c_void_p
def check(number):
    if number < 0:
        error, text = ctypes.c_int(), ctypes.create_string_buffer(512)
        library.mapi_read_error(ctypes.byref(error), text)
        sys.exit(f"{error.value}: {text.value.decode()}")
    return number
made = library.mapi_create_offline_device(capture.encode(), 0)
device = ctypes.cast(made, ctypes.c_char_p).value
for _ in range(int(repeats)):
    check(library.mapi_append_offline_device(device, capture.encode()))
def apply(flow, name, *arguments):
    check(library.mapi_apply_function_counted(len(arguments), flow, name, *arguments))
begin = time.monotonic()
flows = (ctypes.c_int * int(count))()
for number in range(int(count)):
    flow = flows[number] = check(library.mapi_create_flow(device))
    apply(flow, b"BPF_FILTER", b"tcp and dst port %d" % (20000 + number % 30000))
    if kind == "search":
        apply(flow, b"STR_SEARCH", b"needle %06d" % number, 0, 0)
    for name in (b"PKT_COUNTER", b"BYTE_COUNTER"):
        apply(flow, name)
    apply(flow, b"PKTINFO", 1)
check(library.mapi_connect_flows(flows, int(count)))
started = time.monotonic()
with open("/proc/self/status") as status:
    highest = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
used = time.process_time()
check(library.mapi_start_offline_device(device))
check(library.mapi_wait_flow(flows[0], 600000))
print(json.dumps({"start_s": started - begin, "kbytes": highest,
                  "run_s": time.process_time() - used}))
"""


def run(build, capture, kind, count, socket="none", repeats=0):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, build, capture, kind, str(count), str(repeats)],
        env=os.environ | {"MAPI_SOCKET": str(socket)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def peak_kbytes(process):
    with open(f"/proc/{process}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def through_mapid(build, mapid, capture):
    with tempfile.TemporaryDirectory() as folder:
        socket = pathlib.Path(folder) / "mapid.socket"
        config = pathlib.Path(folder) / "mapi.conf"
        config.write_text("")
        daemon = subprocess.Popen(
            [mapid, "--config", config, "--socket", socket], stderr=subprocess.DEVNULL
        )
        try:
            while not socket.exists() and daemon.poll() is None:
                time.sleep(0.01)
            result = run(build, capture, "search", FLOWS, socket)
            return result | {"kbytes": result["kbytes"] + peak_kbytes(daemon.pid)}
        finally:
            daemon.terminate()
            daemon.wait()


def show(figure, value, bar, sense, unit, raw, note):
    print(
        json.dumps(
            {
                "figure": figure,
                "value": value,
                "bar": bar,
                "sense": sense,
                "unit": unit,
                "raw": raw,
                "note": note,
            }
        )
    )


def main():
    mapid, source, build = sys.argv[1:4]
    demo = os.path.join(source, "mapi-core/apps/demo/demo.pcap")
    note = f"{FLOWS} flows BPF_FILTER | STR_SEARCH | PKT_COUNTER | BYTE_COUNTER | PKTINFO"
    for name, result in (
        ("", run(build, demo, "search", FLOWS)),
        ("_mapid", through_mapid(build, mapid, demo)),
    ):
        show(
            f"mapi_many_flows{name}_start_s", result["start_s"], START_S, "below", "s", result, note
        )
        mbytes = result["kbytes"] / 1024
        show(f"mapi_many_flows{name}_mbytes", mbytes, START_MBYTES, "below", "MB", result, note)
    ratios = []
    for _ in range(ROUNDS):
        one, many = (run(build, demo, "headers", count, repeats=200) for count in (1, HEADERS))
        ratios.append(one["run_s"] / many["run_s"])
    show(
        "mapi_5000_headers_rate_ratio",
        statistics.median(ratios),
        RATE_RATIO,
        "above",
        "",
        {"ratios": ratios},
        f"packets per second of CPU time with {HEADERS} header rules that match nothing, over one; "
        "the demo capture 200 times",
    )


if __name__ == "__main__":
    main()
