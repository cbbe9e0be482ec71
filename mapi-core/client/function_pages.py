# SPDX-License-Identifier: MIT
"""function_pages: mapi.3 and the functions' tables -> a page of section 3mapi for each function, and for each call one that is mapi.3 itself.

Usage: function_pages.py MAPI.3 FUNCTIONS-FOLDER PAGES-FOLDER.  Fails when a function of the catalogue has no paragraph, or a paragraph no function.
"""
import pathlib
import re
import sys

PAGE = r'''.\" SPDX-License-Identifier: MIT
.\" Made of mapi.3 by function_pages.py.
.TH {name} 3mapi 2026 "NetSlice toolkit" "MAPI functions"
.SH NAME
{name} \- {summary}
.SH SYNOPSIS
.nf
.B #include <mapi/mapi.h>
.PP
.BI "mapi_apply_function(int " fd ", \(dq{name}\(dq{arguments});"
.fi
.SH DESCRIPTION
{text}
.SH SEE ALSO
.BR mapi (3):
flows, results, errors, and what functions have in common
'''
HEAD = re.compile(r"^\.TP\n(\.BR? [A-Z].*)\n", re.MULTILINE)
FONT = re.compile(r"\\f[A-Z]")


def functions_part(text):
    """From .SS Functions up to the first paragraph that is of none of them."""
    begin = text.index(".SS Functions\n")
    return text[begin:text.index("\n.PP\n", begin) + 1]


def paragraphs(part):
    """Name -> arguments and text; names that share a paragraph have the same."""
    heads = list(HEAD.finditer(part))
    for head, following in zip(heads, [*heads[1:], None]):
        names, _, arguments = FONT.sub("", head.group(1)).split(" ", 1)[1].partition('"')
        text = part[head.end():following.start() if following else len(part)]
        for name in names.split(","):
            yield name.strip(), arguments.strip('" ()'), text.replace("\n.IP\n", "\n.PP\n").rstrip("\n")


def summaries(folder):
    """Name -> description, as the functions' tables have them."""
    known = {name.upper() for name in re.findall(r"&mapi_fn_(\w+)", (folder / "catalog.cpp").read_text())}
    found = {}
    for source in sorted(folder.glob("*.cpp")):
        for name, text in re.findall(r'"([A-Z0-9_]+)",\s*(?:\.description = )?"([^"]+)"', source.read_text()):
            if name in known:
                found[name] = text
    return known, found


def calls(text):
    """The names in the synopsis."""
    synopsis = text[text.index(".SH SYNOPSIS"):text.index(".SH DESCRIPTION")]
    return set(re.findall(r'^\.BI "[^"(]*?(mapi_\w+)\(', synopsis, re.MULTILINE))


def main():
    manual, functions, folder = (pathlib.Path(argument) for argument in sys.argv[1:])
    known, described = summaries(functions)
    written = {name: rest for name, *rest in paragraphs(functions_part(manual.read_text()))}
    for what, names in ("mapi.3", set(written)), ("a table with a description", set(described)):
        if names != known:
            sys.exit(f"the catalogue and {what} differ in {', '.join(sorted(known ^ names))}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (arguments, text) in written.items():
        page = PAGE.format(name=name, summary=described[name], arguments=f", {arguments}" if arguments else "", text=text)
        (folder / f"{name}.3mapi").write_text(page)
    for name in calls(manual.read_text()):
        (folder / f"{name}.3").write_text(".so man3/mapi.3\n")


if __name__ == "__main__":
    main()
