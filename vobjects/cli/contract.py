# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects api history | diff | openapi``.

This module knows no service: the caller of :func:`add` supplies the contract,
and :func:`main` is a whole program for one. Each command returns its exit
code.
"""

from __future__ import annotations

import argparse
import inspect
import json
import pathlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from vobjects import exceptions
from vobjects.contract import changes, history_check, openapi
from vobjects.contract.registry import Contract
from vobjects.versions import Version

Load = Callable[[argparse.Namespace], Contract]

#: Exit code for problems of the contract or its history.
PROBLEMS = 1


def add(commands: Any, load: Load) -> list[argparse.ArgumentParser]:
    """Add the commands to an argument parser, and return their parsers.

    :param commands: the result of ``ArgumentParser.add_subparsers``
    :param load: returns the contract; called with the parsed arguments when a
        command runs
    """
    parsers = []
    for name, run, summary in _COMMANDS:
        command = commands.add_parser(
            name,
            help=summary,
            description=inspect.getdoc(run),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(
            run=lambda options, run=run: run(options, load(options))
        )
        for flags, settings in _ARGUMENTS[name].items():
            command.add_argument(*flags.split(), **settings)
        parsers.append(command)
    return parsers


def main(contract: Contract, argv: Sequence[str] | None = None) -> int:
    """Run a command of a service that has no other commands.

    :param contract: the contract of the service
    :param argv: arguments without the program's name; None: those of this
        process
    :returns: the exit code
    :raises SystemExit: raised by argparse, with exit code 2 for bad input such
        as an unknown version
    """
    parser = argparse.ArgumentParser(
        description=f'The contract of the {contract.policy.service_type} API.'
    )
    commands = parser.add_subparsers(metavar='COMMAND', required=True)
    add(commands, lambda _options: contract)
    options = parser.parse_args(argv)
    try:
        code: int = options.run(options)
    except exceptions.VobjectsError as error:
        parser.error(str(error))
    return code


def _history(options: argparse.Namespace, contract: Contract) -> int:
    """Check that the history lists every change, and write its page.

    Each microversion must have an entry, and an entry must name everything
    that the microversion adds, removes or changes. Nothing may disappear and
    come back. The exit code is 1 if the history is incomplete; each problem is
    printed.
    """
    problems = list(history_check.problems(contract))
    for problem in problems:
        print(problem, file=sys.stderr)
    if not options.check:
        _write(options.output, history_check.page(contract))
    return PROBLEMS if problems else 0


def _diff(options: argparse.Namespace, contract: Contract) -> int:
    """Show the changes for a client between two microversions.

    A change is breaking if a client that works at the old microversion can
    fail at the new one. The exit code is 1 after an alarm: a part of the API
    was removed and added again between the two.
    """
    old, new = Version.parse(options.old), Version.parse(options.new)
    differences = changes.compare(contract, old, new)
    alarms = [
        part
        for part in changes.returned_parts(contract)
        if min(old, new) <= part.returned_in
        and part.removed_in <= max(old, new)
    ]
    if options.json:
        print(json.dumps(_as_data(old, new, differences, alarms), indent=2))
    else:
        for line in _lines(old, new, differences):
            print(line)
        for alarm in alarms:
            print(f'alarm: {alarm}', file=sys.stderr)
    return PROBLEMS if alarms else 0


def _openapi(options: argparse.Namespace, contract: Contract) -> int:
    """Print the OpenAPI 3.1 document of a microversion."""
    version = (
        contract.policy.maximum
        if options.version is None
        else Version.parse(options.version)
    )
    document = openapi.document(contract, version)
    _write(options.output, json.dumps(document, indent=1, ensure_ascii=False))
    return 0


_COMMANDS: Sequence[
    tuple[str, Callable[[argparse.Namespace, Contract], int], str]
] = (
    ('history', _history, 'check the history, and write its page'),
    ('diff', _diff, 'compare two microversions'),
    ('openapi', _openapi, 'print the OpenAPI document of a microversion'),
)

_OUTPUT: Mapping[str, Any] = {
    'type': pathlib.Path,
    'metavar': 'FILE',
    'help': 'write to this file instead of standard output',
}

#: Command -> flags -> keyword arguments for argparse.
_ARGUMENTS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    'history': {
        '--output -o': _OUTPUT,
        '--check': {
            'action': 'store_true',
            'help': 'check only; write no page',
        },
    },
    'diff': {
        'old': {'metavar': 'OLD', 'help': 'old microversion, such as 1.6'},
        'new': {'metavar': 'NEW', 'help': 'new microversion'},
        '--json': {'action': 'store_true', 'help': 'print JSON'},
    },
    'openapi': {
        '--version': {
            'metavar': 'X.Y',
            'help': 'microversion (default: the newest)',
        },
        '--output -o': _OUTPUT,
    },
}


def _write(path: pathlib.Path | None, text: str) -> None:
    if path is None:
        print(text)
    else:
        path.write_text(text.rstrip('\n') + '\n')


def _lines(
    old: Version, new: Version, differences: Sequence[changes.ContractChange]
) -> Iterable[str]:
    if not differences:
        yield f'{old} and {new} have the same contract'
        return
    breaking = sum(change.breaking for change in differences)
    additive = len(differences) - breaking
    yield (
        f'{old} to {new}: {breaking} breaking and {additive} additive changes'
    )
    for change in sorted(differences, key=lambda change: not change.breaking):
        kind = 'breaking' if change.breaking else 'additive'
        yield f'  {kind}  {change}'


def _as_data(
    old: Version,
    new: Version,
    differences: Sequence[changes.ContractChange],
    alarms: Sequence[changes.ReturnedPart],
) -> dict[str, Any]:
    return {
        'from': str(old),
        'to': str(new),
        'changes': [
            {
                'operation': change.operation,
                'place': change.location,
                'what': change.description,
                'breaking': change.breaking,
            }
            for change in differences
        ],
        'alarms': [
            {
                'operation': part.operation,
                'place': part.location,
                'gone': str(part.removed_in),
                'back': str(part.returned_in),
            }
            for part in alarms
        ],
    }
