#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sink.py INTERFACE: packets per second that arrive there, as lines, and their mean at the end.

mapi-flow counts and drops them in an XDP program or, where the interface has none, reads them from
a packet socket; the first line says which.  SIGTERM ends the count.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile

INTERVAL_S = 0.1
LINE_S = 1.0


def counts(device):
    """Time, packets so far, and those that the system dropped; until mapi-flow ends."""
    command = ["mapi-flow", "-q", "-i", device, "--interval", str(INTERVAL_S), "--json"]
    with tempfile.NamedTemporaryFile() as empty:
        # Neither a running mapid nor the machine's mapi.conf has a part in the measurement.
        environment = os.environ | {"MAPI_SOCKET": "none", "MAPI_CONF": empty.name}
        pipe = {"stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen([*command, "PKT_COUNTER"], env=environment, **pipe) as reader:
            for line in reader.stdout:
                found = json.loads(line)
                packets = found["flows"][0]["functions"][0]["result"]
                statistics = found["statistics"]
                dropped = statistics["kernel_drops"] + statistics["interface_drops"]
                yield float(found["time"]), packets, dropped


def print_second(begin, end):
    (begin_s, before, _), (end_s, after, _) = begin, end
    print(f"{end_s:.6f} {(after - before) / (end_s - begin_s):.0f} pps", flush=True)


def read(device):
    """Samples, while it prints a line for each second."""
    samples = []
    printed = None
    for sample in counts(device):
        if not samples:
            print(f"device {device}", flush=True)
            printed = sample
        samples.append(sample)
        if sample[0] - printed[0] >= LINE_S:
            print_second(printed, sample)
            printed = sample
    return samples


def busy(samples):
    """From the first to the last interval with packets; without these two, which they fill in
    part, if more remain."""
    moving = [i for i in range(1, len(samples)) if samples[i][1] > samples[i - 1][1]]
    if not moving:
        return None
    first, last = moving[0], moving[-1]
    if last - first < 2:
        return samples[first - 1], samples[last]
    return samples[first], samples[last - 1]


def main(interface):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # mapi-flow gets it too, and ends
    samples = read(f"xdp:{interface},drop") or read(interface)
    span = busy(samples)
    if not span:
        print(f"sink: no packet arrived on {interface}", file=sys.stderr)
        return 1
    (begin_s, before, _), (end_s, after, _) = span
    print(f"mean {(after - before) / (end_s - begin_s):.1f} pps")
    print(f"packets {samples[-1][1]}")
    print(f"dropped {samples[-1][2]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
