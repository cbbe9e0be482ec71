# SPDX-License-Identifier: MIT
"""function_pages: mapi.3, pages/ and the functions' tables -> a page of section 3mapi per function,
and one of section 3 per call.

Usage: function_pages.py MAPI.3 FUNCTIONS-FOLDER PAGES-FOLDER.  Fails if the catalogue, mapi.h,
mapi.3 and pages/ are inconsistent, or if a function or call lacks its arguments, its result or its
errors.
"""

import pathlib
import re
import sys

import page_facts

FUNCTION_PAGE = r""".\" SPDX-License-Identifier: MIT
.\" Generated from mapi.3 and pages/ by function_pages.py.
.TH {name} 3mapi 2026 "NetSlice toolkit" "Library Functions Manual"
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
.SH ARGUMENTS
{argument_list}
.SH RESULT
{result}
.SH ERRORS
{errors}
.PP
Errors of every function:
{common_errors}
.SH SEE ALSO
.BR mapi (3):
flows, results, and what functions have in common;
.BR mapi_apply_function (3)
"""
CALL_PAGE = r""".\" SPDX-License-Identifier: MIT
.\" Generated from mapi.3 and pages/ by function_pages.py.
.TH {name} 3 2026 "NetSlice toolkit" "Library Functions Manual"
.SH NAME
{name} \- {summary}
.SH SYNOPSIS
.nf
.B #include <mapi/mapi.h>
.PP
{synopsis}
.fi
.PP
Link with \fI\-lmapi\fP.
.SH DESCRIPTION
{text}
{argument_list}
.SH RETURN VALUE
{returns}
.SH ERRORS
{errors}
.SH THREADS
{threads}
.SH SEE ALSO
.BR mapi (3):
overview of all calls
"""
HEAD = re.compile(r"^\.TP\n(\.BR? [A-Z].*)\n", re.MULTILINE)
FONT = re.compile(r"\\f[A-Z]")


def functions_part(text):
    """From .SS Functions up to the first paragraph that does not belong to a function."""
    begin = text.index(".SS Functions\n")
    return text[begin : text.index("\n.PP\n", begin) + 1]


def paragraphs(part):
    """Name -> arguments and text, which are the same for names that share a paragraph."""
    heads = list(HEAD.finditer(part))
    for head, following in zip(heads, [*heads[1:], None]):
        names, _, arguments = FONT.sub("", head.group(1)).split(" ", 1)[1].partition('"')
        text = part[head.end() : following.start() if following else len(part)]
        for name in names.split(","):
            yield (
                name.strip(),
                arguments.strip('" ()'),
                text.replace("\n.IP\n", "\n.PP\n").rstrip("\n"),
            )


def summaries(folder):
    """Name -> description from the functions' tables."""
    known = {
        name.upper() for name in re.findall(r"&mapi_fn_(\w+)", (folder / "catalog.cpp").read_text())
    }
    found = {}
    for source in sorted(folder.rglob("*.cpp")):
        for name, text in re.findall(
            r'"([A-Z0-9_]+)",\s*(?:\.description =\s*)?((?:"[^"]+"\s*)+)', source.read_text()
        ):
            if name in known:
                found[name] = "".join(re.findall('"([^"]+)"', text))
    return known, found


def synopses(text):
    """Name -> its lines in the synopsis."""
    found = {}
    for line in text[text.index(".SH SYNOPSIS") : text.index(".SH DESCRIPTION")].splitlines():
        if name := re.match(r'\.BI "[^"(]*?(mapi_\w+)\(', line):
            found.setdefault(name.group(1), []).append(line)
    return found


def agree(what, names, other, others):
    if set(names) != set(others):
        sys.exit(f"{what} and {other} differ in {', '.join(sorted(set(names) ^ set(others)))}")


def argument_names(arguments):
    """Argument names of "int count [, int sort]"."""
    return [
        argument.split()[-1].lstrip("*")
        for argument in re.sub(r"[\[\]]", "", arguments).split(",")
        if argument.strip()
    ]


def write_functions(manual, functions, facts, common, folder):
    known, described = summaries(functions)
    written = {name: rest for name, *rest in paragraphs(functions_part(manual))}
    agree("the catalogue", known, "mapi.3", written)
    agree("the catalogue", known, "a table with a description", described)
    agree("the catalogue", known, "pages/", facts)
    common_errors = page_facts.error_list(common, facts.names)
    for name, (arguments, text) in written.items():
        fact = facts[name]
        fact.check(name, argument_names(arguments), ["result"])
        page = FUNCTION_PAGE.format(
            name=name,
            summary=described[name],
            arguments=f", {arguments}" if arguments else "",
            text=text,
            argument_list=page_facts.argument_list(fact.arguments) or "None.",
            result=page_facts.roff(fact.texts["result"]),
            errors=page_facts.error_list(fact.errors, facts.names) or "None of its own.",
            common_errors=common_errors,
        )
        (folder / f"{name}.3mapi").write_text(page)


def write_calls(manual, header, facts, folder):
    lines = synopses(manual)
    agree(
        "mapi.h",
        re.findall(r"^\w[\w *]*?\*?\b(mapi_\w+)\(", header, re.MULTILINE)
        + re.findall(r"^#define (mapi_get_\w+)\(", header, re.MULTILINE),
        "pages/calls.txt",
        [name for names in facts.heads for name in names],
    )
    agree("mapi.3's synopsis", lines, "pages/calls.txt", [names[0] for names in facts.heads])
    for name, *others in facts.heads:
        fact = facts[name]
        parameters = [
            argument
            for line in lines[name]
            for argument in re.findall(r'" ?(\w+) ?(?:"|\);?$)', line)
        ]
        fact.check(name, list(dict.fromkeys(parameters)), ["summary", "text", "returns", "threads"])
        page = CALL_PAGE.format(
            name=name,
            summary=fact.texts["summary"],
            synopsis="\n".join(lines[name]),
            text=page_facts.roff(fact.texts["text"]),
            argument_list=page_facts.argument_list(fact.arguments),
            returns=page_facts.roff(fact.texts["returns"]),
            errors=page_facts.error_list(fact.errors, facts.names) or "None.",
            threads=page_facts.roff(fact.texts["threads"]),
        )
        (folder / f"{name}.3").write_text(page)
        for other in others:
            (folder / f"{other}.3").write_text(f".so man3/{name}.3\n")


def main():
    path, functions, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    headers, pages = path.parent.parent / "include/mapi", path.parent / "pages"
    numbers = page_facts.read_numbers(headers / "errors.h")
    folder.mkdir(parents=True, exist_ok=True)
    manual = path.read_text()
    calls, every_function = pages / "calls.txt", pages / "every_function.txt"
    facts = page_facts.Facts(sorted(set(pages.glob("*.txt")) - {calls, every_function}), numbers)
    write_functions(
        manual, functions, facts, page_facts.Facts([every_function], numbers).common_errors, folder
    )
    write_calls(
        manual, (headers / "mapi.h").read_text(), page_facts.Facts([calls], numbers), folder
    )


if __name__ == "__main__":
    main()
