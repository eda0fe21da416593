"""`graphwright completion`: a completion script for a shell, written from the parser itself."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphwright.cli.output import say
from graphwright.runtime.record import Record

PYTHON_FILES, FILES = "PYTHON", "FILES"
NAMES = r"s/^\(async \)\{0,1\}\(def\|class\) \([A-Za-z0-9_]*\).*/\3/p"
"""A script of sed that prints the functions and classes at the top level of a file."""


def add_parser(commands: Any) -> None:
    """The subcommand's grammar."""
    parser = commands.add_parser(
        "completion", help="print a completion script for a shell",
        description="Print a script that completes commands, options, files and the names in "
                    "them. bash: eval \"$(graphwright completion bash)\" in ~/.bashrc; zsh: "
                    "source <(graphwright completion zsh) in ~/.zshrc, after compinit; fish: "
                    "graphwright completion fish > ~/.config/fish/completions/graphwright.fish")
    parser.add_argument("shell", choices=tuple(WRITERS), help="the shell")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Print the script."""
    say("\n".join(WRITERS[arguments.shell](grammar(arguments.parser))))


class Argument(Record):
    """An option, or what else a command takes (it has no `names`).

    value: words to choose from, `FILES`, `PYTHON_FILES`, or "" for any; None: it has no value.
    """

    names: tuple[str, ...]
    value: str | None
    help: str


class Command(Record):
    """A subcommand, or with the name "" what stands before it."""

    name: str
    help: str
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> list[Argument]:
        """Arguments with names."""
        return [argument for argument in self.arguments if argument.names]

    @property
    def rest(self) -> str:
        """What the words that are no options stand for."""
        values = [argument.value or "" for argument in self.arguments if not argument.names]
        return values[0] if values else ""


def grammar(parser: argparse.ArgumentParser) -> list[Command]:
    """The commands, the one before all subcommands first."""
    found = [Command("", "", tuple(arguments_of(parser)))]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            found += [Command(name, helps[name], tuple(arguments_of(below)))
                      for name, below in action.choices.items()]
    return found


def arguments_of(parser: argparse.ArgumentParser) -> Iterator[Argument]:
    """The arguments of a parser, without its subcommands."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            names = tuple(action.option_strings)
            yield Argument(names, value_of(action), action.help or "")


def value_of(action: argparse.Action) -> str | None:
    """What the value of an argument may be."""
    if action.nargs == 0:
        return None
    if action.choices is not None:
        return " ".join(map(str, action.choices))
    if action.metavar == "FILE.py:FUNCTION":
        return PYTHON_FILES
    name = action.metavar if isinstance(action.metavar, str) else ""
    is_file = action.type is Path or name.startswith(("OUT", "SCRIPT", "PATH"))
    return FILES if is_file else ""


def words(command: Command, commands: list[Command]) -> str:
    """All words that may stand behind a command: options, and subcommands behind none."""
    options = [name for option in command.options for name in option.names]
    return " ".join([*options, *(c.name for c in commands if c.name and not command.name)])


def names_of(commands: list[Command]) -> str:
    """A pattern of bash and zsh for the names of subcommands."""
    return "|".join(command.name for command in commands if command.name)


def values(commands: list[Command]) -> Iterator[str]:
    """The rest of `case "$command $previous" in`, for bash and zsh: it sets `value` to what may
    come next, and `known` to the options and subcommands that may."""
    for command in commands:
        for option in command.options:
            if option.value is not None:
                keys = "|".join(shlex.quote(f"{command.name} {name}") for name in option.names)
                yield f"        ({keys}) value={shlex.quote(option.value)} ;;"
    yield "        (*) case $command in"
    for command in commands:
        yield (f"            ({shlex.quote(command.name)}) "
               f"known={shlex.quote(words(command, commands))} "
               f"value={shlex.quote(command.rest)} ;;")
    yield "        esac ;;"
    yield "    esac"


def bash(commands: list[Command]) -> Iterator[str]:
    """The script for bash, which splits words at ':'."""
    yield from f'''# bash completion of graphwright
_graphwright_python() {{
    if [[ $word == : ]]; then
        file=$previous word=
    elif [[ $previous == : ]]; then
        file=${{COMP_WORDS[COMP_CWORD - 2]}}
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -X '!*.py' -- "$word"; compgen -d -- "$word")
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$(sed -n '{NAMES}' "$file" 2>/dev/null)" -- "$word")
}}
_graphwright() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}}
    local command= file= known= value= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${{COMP_WORDS[i]}} in {names_of(commands)}) command=${{COMP_WORDS[i]}}; break ;; esac
    done
    COMPREPLY=()
    case "$command $previous" in'''.splitlines()
    yield from values(commands)
    yield from f'''    if [[ $word == -* || -z $command ]]; then value=$known; fi
    case $value in
        {PYTHON_FILES}) _graphwright_python ;;
        {FILES})
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$value" -- "$word") ;;
    esac
}}
complete -F _graphwright graphwright'''.splitlines()


def zsh(commands: list[Command]) -> Iterator[str]:
    """The script for zsh."""
    yield from f'''#compdef graphwright
_graphwright() {{
    local command= known= value= word
    for word in ${{words[2,CURRENT-1]}}; do
        case $word in ({names_of(commands)}) command=$word; break ;; esac
    done
    case "$command ${{words[CURRENT-1]}}" in'''.splitlines()
    yield from values(commands)
    yield from f'''    if [[ $PREFIX == -* || -z $command ]]; then value=$known; fi
    case $value in
        ({PYTHON_FILES})
            if compset -P '*.py:'; then
                compadd -- $(sed -n '{NAMES}' "${{(Q)IPREFIX%:}}" 2>/dev/null)
            else
                _files -g '*.py'
            fi ;;
        ({FILES}) _files ;;
        (*) compadd -- ${{=value}} ;;
    esac
}}
if [[ $funcstack[1] == _graphwright ]]; then _graphwright "$@"; else
    compdef _graphwright graphwright
fi'''.splitlines()


def fish(commands: list[Command]) -> Iterator[str]:
    """The script for fish."""
    yield from f'''# fish completion of graphwright
function __graphwright_targets
    set -l word (commandline -ct)
    if string match -q '*.py:*' -- $word
        set -l file (string replace -r ':.*' '' -- $word)
        sed -n '{NAMES}' $file 2>/dev/null | string replace -r '^' "$file:"
    else
        __fish_complete_suffix .py
    end
end
complete -c graphwright -f'''.splitlines()
    for command in commands:
        seen = f"__fish_seen_subcommand_from {command.name}" if command.name \
            else "__fish_use_subcommand"
        start = f"complete -c graphwright -n {shlex.quote(seen)}"
        if command.name:
            yield (f"complete -c graphwright -n __fish_use_subcommand -a {command.name} "
                   f"-d {shlex.quote(command.help)}")
        for option in command.options:
            flags = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                             for name in option.names)
            yield f"{start} {flags}{fish_value(option.value)} -d {shlex.quote(option.help)}"
        if command.rest:
            yield f"{start}{fish_value(command.rest).removeprefix(' -x').removeprefix(' -r')}"


def fish_value(value: str | None) -> str:
    """The flags of `complete` for a value."""
    if value is None:
        return ""
    kinds = {PYTHON_FILES: " -x -a '(__graphwright_targets)'", FILES: " -r -F", "": " -x"}
    return kinds.get(value, f" -x -a {shlex.quote(value)}")


WRITERS = {"bash": bash, "zsh": zsh, "fish": fish}
