# SPDX-License-Identifier: Apache-2.0
"""Run the commands that :mod:`vobjects.cli.fleet` describes."""

from __future__ import annotations

import argparse
import collections
import contextlib
import getpass
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, objects, suggestions
from vobjects.cli import arguments, output, settings
from vobjects.cli.fleet import LISTED
from vobjects.objects import manifest
from vobjects.rpc import client_process, fleet
from vobjects.rpc.ledger import RemoteLedger
from vobjects.service import Service
from vobjects.versions import Version

_COLUMNS = ('ID', 'WHAT', 'HOST', 'TOPIC', 'RELEASE', 'STATE', 'MANIFEST')

#: State of a process -> style.
_STYLES = {'up': 'good', 'joining': 'warning', 'draining': 'warning'}

Lines = Iterator[str]

#: JSON data, and the same as lines for people.
Result = tuple[Any, Iterable[str]]


def run(name: str, options: argparse.Namespace) -> int:
    """Run a command, and print its result."""
    service = arguments.service_of(options)
    data, lines = _COMMANDS[name](options, service)
    output.show(options, data, lines)
    return 0


def live_cap(
    conf: cfg.ConfigOpts, service: Service
) -> manifest.Manifest | None:
    """Return the versions in use; None if no server is alive."""
    try:
        with _connected(conf, service) as ledger:
            return ledger.get().cap(service.topic)
    except exceptions.NoLivePeer:
        return None


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
    if options.type not in (None, *manifest.local()):
        raise exceptions.VobjectsError(
            f'no type {exceptions.cut(options.type)};'
            f' {suggestions.suggest(options.type, manifest.local())}'
        )
    with _ledger(options, service) as ledger:
        view = ledger.get()
        members = ledger.members(LISTED)
    if options.type is not None:
        servers = [m for m in members if m.topic == service.topic]
        return _type_data(view, servers, service, options.type), _type_lines(
            view, servers, service, options.type
        )
    return _summary_data(view, service), [
        *_summary(view, service),
        *(
            f'below {limit.microversion}: {limit.explanation}'
            for limit in view.limits(service.topic)[1:]
        ),
    ]


def _hold(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        view = ledger.hold(
            service.topic, options.owner or _login(), options.reason
        )
    return _summary_data(view, service), _summary(view, service)


def _login() -> str:
    """Return the login name and the host, such as ``alice@ops1``."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # as in a container with its own user ID
        name = str(os.getuid())
    return f'{name}@{socket.gethostname()}'


def _finalize(options: argparse.Namespace, service: Service) -> Result:
    with _ledger(options, service) as ledger:
        view = ledger.finalize()
    return _summary_data(view, service), _summary(view, service)


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


_COMMANDS = {
    'list': _list,
    'explain': _explain,
    'hold': _hold,
    'finalize': _finalize,
    'manifest': _manifest,
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
    data = _summary_data(view, service)
    because = f', because {data["reason"]}' if data['reason'] else ''
    yield f'highest microversion: {data["max_microversion"]}{because}'
    if view.held is not None:
        yield (
            f'held{_by(view)}: versions do not rise until "vobjects fleet'
            ' finalize"'
        )


def _by(view: fleet.View) -> str:
    """Return who holds the versions, to follow "held"; may be empty."""
    return f' {view.hold_origin.label}' if view.hold_origin else ''


def _summary_data(view: fleet.View, service: Service) -> dict[str, Any]:
    data = fleet.to_json(view, service.topic, service.maximum, [])
    names = ('max_microversion', 'reason', 'held', 'hold_origin', 'limits')
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
            yield f'  {limit.explanation}'
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
        yield f'  held at {view.held.get(name, "none")}{_by(view)}'


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
        'hold_origin': data['hold_origin'],
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


def _ledger(
    options: argparse.Namespace, service: Service
) -> contextlib.AbstractContextManager[RemoteLedger]:
    return _connected(settings.read(cfg.ConfigOpts(), options), service)


@contextlib.contextmanager
def _connected(
    conf: cfg.ConfigOpts, service: Service
) -> Iterator[RemoteLedger]:
    settings.require_bus(conf)
    ledger, close = client_process.connect_to_ledger(conf, service)
    try:
        yield ledger
    finally:
        close()
