# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects fleet``: show the live processes and their versions.

A server responds, over the transport that the configuration names. Its service
is declared by a :class:`vobjects.service.Service`.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, objects, versions
from vobjects import service as services
from vobjects.cli import settings
from vobjects.objects import manifest
from vobjects.rpc import client_process, fleet
from vobjects.rpc.ledger import RemoteLedger
from vobjects.service import Service

_COLUMNS = ('ID', 'WHAT', 'HOST', 'TOPIC', 'RELEASE', 'STATE', 'MANIFEST')


def main(argv: list[str]) -> int:
    """Run ``vobjects fleet COMMAND``.

    :param argv: the arguments after ``fleet``
    :returns: 0
    :raises vobjects.exceptions.VobjectsError: an error that the user can fix
    :raises vobjects.exceptions.FleetError: no engine answers
    :raises oslo_config.cfg.Error: the configuration is invalid
    :raises SystemExit: raised by argparse
    """
    options = _parser().parse_args(argv)
    service = services.find(options.service or services.only())
    service.load_types()
    for line in options.run(options, service):
        print(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects fleet',
        description='Show the live processes and the versions that they'
        ' support.',
    )
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    for name, run, summary in _COMMANDS:
        command = commands.add_parser(
            name,
            help=summary,
            description=inspect.getdoc(run),
            parents=[_common()],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run)
        for flag, keywords in _ARGUMENTS.get(name, {}).items():
            command.add_argument(flag, **keywords)
    return parser


def _common() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        '--service',
        metavar='NAME',
        help=f'an entry point of {services.GROUP}'
        ' (default: the only one that is installed)',
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        '--config-file',
        type=pathlib.Path,
        metavar='FILE',
        action='append',
        help='configuration file that locates the engines; may be repeated',
    )
    place.add_argument(
        '--state-dir',
        type=pathlib.Path,
        metavar='DIR',
        help='state directory of a running `vobjects up` (default: its'
        ' default directory if it exists, otherwise the configuration that'
        ' engines read)',
    )
    return parser


# The commands; each yields lines


Lines = Iterator[str]


def _list(options: argparse.Namespace, service: Service) -> Lines:
    """List the live processes and the highest microversion they support."""
    with _ledger(options, service) as ledger:
        view = ledger.get()
    if options.json:
        data = fleet.to_json(view, service.topic, service.maximum)
        yield json.dumps(data, indent=2)
        return
    rows = [_row(member) for member in view.members]
    yield from _table([_COLUMNS, *rows])
    yield ''
    yield from _summary(view, service)


def _explain(options: argparse.Namespace, service: Service) -> Lines:
    """Explain why microversions are not served, and name the processes.

    With TYPE, show the versions of that type only.
    """
    if options.type is not None:
        _check_type(options.type)
    with _ledger(options, service) as ledger:
        view = ledger.get()
    if options.type is None:
        yield from _summary(view, service)
        for limit in view.limits(service.topic)[1:]:
            yield f'below {limit.microversion}: {limit.reason}'
        return
    yield from _explain_type(view, service, options.type)


def _hold(options: argparse.Namespace, service: Service) -> Lines:
    """Keep the object versions in use from rising.

    Use a hold while you may have to roll back an upgrade: processes send and
    store nothing in a version that the older release cannot read.
    """
    with _ledger(options, service) as ledger:
        view = ledger.hold(service.topic)
    yield from _summary(view, service)


def _finalize(options: argparse.Namespace, service: Service) -> Lines:
    """End a hold: the versions in use follow the live processes again."""
    with _ledger(options, service) as ledger:
        view = ledger.finalize()
    yield from _summary(view, service)


def _manifest(options: argparse.Namespace, service: Service) -> Lines:
    """Print the manifest of this build, without contacting an engine.

    `vobjects engine --manifest` and the option `engine` of [upgrade_levels]
    read such a file.
    """
    if options.microversion is None:
        printed = manifest.local()
    else:
        printed = manifest.at_microversion(
            versions.Version.parse(options.microversion)
        )
    yield json.dumps(dict(printed), indent=1)


_COMMANDS: Sequence[
    tuple[str, Callable[[argparse.Namespace, Service], Lines], str]
] = (
    ('list', _list, 'list the live processes'),
    ('explain', _explain, 'explain why a microversion is not served'),
    ('hold', _hold, 'keep the versions in use from rising'),
    ('finalize', _finalize, 'end a hold'),
    ('manifest', _manifest, 'print the manifest of this build'),
)

#: Command -> argument -> keyword arguments for argparse.
_ARGUMENTS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    'list': {'--json': {'action': 'store_true', 'help': 'print JSON'}},
    'explain': {
        'type': {
            'nargs': '?',
            'metavar': 'TYPE',
            'help': 'show only this type',
        }
    },
    'manifest': {
        '--microversion': {
            'metavar': 'X.Y',
            'help': 'print only the versions of this microversion of the API',
        }
    },
}


# Output


def _row(member: fleet.Member) -> tuple[str, ...]:
    return (
        member.id[:8],
        member.binary,
        member.host,
        member.topic,
        member.release,
        f'{member.state}, {member.age:.1f} s ago',
        member.manifest.digest[:8],
    )


def _table(rows: Sequence[Sequence[str]]) -> Lines:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        )
        yield '  '.join(cells).rstrip()


def _summary(view: fleet.View, service: Service) -> Lines:
    if not view.servers(service.topic):
        yield f'no live process serves {service.topic}'
        return
    maximum = view.maximum(service.topic, service.maximum)
    because = f', because {maximum.reason}' if maximum.reason else ''
    yield f'highest microversion: {maximum.version}{because}'
    if view.held is not None:
        yield 'held: versions do not rise until `vobjects fleet finalize`'


def _explain_type(view: fleet.View, service: Service, name: str) -> Lines:
    cls = objects.registered_type(name)
    cap = view.cap(service.topic).get(name)
    yield f'{name}: {cap or "not supported"}; this build has {cls.VERSION}'
    for limit in view.limits(service.topic):
        if limit.type_name == name:
            yield f'microversion {limit.microversion} is not served:'
            yield f'  {limit.reason}'
    for member in view.servers(service.topic):
        yield (
            f'  {member.label} (release {member.release}) supports'
            f' {member.manifest.get(name, "none")}; last seen'
            f' {member.age:.1f} s ago'
        )
    if view.held is not None:
        yield f'  held at {view.held.get(name, "none")}'


# The service and its ledger


def _check_type(name: str) -> None:
    if name not in manifest.local():
        raise exceptions.VobjectsError(
            f'no type {exceptions.cut(name)}; `vobjects fleet manifest`'
            ' lists them'
        )


@contextlib.contextmanager
def _ledger(
    options: argparse.Namespace, service: Service
) -> Iterator[RemoteLedger]:
    conf = cfg.ConfigOpts()
    conf([], project=settings.PROJECT, default_config_files=_files(options))
    settings.require_bus(conf)
    ledger, close = client_process.connect_to_ledger(conf, service)
    try:
        yield ledger
    finally:
        close()


def _files(options: argparse.Namespace) -> list[str]:
    own = (
        options.state_dir or settings.default_state_directory()
    ) / 'vobjects.conf'
    files = options.config_file
    if not (files or options.state_dir or own.is_file()):
        files = [
            pathlib.Path(f) for f in cfg.find_config_files(settings.PROJECT)
        ]
    files = files or [own]
    for file in files:
        if not file.is_file():
            raise exceptions.VobjectsError(
                f'{file} is not a file; locate the engines with --config-file'
                ' or --state-dir'
            )
    return [str(file) for file in files]
