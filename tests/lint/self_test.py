# SPDX-License-Identifier: MIT
# self_test: small trees with one fault each -> every lint check finds its fault and is silent
# without it.
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
HEAD = "// SPDX-License-Identifier: MIT\n"
GOOD = {
    "nsmod/uapi/nslice/record.h": "/* SPDX-License-Identifier: MIT */\n#include <linux/types.h>\n",
    "libnsprobe/include/nsprobe/file.h": HEAD + "#include <nslice/record.h>\n",
    "libnsprobe/include/nsprobe/probe.h": HEAD + "#include <nsprobe/detail/fast.h>\n",
    "libnsprobe/include/nsprobe/detail/fast.h": HEAD,
    "nsdump/decode/event.hpp": HEAD + "#include <vector>\n#include <nsprobe/file.h>\n",
    "nsdump/analyse/pair/pair.cpp": HEAD + '#include "decode/event.hpp"\n',
    "mapi-core/include/mapi/packet.h": HEAD + "#include <stdint.h>\n",
    "mapi-core/engine/packet_path/chain.hpp": HEAD + "#include <mapi/packet.h>\n",
    "mapi-core/functions/filters/sample.cpp": HEAD + "#include <mapi/packet.h>\n",
    # A folder that is full, and one of the tests, which may have any number of files.
    **{f"reports/full/{i}.gp": "# SPDX-License-Identifier: MIT\n" for i in range(25)},
    **{f"tests/flow/{i}.sh": "# SPDX-License-Identifier: MIT\n" for i in range(30)},
}
# check, file, its text, expected output of the check
FAULTS = [
    (
        "include_rules",
        "nsmod/uapi/nslice/ring.h",
        HEAD + "#include <stdint.h>\n",
        "<stdint.h> is not allowed",
    ),
    (
        "include_rules",
        "nsdump/decode/bad.cpp",
        HEAD + '#include "analyse/x.hpp"\n',
        "is not a file of the tree",
    ),
    (
        "include_rules",
        "nsdump/decode/bad.cpp",
        HEAD + "#include <nsprobe/probe.h>\n",
        "may not include",
    ),
    (
        "include_rules",
        "mapi-core/functions/bad.cpp",
        HEAD + '#include "engine/packet_path/chain.hpp"\n',
        "may not include",
    ),
    (
        "include_rules",
        "mapi-core/engine/bad.cpp",
        HEAD + '#include "../functions/sample.cpp"\n',
        "goes up",
    ),
    (
        "include_rules",
        "mapi-core/include/mapi/bad.h",
        HEAD + "#include <pthread.h>\n",
        "<pthread.h> is not allowed",
    ),
    (
        "types",
        "nsdump/decode/bad.cpp",
        HEAD + "std::uint64_t bytes;\n",
        "bad.cpp:2: write uint64_t without std::",
    ),
    (
        "types",
        "nsdump/decode/bad.hpp",
        HEAD + "int half(double x) { return static_cast<int>(x / 2); }\n",
        "bad.hpp:2: write uint64_t(x)",
    ),
    (
        "include_rules",
        "libnsprobe/include/nsprobe/bad.h",
        HEAD + "#include <nsprobe/detail/fast.h>\n",
        "public header",
    ),
    (
        "include_rules",
        "nsdump/cli/bad.cpp",
        HEAD + "#include <CLI/CLI.hpp>\n",
        "may be included only by common/command/arguments.cpp",
    ),
    ("include_rules", "elsewhere/bad.c", HEAD, "not in include_rules.txt"),
    ("spdx", "nsdump/decode/bad.cpp", "// decode: nothing\n" + HEAD, "no SPDX"),
    (
        "spdx",
        "nsdump/decode/bad.cpp",
        "// SPDX-License-Identifier: GPL-3.0\n",
        "is not one of this folder",
    ),
    ("spdx", "reports/bad", "#!/bin/sh\nexit 0\n", "no SPDX"),
    ("file_size", "nsdump/decode/bad.cpp", HEAD + "int x;\n" * 500, "501 lines"),
    (
        "file_size",
        "nsdump/decode/bad.cpp",
        HEAD + "int f(void)\n{\n" + "    g();\n" * 59 + "}\n",
        "function of 61 lines",
    ),
    (
        "file_size",
        "reports/full/one_more.txt",
        "",
        "reports/full: 26 files, at most 25",
    ),
    ("clean_text", "nsdump/bad.md", "see /wor" + "k/here\n", "path of one machine"),
    ("clean_text", "nsdump/bad.md", "from pypi" + ".org\n", "package registry"),
    ("clean_text", "nsdump/bad.md", "TO" + "DO later\n", "unfinished"),
    ("clean_text", "nsdump/bad.md", "blank \n", "blank at"),
    ("clean_text", "nsdump/bad.md", "no end", "no newline"),
    ("glossary", "nsdump/bad.md", "A line.\nThe thread was put\naside.\n", 'bad.md:2: "put aside"'),
    ("glossary", "nsdump/bad.hpp", HEAD + "// Failure is told.\n", '"told"'),
]


GOOD_KERNEL = {"nsmod/src/module.c": "// SPDX-License-Identifier: GPL-2.0\nint x;\n"}
CHECKPATCH = [
    (
        "nsmod/src/bad.c",
        (
            "// SPDX-License-Identifier: GPL-2.0\nint f(void)\n{\n\tif(1)\n\t\treturn 1;\n"
            "\treturn 0;\n}\n"
        ),
        "SPACING",
    ),
    ("nsmod/src/bad.h", "int  x;\n", "SPDX_LICENSE_TAG"),
]
GOOD_SHELL = {
    "bad/source.sh": '#!/bin/sh\n. "./other.sh"\n',
    "bad/other.sh": "# shellcheck shell=sh\n",
}
SHELL = [
    ("bad/one.sh", "#!/bin/sh\necho $1\n", "bad/one.sh:2:6: note: Double quote"),
    ("bad/two", "#!/usr/bin/env bash\ncd x\n", "bad/two:2:1: warning: Use 'cd ... || exit'"),
]
GOOD_PYTHON = {"bad/good.py": "import os\n\nprint(os.name)\n"}
PYTHON = [
    ("bad/one.py", "import os\n", "bad/one.py:1:8: F401"),
    ("bad/two", f"#!/usr/bin/env python3\nprint({'x ' * 50!r})\n", "bad/two:2:101: E501"),
]
GOOD_TIDY = {
    ".clang-tidy": (HERE.parents[1] / ".clang-tidy").read_text(),
    "build/compile_commands.json": json.dumps(
        [{"directory": ".", "file": "../bad/one.cpp", "command": "g++ -I.. -Wx -c ../bad/one.cpp"}]
    ),
    "bad/one.cpp": '#include "bad/two.hpp"\nint one() { return two(); }\n',
    "bad/two.hpp": "#pragma once\ninline int two() { return 2; }\n",
}
TIDY = [
    (
        "bad/one.cpp",
        "bool one(bool x) {\n    if (x)\n        return true;\n    return false;\n}\n",
        "bad/one.cpp:3:16: redundant boolean literal",
    ),
    ("bad/one.cpp", "int one() { return two(); }\n", "undeclared identifier 'two'"),
    (
        "bad/two.hpp",
        "struct Two {\n    Two(int) {}\n};\ninline int two() { return 2; }\n",
        "bad/two.hpp:2:5: single-argument constructors must be marked explicit",
    ),
]
GOOD_BENCHMARKS = {
    "build/compile_commands.json": json.dumps(
        [
            {
                "directory": ".",
                "file": "../tests/bench/one.cpp",
                "command": "g++ -Wall -o one.o -c ../tests/bench/one.cpp",
            }
        ]
    ),
    "tests/bench/one.cpp": "int main() { return 0; }\n",
}
BENCHMARKS = [
    ("tests/bench/one.cpp", "int main() { return none; }\n", "was not declared in this scope"),
    ("tests/bench/one.cpp", "int main() { int x; }\n", "unused variable"),
]
MAPI_CLIENT = HERE.parents[1] / "mapi-core/client"
MAPI_3 = (
    '.TH MAPI 3\n.SH NAME\nmapi \\- x\n.SH SYNOPSIS\n.BI "int mapi_connect(int " fd );\n'
    '.SH DESCRIPTION\n.SS Functions\n.TP\n.BR GAP " (int x)"\nA gap.\n.PP\nMore.\n'
)
GAP = "= GAP\nargument x: ns\nresult: int\nerror 7001: no\n"
CONNECT = (
    "= mapi_connect\nsummary: begin\ntext: Begins.\nargument fd: a flow\nreturns: 0\nerror none\n"
    "threads: Any.\n"
)
CALIBRATE_PAGE = """.TH nscalibrate 1 "" "NetSlice"
.SH NAME
nscalibrate \\- measure
.SH OPTIONS
.TP
.B \\-\\-cpu
The CPU.
.TP
.B \\-\\-help
Help.
.TP
.B \\-\\-version
Version.
"""
GOOD_MANUAL = {
    "calibrate/nscalibrate.1": CALIBRATE_PAGE,
    "calibrate/main.cpp": 'arguments.add("--cpu", cpu);\n',
    "mapi-core/client/mapi.3": MAPI_3,
    "mapi-core/client/function_pages.py": (MAPI_CLIENT / "function_pages.py").read_text(),
    "mapi-core/client/page_facts.py": (MAPI_CLIENT / "page_facts.py").read_text(),
    "mapi-core/client/pages/every_function.txt": "error 7006: no room\n",
    "mapi-core/client/pages/gaps.txt": GAP,
    "mapi-core/client/pages/calls.txt": CONNECT,
    "mapi-core/include/mapi/mapi.h": "int mapi_connect(int fd);\n",
    "mapi-core/include/mapi/errors.h": "enum {\n\tONE = 7001,\n\tROOM = 7006\n};\n",
    "mapi-core/functions/catalog.cpp": "&mapi_fn_gap\n",
    "mapi-core/functions/values/gap.cpp": '.name = "GAP",\n.description = "a gap",\n',
}
MANUAL = [
    (
        "calibrate/main.cpp",
        'arguments.add("--cpu", cpu);\narguments.add_flag("-q,--quiet", quiet);\n',
        "has no entry for --quiet",
    ),
    ("calibrate/nscalibrate.1", CALIBRATE_PAGE.replace("cpu", "core"), "has an entry for --core"),
    ("mapi-core/client/mapi.3", MAPI_3.replace("A gap.", ".NONE"), "NONE"),
    ("mapi-core/functions/catalog.cpp", "&mapi_fn_gap, &mapi_fn_top\n", "differ in TOP"),
    ("mapi-core/functions/values/gap.cpp", '.name = "GAP",\n', "differ in GAP"),
    (
        "mapi-core/client/pages/gaps.txt",
        GAP.replace("argument x: ns\n", ""),
        "GAP: mapi.3 has the arguments ['x'], pages/ []",
    ),
    (
        "mapi-core/client/pages/gaps.txt",
        GAP.replace("result: int\n", ""),
        "GAP: pages/ lacks: result",
    ),
    (
        "mapi-core/client/pages/gaps.txt",
        GAP.replace("error 7001: no\n", ""),
        "GAP: pages/ lacks: error",
    ),
    (
        "mapi-core/client/pages/gaps.txt",
        GAP.replace("7001", "7002"),
        "gaps.txt:4: errors.h has no 7002",
    ),
    ("mapi-core/client/pages/gaps.txt", "", "the catalogue and pages/ differ in GAP"),
    (
        "mapi-core/client/pages/calls.txt",
        CONNECT.replace("threads: Any.\n", ""),
        "mapi_connect: pages/ lacks: threads",
    ),
    (
        "mapi-core/client/pages/calls.txt",
        CONNECT.replace("returns: 0\n", ""),
        "mapi_connect: pages/ lacks: returns",
    ),
    (
        "mapi-core/include/mapi/mapi.h",
        "int mapi_connect(int fd);\nint mapi_loop(int fd);\n",
        "mapi.h and pages/calls.txt differ in mapi_loop",
    ),
    (
        "mapi-core/client/function_pages.py",
        (MAPI_CLIENT / "function_pages.py").read_text().replace(".SH RESULT\n", ""),
        "GAP.3mapi: has no section RESULT",
    ),
    ("nsdump/nsdump.1", ".TH X 1\n.NONE\n", "NONE"),
]
SKIP = 77


def run(check, files):
    with tempfile.TemporaryDirectory() as folder:
        has_build = "build/compile_commands.json" in files
        build = {"NETSLICE_BUILD": f"{folder}/build"} if has_build else {}
        for name, content in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return subprocess.run(
            [sys.executable, "-B", HERE / f"{check}.py", folder],
            env=os.environ | build,
            capture_output=True,
            text=True,
        )


def main():
    failures = []
    for check in ("include_rules", "spdx", "file_size", "clean_text", "glossary"):
        done = run(check, GOOD)
        if done.returncode != 0:
            failures.append(f"{check} rejects a good tree: {done.stdout}{done.stderr}")
        if run(check, {}).returncode == 0:
            failures.append(f"{check} passes an empty tree")
    for check, name, content, expected in FAULTS:
        done = run(check, GOOD | {name: content})
        if done.returncode != 1 or expected not in done.stdout:
            failures.append(f"{check} misses '{expected}' in {name}: {done.stdout}{done.stderr}")
    reported = f"{len(FAULTS)} faults found"
    for check, good, faults in (
        ("checkpatch", GOOD_KERNEL, CHECKPATCH),
        ("manual", GOOD_MANUAL, MANUAL),
        ("shell", GOOD_SHELL, SHELL),
        ("python", GOOD_PYTHON, PYTHON),
        ("tidy", GOOD_TIDY, TIDY),
        ("benchmarks", GOOD_BENCHMARKS, BENCHMARKS),
    ):
        checked = run(check, good).returncode
        for name, content, expected in faults if checked != SKIP else []:
            done = run(check, good | {name: content})
            if done.returncode != 1 or expected not in done.stdout:
                failures.append(
                    f"{check} misses '{expected}' in {name}: {done.stdout}{done.stderr}"
                )
        if checked not in (0, SKIP):
            failures.append(f"{check} rejects a good tree")
        if run(check, {}).returncode == 0:
            failures.append(f"{check} passes an empty tree")
        reported += f", without {check}" if checked == SKIP else f", {len(faults)} by {check}"
    print("\n".join(failures) or reported)
    sys.exit(1 if failures else 0)


main()
