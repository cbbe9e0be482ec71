# SPDX-License-Identifier: MIT
"""zsh: the commands and options of a program -> its completion for zsh."""

ACTIONS = {"file": "_files", "folder": "_files -/", "text": " "}


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def escaped(text):
    """For the texts of _arguments and _describe, in which some letters mean something."""
    for letter in "\\[]:":
        text = text.replace(letter, "\\" + letter)
    return text


def arguments(command):
    lines = []
    for option in command.options:
        action = f"({' '.join(option.choices())})" if option.choices() else ""
        action = action or ACTIONS.get(option.value, "")
        value = f":value:{action}" if option.value else ""
        for name in option.names():
            excluded = " ".join(option.names())
            ending = "=" if option.value and name.startswith("--") else ""
            lines.append(quoted(f"({excluded}){name}{ending}[{escaped(option.says)}]{value}"))
    return lines


def function(name, lines):
    body = " \\\n        ".join(["_arguments -s", *lines])
    return f"{name}()\n{{\n    {body}\n}}\n"


def with_commands(program, name):
    described = [quoted(f"{one.name}:{escaped(one.says)}") for one in program.commands]
    cases = [
        f"        {one.name}) {name}_{one.name.replace('-', '_')} ;;" for one in program.commands
    ]
    lines = [*arguments(program.itself), "'1: :->command'", "'*:: :->rest'"]
    body = " \\\n        ".join(["_arguments -C", *lines])
    return "\n".join(
        [
            f"{name}()",
            "{",
            '    local curcontext="$curcontext" state line',
            "    local -a commands",
            f"    commands=({' '.join(described)})",
            f"    {body}",
            "    case $state in",
            "    command) _describe command commands ;;",
            "    rest)",
            "        case $line[1] in",
            *cases,
            "        *) _files ;;",
            "        esac ;;",
            "    esac",
            "}",
            "",
        ]
    )


def zsh(program):
    name = "_" + program.name.replace("-", "_")
    functions = [
        function(f"{name}_{one.name.replace('-', '_')}", [*arguments(one), "'*:file:_files'"])
        for one in program.commands
    ]
    if program.commands:
        functions.append(with_commands(program, name))
    else:
        functions.append(function(name, [*arguments(program.itself), "'*:file:_files'"]))
    head = f"#compdef {program.name}\n# generated from its --help\n"
    return head + "\n".join(functions) + f'{name} "$@"\n'
