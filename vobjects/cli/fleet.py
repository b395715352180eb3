# SPDX-License-Identifier: Apache-2.0
"""``vobjects fleet``: who is alive, what they speak, and why not more.

The answers come from an engine, over the transport that the configuration
names. Which types and topics there are is said by the packages of the entry
point group ``vobjects.services``: each has modules ``types`` (importing it
registers them), ``topics`` (``EXCHANGE``, ``ENGINE``, ``ERROR_MODULES``) and
``history`` (``MAXIMUM``).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import importlib.metadata
import inspect
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from oslo_config import cfg

from vobjects import base, exceptions, manifest, versions
from vobjects.cli import state
from vobjects.rpc import caller, fleet, membership

GROUP = 'vobjects.services'
DEFAULT_SERVICE = 'clustering'

#: Whose configuration file is looked for.
_PROJECT = 'vobjects'

_COLUMNS = ('ID', 'WHAT', 'HOST', 'TOPIC', 'RELEASE', 'STATE', 'MANIFEST')


@dataclasses.dataclass(frozen=True, slots=True)
class Service:
    """What this command has to know of a service."""

    exchange: str
    topic: str
    error_modules: tuple[str, ...]
    newest: versions.Version


def main(argv: list[str]) -> int:
    """Run ``vobjects fleet COMMAND``.

    :param argv: the arguments after ``fleet``
    :returns: 0
    :raises vobjects.exceptions.VobjectsError: for what the caller can mend
    :raises vobjects.exceptions.FleetError: no engine answers
    :raises oslo_config.cfg.Error: a bad configuration
    :raises SystemExit: from argparse
    """
    options = _parser().parse_args(argv)
    service = _service(options.service)
    for line in options.run(options, service):
        print(line)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects fleet',
        description='Show the live processes and what they can speak.',
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
        for flag, settings in _ARGUMENTS.get(name, {}).items():
            command.add_argument(flag, **settings)
    return parser


def _common() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        '--service',
        default=DEFAULT_SERVICE,
        metavar='NAME',
        help=f'an entry point of {GROUP} (default: %(default)s)',
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        '--config-file',
        type=pathlib.Path,
        metavar='FILE',
        action='append',
        help='settings: they say where engines are; may be repeated',
    )
    place.add_argument(
        '--state-dir',
        type=pathlib.Path,
        metavar='DIR',
        help='of a running `vobjects up`; without both, its default one or'
        ' else the configuration that engines find',
    )
    return parser


# The commands: each yields lines


Lines = Iterator[str]


def _list(options: argparse.Namespace, service: Service) -> Lines:
    """List the live processes, and the highest microversion they serve."""
    with _ledger(options, service) as ledger:
        view = ledger.get()
    if options.json:
        data = fleet.as_data(view, service.topic, service.newest)
        yield json.dumps(data, indent=2)
        return
    rows = [_row(member) for member in view.members]
    yield from _table([_COLUMNS, *rows])
    yield ''
    yield from _summary(view, service)


def _explain(options: argparse.Namespace, service: Service) -> Lines:
    """Tell which microversions cannot be served, and who is in the way."""
    if options.type is not None:
        _known(options.type)
    with _ledger(options, service) as ledger:
        view = ledger.get()
    if options.type is None:
        yield from _summary(view, service)
        for limit in view.limits(service.topic)[1:]:
            yield f'below {limit.microversion}: {limit.reason}'
        return
    yield from _explain_type(view, service, options.type)


def _hold(options: argparse.Namespace, service: Service) -> Lines:
    """Keep what is spoken as it is, whoever leaves or joins.

    For as long as a rolling upgrade may have to be undone: nothing is said
    or stored that the older release could not read.
    """
    with _ledger(options, service) as ledger:
        view = ledger.hold(service.topic)
    yield from _summary(view, service)


def _finalize(options: argparse.Namespace, service: Service) -> Lines:
    """End a hold: what is spoken follows the live processes again."""
    with _ledger(options, service) as ledger:
        view = ledger.finalize()
    yield from _summary(view, service)


def _manifest(options: argparse.Namespace, service: Service) -> Lines:
    """Print what this build speaks, as a manifest file. Asks nobody.

    Such a file is what `vobjects engine --manifest` and the option `engine`
    of [upgrade_levels] read.
    """
    if options.microversion is None:
        found = manifest.own()
    else:
        asked = versions.Version.parse(options.microversion)
        found = manifest.at_microversion(asked)
    yield json.dumps(dict(found), indent=1)


_COMMANDS: Sequence[
    tuple[str, Callable[[argparse.Namespace, Service], Lines], str]
] = (
    ('list', _list, 'list the live processes'),
    ('explain', _explain, 'tell why a microversion is not served'),
    ('hold', _hold, 'keep what is spoken as it is'),
    ('finalize', _finalize, 'end a hold'),
    ('manifest', _manifest, 'print what this build speaks'),
)

#: Command -> argument -> what argparse is told of it.
_ARGUMENTS: Mapping[str, Mapping[str, dict[str, Any]]] = {
    'list': {'--json': {'action': 'store_true', 'help': 'for programs'}},
    'explain': {
        'type': {'nargs': '?', 'metavar': 'TYPE', 'help': 'one type only'}
    },
    'manifest': {
        '--microversion': {
            'metavar': 'X.Y',
            'help': 'only what that microversion of the API shows',
        }
    },
}


# What they say


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
        yield f'nobody serves {service.topic}'
        return
    maximum = view.maximum(service.topic, service.newest)
    because = f', because {maximum.reason}' if maximum.reason else ''
    yield f'highest microversion: {maximum.version}{because}'
    if view.held is not None:
        yield 'held: what is spoken does not rise until `finalize`'


def _explain_type(view: fleet.View, service: Service, name: str) -> Lines:
    cls = base.registered(name)
    spoken = view.cap(service.topic).get(name)
    yield f'{name}: {spoken or "not spoken"}; this build has {cls.VERSION}'
    for limit in view.limits(service.topic):
        if limit.type_name == name:
            yield f'microversion {limit.microversion} is not served:'
            yield f'  {limit.reason}'
    for member in view.servers(service.topic):
        yield (
            f'  {member.label} (release {member.release}) speaks'
            f' {member.manifest.get(name, "none")}; last seen'
            f' {member.age:.1f} s ago'
        )
    if view.held is not None:
        yield f'  held at {view.held.get(name, "none")}'


# Where the answers come from


def _service(name: str) -> Service:
    points = {
        point.name: point.value
        for point in importlib.metadata.entry_points(group=GROUP)
    }
    if name not in points:
        raise exceptions.VobjectsError(
            f'no service {exceptions.cut(name)}; there is'
            f' {", ".join(sorted(points)) or "none"}'
        )
    package = points[name]
    importlib.import_module(f'{package}.types')
    topics = importlib.import_module(f'{package}.topics')
    history = importlib.import_module(f'{package}.history')
    return Service(
        topics.EXCHANGE, topics.ENGINE, topics.ERROR_MODULES, history.MAXIMUM
    )


def _known(name: str) -> None:
    if name not in manifest.own():
        raise exceptions.VobjectsError(
            f'no type {exceptions.cut(name)}; `vobjects fleet manifest`'
            ' lists them'
        )


@contextlib.contextmanager
def _ledger(
    options: argparse.Namespace, service: Service
) -> Iterator[membership.RemoteLedger]:
    settings = cfg.ConfigOpts()
    settings([], project=_PROJECT, default_config_files=_files(options))
    ledger, close = caller.connect(
        settings, service.exchange, service.topic, service.error_modules
    )
    try:
        yield ledger
    finally:
        close()


def _files(options: argparse.Namespace) -> list[str]:
    own = (options.state_dir or state.default()) / 'vobjects.conf'
    files = options.config_file
    if not (files or options.state_dir or own.is_file()):
        files = [pathlib.Path(f) for f in cfg.find_config_files(_PROJECT)]
    files = files or [own]
    for file in files:
        if not file.is_file():
            raise exceptions.VobjectsError(
                f'{file} is not a file; say with --config-file or --state-dir'
                ' where the engines are'
            )
    return [str(file) for file in files]
