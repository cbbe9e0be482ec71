# SPDX-License-Identifier: MIT
"""bash: the commands and options of a program -> its completion for bash."""

import collections
import shlex

FUNCTION = """# bash completion of {name}, generated from its --help
{function}()
{{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    local command= options= commands={commands} word
    # "--option=value" is three words
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = && COMP_CWORD -gt 1 ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        [[ $word == -- ]] && return # another program follows
        if [[ -z $command && " $commands " == *" $word "* ]]; then
            command=$word
        fi
    done
    case "$command $previous" in
{values}
    esac
    case $command in
{options}
    esac
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ -z $command && -n $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$current"))
    fi
}}
complete -o bashdefault -o default -F {function} {name}
"""


def answer(option):
    if option.choices():
        words = shlex.quote(" ".join(option.choices()))
        return f'COMPREPLY=($(compgen -W {words} -- "$current")); return'
    if option.value == "folder":
        return "compopt -o dirnames +o default 2>/dev/null; return"
    if option.value == "file":
        return "return"
    return "compopt +o bashdefault +o default 2>/dev/null; return"


def bash(program):
    function = "_" + program.name.replace("-", "_")
    every = [program.itself, *program.commands]
    values, options = collections.defaultdict(list), []
    for command in every:
        for option in command.options:
            if option.value:
                values[answer(option)] += [f'"{command.name} {name}"' for name in option.names()]
        names = " ".join(name for option in command.options for name in option.names())
        options.append(f'    "{command.name}") options="{names}" ;;')
    return FUNCTION.format(
        name=program.name,
        function=function,
        commands=shlex.quote(" ".join(command.name for command in program.commands)),
        values="\n".join(f"    {'|'.join(words)}) {done} ;;" for done, words in values.items()),
        options="\n".join(options),
    )
