# SPDX-License-Identifier: Apache-2.0
"""Implement ``vobjects fleet``: show the live processes and their versions.

A server responds, over the transport that the configuration names. Its service
is declared by a :class:`vobjects.service.Service`.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, objects, suggestions
from vobjects import service as services
from vobjects.cli import arguments, output, settings
from vobjects.cli.parser import Command, Parser, whole_number
from vobjects.objects import manifest
from vobjects.rpc import client_process, fleet
from vobjects.rpc.ledger import RemoteLedger
from vobjects.service import Service
from vobjects.versions import Version

#: Largest number of processes that ``list --limit`` accepts.
MAX_LISTED = 10_000

_COLUMNS = ('ID', 'WHAT', 'HOST', 'TOPIC', 'RELEASE', 'STATE', 'MANIFEST')

#: State of a process -> style.
_STYLES = {'up': 'good', 'joining': 'warning'}

Lines = Iterator[str]

#: JSON data, and the same as lines for people.
Result = tuple[Any, Iterable[str]]


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects fleet',
        description='Show the live processes and the versions that they'
        ' support.',
        notes='Exit codes: 0 success; 1 no server responds; 2 invalid'
        ' arguments or configuration.',
    )
    parser.add_commands(_COMMANDS)
    return parser


#: The command ``vobjects fleet``.
main = Command(_parser)


# The commands


def _list(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        view = ledger.get()
        members = ledger.members(options.limit)
    members.sort(key=lambda m: (m.topic, m.release, m.host, m.id))
    data = fleet.to_json(view, service.topic, service.maximum, members)

    def lines() -> Lines:
        yield from output.table(_COLUMNS, map(_row, members), styles=_STYLES)
        yield ''
        if len(members) < view.count():
            yield (
                f'{view.count()} processes; the {len(members)} with the oldest'
                ' heartbeats are listed'
            )
        yield from _summary(view, service)

    return data, lines()


def _explain(options: argparse.Namespace, service: Service) -> Result:
    if options.type is not None:
        _check_type(options.type)
    with _ledger(options, service) as ledger:
        view = ledger.get()
        members = ledger.members(client_process.LISTED_MEMBERS)
    if options.type is not None:
        servers = [m for m in members if m.topic == service.topic]
        return _type_data(view, servers, service, options.type), _type_lines(
            view, servers, service, options.type
        )
    return _summary_data(view, service), [
        *_summary(view, service),
        *(
            f'below {limit.microversion}: {limit.reason}'
            for limit in view.limits(service.topic)[1:]
        ),
    ]


def _hold(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        view = ledger.hold(service.topic)
    return _summary_data(view, service), _summary(view, service)


def _finalize(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        view = ledger.finalize()
    return _summary_data(view, service), _summary(view, service)


def _remove(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        members = [
            member
            for member in ledger.members(MAX_LISTED)
            if member.id.startswith(options.id)
        ]
        if len(members) != 1:
            what = 'several processes' if members else 'no process'
            raise exceptions.VobjectsError(
                f'{what} with ID {exceptions.cut(options.id)}; "vobjects fleet'
                ' list -o json" prints the IDs'
            )
        ledger.leave(members[0].id)
    return {'removed': members[0].id}, [f'removed {members[0].label}']


def _manifest(options: argparse.Namespace, service: Service) -> Result:
    if not (named := options.microversion):
        versions_ = manifest.local()
    else:
        versions_ = manifest.at_microversion(
            arguments.microversion(named, map(Version.parse, service.history))
        )
    return dict(versions_), output.table(
        ('TYPE', 'VERSION'), versions_.items()
    )


# Arguments


def _command(
    command: Callable[[argparse.Namespace, Service], Result],
    more: str = '',
    *,
    examples: Sequence[str],
    add_arguments: Callable[[Parser], None] = lambda parser: None,
    is_local: bool = False,
    default: str = output.TABLE,
) -> Callable[[Parser], None]:
    """Return a function that configures the parser of a command.

    :param is_local: whether the command needs no running service
    """

    def run(options: argparse.Namespace) -> int:
        service = services.find(options.service or services.only())
        service.load_types()
        data, lines = command(options, service)
        output.show(options, data, lines)
        return 0

    def configure(parser: Parser) -> None:
        parser.describe(more, examples=examples)
        parser.set_defaults(run=run)
        add_arguments(parser)
        output.add_option(parser, default=default)
        arguments.add_service(parser)
        if not is_local:
            settings.add_options(parser)

    return configure


def _add_limit(parser: Parser) -> None:
    parser.add_argument(
        '--limit',
        type=whole_number(1, MAX_LISTED),
        default=client_process.LISTED_MEMBERS,
        metavar='N',
        help='list at most N processes, those with the oldest heartbeats'
        ' (default: %(default)s)',
    )


def _add_type(parser: Parser) -> None:
    parser.add_argument(
        'type',
        nargs='?',
        metavar='TYPE',
        help='show only the versions of this type',
    )


def _add_id(parser: Parser) -> None:
    parser.add_argument(
        'id', metavar='ID', help='ID of the process, or its beginning'
    )


def _add_microversion(parser: Parser) -> None:
    parser.add_argument(
        'microversion',
        nargs='?',
        metavar='MICROVERSION',
        help='print only the versions of this microversion of the API, such'
        ' as 1.7 (default: the newest versions)',
    )


_COMMANDS = {
    'list': (
        'list the live processes, and the highest microversion they support',
        _command(
            _list,
            examples=['vobjects fleet list -o json'],
            add_arguments=_add_limit,
        ),
    ),
    'explain': (
        'explain why microversions are not served, and name the processes',
        _command(
            _explain,
            examples=[
                'vobjects fleet explain',
                'vobjects fleet explain ClusterDeleteRequest',
            ],
            add_arguments=_add_type,
        ),
    ),
    'hold': (
        'keep the object versions in use from rising',
        _command(
            _hold,
            'Use a hold while you may have to roll back an upgrade: processes'
            ' send and store nothing in a version that the older release'
            ' cannot read.',
            examples=['vobjects fleet hold'],
        ),
    ),
    'finalize': (
        'end a hold: the versions in use follow the live processes again',
        _command(_finalize, examples=['vobjects fleet finalize']),
    ),
    'remove': (
        'remove a process that has died',
        _command(
            _remove,
            'Engines remove dead processes by themselves. A process that lives'
            ' appears again with its next heartbeat.',
            examples=['vobjects fleet remove 0c1d2e3f'],
            add_arguments=_add_id,
        ),
    ),
    'manifest': (
        'print the manifest of this build, without contacting a server',
        _command(
            _manifest,
            '"vobjects engine --manifest" and the option "engine" of'
            ' [upgrade_levels] read the JSON form.',
            examples=['vobjects fleet manifest 1.7 > old.json'],
            add_arguments=_add_microversion,
            is_local=True,
            default=output.JSON,
        ),
    ),
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


def _summary(view: fleet.View, service: Service) -> Lines:
    if not view.servers(service.topic):
        yield f'no live process serves {service.topic}'
        return
    maximum = view.maximum(service.topic, service.maximum)
    because = f', because {maximum.reason}' if maximum.reason else ''
    yield f'highest microversion: {maximum.version}{because}'
    if view.held is not None:
        yield 'held: versions do not rise until "vobjects fleet finalize"'


def _summary_data(view: fleet.View, service: Service) -> dict[str, Any]:
    data = fleet.to_json(view, service.topic, service.maximum, [])
    names = ('max_microversion', 'reason', 'held', 'limits')
    return {name: data[name] for name in names}


def _type_lines(
    view: fleet.View,
    servers: Sequence[fleet.Member],
    service: Service,
    name: str,
) -> Lines:
    cls = objects.registered_type(name)
    cap = view.cap(service.topic).get(name)
    yield f'{name}: {cap or "not supported"}; this build has {cls.VERSION}'
    for limit in view.limits(service.topic):
        if limit.type_name == name:
            yield f'microversion {limit.microversion} is not served:'
            yield f'  {limit.reason}'
    unlisted: collections.Counter[manifest.Manifest] = collections.Counter()
    for group in view.servers(service.topic):
        unlisted[group.manifest] += group.count
    for member in servers:
        unlisted[member.manifest] -= 1
        yield (
            f'  {member.label} (release {member.release}) supports'
            f' {member.manifest.get(name, "none")}; last seen'
            f' {member.age:.1f} s ago'
        )
    for supported, count in unlisted.items():
        if count > 0:
            yield f'  {count} more support {supported.get(name, "none")}'
    if view.held is not None:
        yield f'  held at {view.held.get(name, "none")}'


def _type_data(
    view: fleet.View,
    servers: Sequence[fleet.Member],
    service: Service,
    name: str,
) -> dict[str, Any]:
    data = fleet.to_json(view, service.topic, service.maximum, [])
    return {
        'type': name,
        'cap': view.cap(service.topic).get(name),
        'this_build': objects.registered_type(name).VERSION,
        'held': None if view.held is None else view.held.get(name),
        'limits': [item for item in data['limits'] if item['type'] == name],
        'servers': [
            {
                'id': member.id,
                'binary': member.binary,
                'host': member.host,
                'release': member.release,
                'version': member.manifest.get(name),
                'age': member.age,
            }
            for member in servers
        ],
    }


# The service and its ledger


def _check_type(name: str) -> None:
    if name not in manifest.local():
        raise exceptions.VobjectsError(
            f'no type {exceptions.cut(name)};'
            f' {suggestions.suggest(name, manifest.local())}'
        )


@contextlib.contextmanager
def _ledger(
    options: argparse.Namespace, service: Service
) -> Iterator[RemoteLedger]:
    conf = settings.read(cfg.ConfigOpts(), options)
    settings.require_bus(conf)
    ledger, close = client_process.connect_to_ledger(conf, service)
    try:
        yield ledger
    finally:
        close()
