# SPDX-License-Identifier: MIT
"""fish: the commands and options of a program -> its completion for fish."""


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def option_line(program, condition, option):
    words = ["complete", "-c", program.name, *condition]
    for name in option.letters:
        words += ["-s", name[1:]]
    for name in option.longs:
        words += ["-l", name[2:]]
    if option.choices():
        words += ["-x", "-a", quoted(" ".join(option.choices()))]
    elif option.value == "folder":
        words += ["-x", "-a", "'(__fish_complete_directories)'"]
    elif option.value == "file":
        words += ["-r", "-F"]
    elif option.value:
        words += ["-x"]
    return " ".join([*words, "-d", quoted(option.says)])


def fish(program):
    lines = [f"# fish completion of {program.name}, generated from its --help"]
    first = []
    if program.commands:
        names = " ".join(one.name for one in program.commands)
        first = ["-n", quoted(f"not __fish_seen_subcommand_from {names}")]
    for one in program.commands:
        lines.append(
            " ".join(
                [
                    "complete",
                    "-c",
                    program.name,
                    *first,
                    "-f",
                    "-a",
                    one.name,
                    "-d",
                    quoted(one.says),
                ]
            )
        )
    lines += [option_line(program, first, option) for option in program.itself.options]
    for one in program.commands:
        condition = ["-n", quoted(f"__fish_seen_subcommand_from {one.name}")]
        lines += [option_line(program, condition, option) for option in one.options]
    return "\n".join(lines) + "\n"
