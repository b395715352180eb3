# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects contract``, and the commands of a service for it.

``vobjects contract history | diff | openapi`` read the contract that a service
declares. A service whose contract depends on more, such as its configuration,
adds these commands to its own by :func:`definitions`.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vobjects import exceptions
from vobjects.cli import arguments, output, terminal
from vobjects.cli.parser import Command, Parser, Run, configured
from vobjects.versions import Version

if TYPE_CHECKING:
    from vobjects_contract import changes
    from vobjects_contract.registry import Contract

Load = Callable[[argparse.Namespace], 'Contract']

#: Exit code for problems of the contract or its history.
PROBLEMS = 1


def definitions(
    load: Load, add_options: Callable[[Parser], None], prog: str
) -> Mapping[str, tuple[str, Callable[[Parser], None]]]:
    """Return the commands, for ``Parser.add_commands``.

    :param load: returns the contract; called with the parsed arguments when a
        command runs
    :param add_options: adds the options that ``load`` needs
    :param prog: the command that they belong to, for the examples
    """

    def loaded(
        run: Callable[[argparse.Namespace, Contract], int],
    ) -> Run:
        return lambda options: run(options, load(options))

    return {
        'history': (
            'check that the history lists every change, and print its page',
            configured(
                loaded(_history),
                _add_check,
                output.add_option,
                add_options,
                more="""Each microversion must have an entry, and an entry must
                name everything that the microversion adds, removes or changes.
                Nothing may disappear and come back. Each problem is printed;
                the exit code is 1 if there is one.""",
                examples=[f'{prog} history --check'],
            ),
        ),
        'diff': (
            'show the changes for a client between two microversions',
            configured(
                loaded(_diff),
                _add_versions,
                output.add_option,
                add_options,
                more="""A change is breaking if a client that works at the old
                microversion can fail at the new one. The exit code is 1 after
                an alarm: a part of the API was removed and added again between
                the two.""",
                examples=[f'{prog} diff 1.0 1.1'],
            ),
        ),
        'openapi': (
            'print the OpenAPI 3.1 document of a microversion',
            configured(
                loaded(_openapi),
                _add_version,
                functools.partial(
                    output.add_option,
                    formats=(output.JSON, output.YAML),
                    default=output.JSON,
                ),
                add_options,
                examples=[
                    f'{prog} openapi > openapi.json',
                    f'{prog} openapi 1.0 -o yaml',
                ],
            ),
        ),
    }


def _declared(options: argparse.Namespace) -> Contract:
    service = arguments.service_of(options)
    if not service.contract:
        raise exceptions.VobjectsError(
            f'the service {service.name} declares no contract; name the module'
            ' with CONTRACT in its vobjects.Service as contract='
        )
    contract: Contract = importlib.import_module(service.contract).CONTRACT
    return contract


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects contract',
        description='Print the contract of an API, compare its microversions,'
        ' and check its history.',
        notes='Exit codes: 0 success; 1 findings; 2 invalid arguments.',
    )
    parser.add_commands(
        definitions(_declared, arguments.add_service, parser.prog)
    )
    return parser


#: The command ``vobjects contract``.
main = Command(_parser)


# "history"


def _add_check(parser: Parser) -> None:
    parser.add_argument(
        '--check', action='store_true', help='check only; print no page'
    )


def _history(options: argparse.Namespace, contract: Contract) -> int:
    # Here and below, imported late: the help does not need it.
    from vobjects_contract import history_check

    problems = list(history_check.problems(contract))
    for problem in problems:
        print(problem, file=sys.stderr)
    data = {
        'problems': problems,
        'history': {
            version: list(entries)
            for version, entries in contract.history.items()
        },
    }
    maximum = contract.policy.maximum
    lines = [f'OK: the history lists every change up to {maximum}']
    if not options.check:
        lines = [history_check.page(contract).rstrip('\n')]
    elif problems:
        lines = []
    output.show(options, data, lines)
    return PROBLEMS if problems else 0


# "diff"


def _add_versions(parser: Parser) -> None:
    parser.add_argument(
        'old', metavar='OLD', help='old microversion, such as 1.6'
    )
    parser.add_argument(
        'new', metavar='NEW', help='new microversion, such as 1.7'
    )


def _diff(options: argparse.Namespace, contract: Contract) -> int:
    from vobjects_contract import changes

    old, new = Version.parse(options.old), Version.parse(options.new)
    differences = changes.compare(contract, old, new)
    alarms = [
        part
        for part in changes.returned_parts(contract)
        if min(old, new) <= part.returned_in
        and part.removed_in <= max(old, new)
    ]
    output.show(
        options,
        _as_data(old, new, differences, alarms),
        _lines(old, new, differences),
    )
    if options.output == output.TABLE:
        for alarm in alarms:
            print(f'alarm: {alarm}', file=sys.stderr)
    return PROBLEMS if alarms else 0


# "openapi"


def _add_version(parser: Parser) -> None:
    parser.add_argument(
        'version',
        nargs='?',
        metavar='MICROVERSION',
        help='microversion, such as 1.7 (default: the newest)',
    )


def _openapi(options: argparse.Namespace, contract: Contract) -> int:
    from vobjects_contract import openapi

    version = (
        Version.parse(options.version)
        if options.version
        else contract.policy.maximum
    )
    document = openapi.document(contract, version)
    print(output.dump(document, options.output), end='')
    return 0


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
    screen = terminal.Terminal(sys.stdout)
    for change in sorted(differences, key=lambda change: not change.breaking):
        kind, style = (
            ('breaking', 'bad') if change.breaking else ('additive', 'good')
        )
        yield f'  {screen.styled(style, kind)}  {change}'


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
