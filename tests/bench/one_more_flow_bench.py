#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions per packet that a further flow adds if another flow already uses its functions."""

import json
import os
import subprocess
import sys

SCENARIOS = ("more-counter", "more-filter-same", "more-search-same")


def main():
    mapi_cost, source = sys.argv[1:3]
    capture = os.path.join(source, "mapi-core/apps/demo/demo.pcap")
    command = [mapi_cost, "-r", capture, "--json", "-c", "5000", "--no-thinning"]
    for scenario in SCENARIOS:
        command += ["--scenario", scenario]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode not in (0, 1) or not run.stdout:
        sys.exit(f"mapi-cost ended with status {run.returncode}")
    document = json.loads(run.stdout)
    counted = {row["id"]: row["instructions"] for row in document["rows"]}
    if not all(counted.get(scenario) for scenario in SCENARIOS):
        sys.stderr.write(
            f"no instruction counts here: {document['sources'].get('no_instructions_why')}\n"
        )
        sys.exit(77)
    worst = max(counted, key=lambda scenario: counted[scenario]["net"])
    print(
        json.dumps(
            {
                "figure": "one_more_flow_instructions",
                "value": counted[worst]["net"],
                "bar": 1,
                "sense": "below",
                "unit": "instructions/packet",
                "raw": {scenario: counted[scenario] for scenario in SCENARIOS}
                | {"source": document["sources"]["instructions"]},
                "note": (
                    f"largest of COUNTER, same BPF_FILTER, same STR_SEARCH ({worst}); 8 further "
                    "flows, divided by 8"
                ),
            }
        )
    )


if __name__ == "__main__":
    main()
