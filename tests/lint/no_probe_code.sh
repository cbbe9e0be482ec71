#!/bin/sh
# SPDX-License-Identifier: MIT
# no_probe_code: a build with NETSLICE_DISABLE -> programs and libraries that contain a section of a
# probe.
set -eu
looked_at=0 found=0
for object in "$NETSLICE_BIN"/* "$NETSLICE_BUILD"/lib/*.so; do
    { [ -f "$object" ] && readelf -h "$object" >/dev/null 2>&1; } || continue
    # The library calibrates with its own probes in every build.
    if nm "$object" 2>/dev/null | grep -q ' [Tt] nsp_calibrate$'; then
        continue
    fi
    looked_at=$((looked_at + 1))
    if readelf -SW "$object" | grep -q 'nsprobe_\(sites\|cs\)'; then
        echo "$object has probes"
        found=$((found + 1))
    fi
done
echo "$looked_at objects, $found with probes"
[ "$looked_at" -gt 0 ] && [ "$found" = 0 ]
