#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Number of object files in which code with NETSLICE_DISABLE differs from the same code without the
macros."""

import json
import os
import subprocess
import sys


def main():
    source = sys.argv[1]
    script = os.path.join(source, "tests/abi/compiled_out.sh")
    includes = f"{source}/libnsprobe/include:{source}/nsmod/uapi"
    run = subprocess.run(["sh", script, includes], capture_output=True, text=True, check=False)
    lines = run.stdout.strip().splitlines()
    equal = sum(line.endswith("equal") and "bytes" in line for line in lines)
    different = sum("differs" in line or "is left" in line for line in lines)
    if equal + different == 0:
        sys.exit(f"nothing was compared: {run.stdout}{run.stderr}")
    print(
        json.dumps(
            {
                "figure": "probe_compiled_out_differences",
                "value": different,
                "bar": 0,
                "sense": "equal",
                "unit": "object files",
                "raw": {"equal": equal, "different": different, "lines": lines},
                "note": (
                    "code, data, symbols and relocations, byte for byte; compilers and options in "
                    "raw"
                ),
            }
        )
    )


if __name__ == "__main__":
    main()
