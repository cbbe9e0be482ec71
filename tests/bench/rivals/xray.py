#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""xray.py PROGRAM: XRay's cost in mode FDR with its defaults, and the number of entries and exits
in its log."""

import glob
import os
import shutil

import recording

program = recording.begin()
environment = os.environ | {"XRAY_OPTIONS": "xray_logfile_base=log."}
figure = recording.figure_of(recording.must(program, env=environment))
converter = next(tool for tool in ("llvm-xray-14", "llvm-xray") if shutil.which(tool))
(log,) = glob.glob("log.*")
events = recording.must(
    [converter, "convert", "--symbolize", f"--instr_map={program[0]}", "--output-format=yaml", log]
)
recording.finish(figure, sum("function: rival_event," in line for line in events.splitlines()))
