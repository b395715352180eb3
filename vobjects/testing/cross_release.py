# SPDX-License-Identifier: Apache-2.0
"""Transfer objects between two installed releases of a service.

This works for any service that uses oslo.versionedobjects. Every type that
exists in both releases is filled and sent in both directions, through the real
code of each side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from vobjects import exceptions
from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.model import version_key
from vobjects.testing import transfer_script

#: ``lost``: a value did not arrive, and no error was raised. ``mislabelled``:
#: a field arrived that the stated version does not have. ``refused``: the
#: receiver raised. ``crashed``: the sender raised.
Outcome = Literal['fine', 'lost', 'mislabelled', 'refused', 'crashed']

Direction = Literal['new to old', 'old to new']

#: ``error``: a process fails, or data that both releases have is lost.
#: ``warning``: the receiver ignores data. ``note``: the older release cannot
#: have the data.
Severity = Literal['error', 'warning', 'note']


@dataclasses.dataclass(frozen=True, slots=True)
class Transfer:
    """The transfer of one type in one direction.

    :ivar sender: version of the type at the sender
    :ivar receiver: version of the type at the receiver
    :ivar detail: the affected fields, or the error
    :ivar severity: of the outcome; ``note`` if it is ``fine``
    :ivar reason: why it has this outcome
    :ivar sent: when a service sends such an object
    """

    type_name: str
    direction: Direction
    sender: str
    receiver: str
    outcome: Outcome
    detail: str = ''
    severity: Severity = 'note'
    reason: str = ''
    sent: str = ''


class ReleaseProcess:
    """A process in the virtual environment of a release.

    :param directory: the virtual environment
    :param imports: modules or functions that register the types
    :raises vobjects.exceptions.VobjectsError: the environment cannot be used
    """

    def __init__(
        self, directory: pathlib.Path, imports: Sequence[str]
    ) -> None:
        self._directory = directory
        python = directory / 'bin' / 'python'
        if not python.exists():
            raise exceptions.VobjectsError(
                f'{directory} is not a virtual environment: it has no'
                f' {python.relative_to(directory)}'
            )
        self._process = subprocess.Popen(  # noqa: S603 - a chosen environment
            [
                str(python),
                '-W',
                'ignore',
                str(transfer_script.__file__),
                str(registries.__file__),
                str(samples.__file__),
                str(service_quirks.__file__),
                *imports,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.types: Mapping[str, Any] = self.call('types')

    def call(self, method: str, **arguments: Any) -> Any:
        """Call a method of the process and return its result.

        :param method: name of a method of
            ``vobjects.testing.transfer_script.TransferEndpoint``
        :raises RemoteError: the service's code raised an error
        :raises vobjects.exceptions.VobjectsError: the process ended
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = json.dumps({'method': method, **arguments})
        try:
            self._process.stdin.write(request + '\n')
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ''
        if not line:
            raise exceptions.VobjectsError(
                f'{self._directory}: the process ended: {self._last_error()}'
            )
        response = json.loads(line)
        if 'error' in response:
            raise RemoteError(response['error'])
        return response['result']

    def _last_error(self) -> str:
        _stdout, stderr = self._process.communicate()
        return next(iter(reversed(stderr.strip().splitlines())), 'no output')

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class RemoteError(Exception):
    """An error of a service's code, as text."""


def transfer_all(
    old: pathlib.Path, new: pathlib.Path, imports: Sequence[str]
) -> list[Transfer]:
    """Transfer every type between two environments, in both directions.

    Types that the service itself never reads are left out, and those whose
    class only a running service can instantiate.

    :param old: virtual environment of the older release
    :param new: virtual environment of the newer release
    :param imports: modules or functions that register the types in both
    :raises vobjects.exceptions.VobjectsError: an environment cannot be used
    """
    with contextlib.ExitStack() as stack:
        processes = []
        for directory in (old, new):
            processes.append(ReleaseProcess(directory, imports))
            stack.callback(processes[-1].close)
        return list(_transfers(*processes))


def _transfers(old: ReleaseProcess, new: ReleaseProcess) -> Iterator[Transfer]:
    for name in sorted(old.types.keys() & new.types.keys()):
        types = old.types[name], new.types[name]
        if not all(described['readable'] for described in types):
            continue  # the service only sends it, to other services
        majors = {version_key(described['version'])[0] for described in types}
        if len(majors) == 1:
            yield _send(name, 'new to old', new, old)
            yield _send(name, 'old to new', old, new)


def _send(
    name: str,
    direction: Direction,
    sender: ReleaseProcess,
    receiver: ReleaseProcess,
) -> Transfer:
    sent_type, read_type = sender.types[name], receiver.types[name]
    # A sender cannot exceed its own version; a receiver reads older ones.
    target = min(sent_type['version'], read_type['version'], key=version_key)

    def result(
        outcome: Outcome,
        detail: str = '',
        severity: Severity = 'note',
        reason: str = '',
        sent: str = '',
    ) -> Transfer:
        return Transfer(
            name,
            direction,
            sent_type['version'],
            read_type['version'],
            outcome,
            detail,
            severity,
            reason,
            sent,
        )

    def sent_when(affected: Collection[str]) -> str:
        if set(affected) <= set(sent_type['optional']):
            return 'only if a process sets an optional field'
        return 'by each process that sends the type'

    manifest = {
        inner: min(
            received['version'],
            sender.types[inner]['version'],
            key=version_key,
        )
        for inner, received in receiver.types.items()
        if inner in sender.types
    }
    try:
        sent = sender.call(
            'send', name=name, version=target, manifest=manifest
        )
    except RemoteError as error:
        return result(
            'crashed',
            str(error),
            'error',
            f'the sender cannot convert the object to {target}',
            sent_when(sent_type['fields']),
        )
    try:
        received = receiver.call('receive', primitive=sent['primitive'])
    except RemoteError as error:
        return result(
            'refused',
            str(error),
            'error',
            f'the receiver does not accept this object as {target}',
            'only with values that the receiver does not know'
            if sent_type['version'] == read_type['version']
            else sent_when(sent_type['fields']),
        )
    if target == read_type['version']:
        data = next(
            value
            for key, value in sent['primitive'].items()
            if key.endswith('.data')
        )
        unknown = sorted(set(data) - set(read_type['fields']))
        if unknown:
            return result(
                'mislabelled',
                ', '.join(unknown),
                'warning',
                f'{name} {target} has no such field; the sender does not drop'
                ' it, and the receiver ignores it',
                sent_when(unknown),
            )
    lost = sorted(
        field
        for field, value in sent['filled'].items()
        if value != 'None' and field not in received['fields']
    )
    if not lost:
        return result('fine')
    severity, reason = _judge_loss(lost, direction, read_type)
    return result('lost', ', '.join(lost), severity, reason, sent_when(lost))


def _judge_loss(
    lost: Collection[str], direction: Direction, read_type: Mapping[str, Any]
) -> tuple[Severity, str]:
    """Return the severity of a loss, and the reason."""
    if set(lost) & set(read_type['fields']):
        return 'error', 'both releases have the field, but it does not arrive'
    if direction == 'old to new':
        return 'warning', (
            'the newer release removed the field in a minor version, and'
            ' ignores it'
        )
    return 'note', 'the older release has no such field; the sender drops it'


def as_text(transfers: Sequence[Transfer]) -> Iterator[str]:
    """Yield lines for each transfer that is not fine, and a total."""
    problems = [result for result in transfers if result.outcome != 'fine']
    for problem in problems:
        yield (
            f'{problem.outcome:<11} {problem.type_name} {problem.sender} ->'
            f' {problem.receiver} ({problem.direction}): {problem.detail}'
        )
        yield f'    {problem.severity}: {problem.reason}'
        yield f'    sent {problem.sent}'
    without = len(transfers) - len(problems)
    yield f'{len(transfers)} transfers, {without} without problems'
