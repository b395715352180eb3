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
from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Literal

from vobjects import exceptions
from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.model import version_key
from vobjects_releases import transfer_script

#: ``lost``: a value did not arrive, and no error was raised. ``mislabelled``:
#: a field arrived that the stated version does not have. ``refused``: the
#: receiver raised. ``crashed``: the sender raised. ``withheld``: the sender
#: raised an error on purpose, rather than drop data that the receiver lacks.
Outcome = Literal[
    'fine', 'lost', 'mislabelled', 'refused', 'crashed', 'withheld'
]

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
            ``vobjects_releases.transfer_script.TransferEndpoint``
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
            raise RemoteError(**response)
        return response['result']

    def _last_error(self) -> str:
        _stdout, stderr = self._process.communicate()
        return next(iter(reversed(stderr.strip().splitlines())), 'no output')

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class RemoteError(Exception):
    """An error of a service's code.

    :ivar is_refusal: whether the service raised it on purpose
    :ivar is_lossy: whether it is ``LossyDowngrade``
    """

    def __init__(self, type_name: str, error: str, refusal: bool) -> None:
        super().__init__(f'{type_name}: {error}')
        self.is_refusal = refusal
        self.is_lossy = type_name == exceptions.LossyDowngrade.__name__


def transfer_all(
    old: pathlib.Path,
    new: pathlib.Path,
    imports: Sequence[str],
    convert: bool = True,
    report: Callable[[Transfer], object] = lambda transfer: None,
) -> list[Transfer]:
    """Transfer every type between two environments, in both directions.

    Types that the service itself never reads are left out, and those whose
    class only a running service can instantiate.

    :param old: virtual environment of the older release
    :param new: virtual environment of the newer release
    :param imports: modules or functions that register the types in both
    :param convert: whether the sender converts objects to the versions of the
        receiver; if not, only types that are newer in ``new`` are transferred
    :param report: called after each transfer, to show progress
    :raises vobjects.exceptions.VobjectsError: an environment cannot be used
    """
    with contextlib.ExitStack() as stack:
        processes = []
        for directory in (old, new):
            processes.append(ReleaseProcess(directory, imports))
            stack.callback(processes[-1].close)
        transfers = []
        for transfer in (_transfers if convert else _unconverted)(*processes):
            report(transfer)
            transfers.append(transfer)
        return transfers


def _transfers(old: ReleaseProcess, new: ReleaseProcess) -> Iterator[Transfer]:
    for name in _shared_types(old, new):
        yield _Attempt(name, 'new to old', new, old).result()
        yield _Attempt(name, 'old to new', old, new).result()


def _unconverted(
    old: ReleaseProcess, new: ReleaseProcess
) -> Iterator[Transfer]:
    for name in _shared_types(old, new):
        if new.types[name]['version'] != old.types[name]['version']:
            yield _Attempt(name, 'new to old', new, old, False).result()


def _shared_types(old: ReleaseProcess, new: ReleaseProcess) -> Iterator[str]:
    """Yield the types that both releases can read."""
    for name in sorted(old.types.keys() & new.types.keys()):
        types = old.types[name], new.types[name]
        if not all(described['readable'] for described in types):
            continue  # the service only sends it, to other services
        majors = {version_key(described['version'])[0] for described in types}
        if len(majors) == 1:
            yield name


@dataclasses.dataclass(frozen=True, slots=True)
class _Attempt:
    """An attempt to transfer a type."""

    name: str
    direction: Direction
    sender: ReleaseProcess
    receiver: ReleaseProcess
    convert: bool = True
    variant: int = 0

    @property
    def _sent_type(self) -> Mapping[str, Any]:
        described: Mapping[str, Any] = self.sender.types[self.name]
        return described

    @property
    def _read_type(self) -> Mapping[str, Any]:
        described: Mapping[str, Any] = self.receiver.types[self.name]
        return described

    @property
    def _target(self) -> str:
        """The version to send: a sender cannot exceed its own version."""
        own: str = self._sent_type['version']
        known: str = self._read_type['version']
        return min(own, known, key=version_key) if self.convert else own

    def result(self) -> Transfer:
        """Transfer each variant of an instance, and return the worst result.

        The variants have each value of each enum that differs between both
        sides.
        """
        variants = self.sender.call(
            'variants', name=self.name, peer=self._known_types()
        )
        return max(
            (
                dataclasses.replace(self, variant=number)._variant_result()
                for number in range(variants)
            ),
            key=_rank,
        )

    def _variant_result(self) -> Transfer:
        """Transfer an instance with data that the receiver does not know.

        If this fails, transfer only data that both sides know.
        """
        transfer, error = self._transfer(known_only=False)
        if transfer.outcome == 'crashed' and error and error.is_refusal:
            if not error.is_lossy:
                repeated, _ = self._transfer(known_only=True)
                if repeated.outcome != 'fine':
                    return repeated
            return dataclasses.replace(
                transfer,
                outcome='withheld',
                severity='note',
                reason=f'{self._target} cannot hold this data; the sender'
                ' raises an error instead of dropping it',
                sent='without this data',
            )
        if transfer.outcome == 'refused' and error and error.is_lossy:
            return dataclasses.replace(
                transfer,
                severity='note',
                reason=f'{self._read_type["version"]} no longer supports this'
                ' data; the receiver raises an error instead of dropping it',
                sent=_ONLY_UNKNOWN,
            )
        if transfer.outcome == 'refused' and self.convert:
            repeated, _ = self._transfer(known_only=True)
            if repeated.outcome == 'fine' or (
                transfer.sender == transfer.receiver
            ):
                return dataclasses.replace(transfer, sent=_ONLY_UNKNOWN)
        return transfer

    def _result(
        self,
        outcome: Outcome,
        detail: str = '',
        severity: Severity = 'note',
        reason: str = '',
        fields: Collection[str] = (),
    ) -> Transfer:
        """Return a result; ``fields`` are those that it concerns."""
        sent = ''
        if fields:
            sent = 'by each process that sends the type'
            if set(fields) <= set(self._sent_type['optional']):
                sent = 'only if a process sets an optional field'
        return Transfer(
            self.name,
            self.direction,
            self._sent_type['version'],
            self._read_type['version'],
            outcome,
            detail,
            severity,
            reason,
            sent,
        )

    def _manifest(self) -> dict[str, str] | None:
        if not self.convert:
            return None
        return {
            inner: min(
                received['version'],
                self.sender.types[inner]['version'],
                key=version_key,
            )
            for inner, received in self.receiver.types.items()
            if inner in self.sender.types
        }

    def _known_types(self) -> dict[str, Any]:
        """Return the receiver's types, with the names of the sender."""
        types = {}
        for name, described in self.receiver.types.items():
            sent_type = self.sender.types.get(name, described)
            types[name] = {
                _name_at(field, described, sent_type): values
                for field, values in described['fields'].items()
            }
        return types

    def _transfer(
        self, known_only: bool
    ) -> tuple[Transfer, RemoteError | None]:
        """Return a result, and the error of the service, if any."""
        target, read_type = self._target, self._read_type
        try:
            sent = self.sender.call(
                'send',
                name=self.name,
                version=target,
                manifest=self._manifest(),
                peer=self._known_types(),
                known_only=known_only,
                variant=self.variant,
            )
        except RemoteError as error:
            transfer = self._result(
                'crashed',
                str(error),
                'error',
                f'the sender cannot convert the object to {target}',
                self._sent_type['fields'],
            )
            return transfer, error
        try:
            received = self.receiver.call(
                'receive', primitive=sent['primitive']
            )
        except RemoteError as error:
            transfer = self._result(
                'refused',
                str(error),
                'error',
                f'the receiver does not accept this object as {target}',
                self._sent_type['fields'],
            )
            return transfer, error
        return self._compare(sent, received, target, read_type), None

    def _compare(
        self,
        sent: Mapping[str, Any],
        received: Mapping[str, Any],
        target: str,
        read_type: Mapping[str, Any],
    ) -> Transfer:
        """Return the result of a transfer without an error."""
        if target == read_type['version']:
            data = next(
                value
                for key, value in sent['primitive'].items()
                if key.endswith('.data')
            )
            unknown = sorted(set(data) - set(read_type['fields']))
            if unknown:
                return self._result(
                    'mislabelled',
                    ', '.join(unknown),
                    'warning',
                    f'{self.name} {target} has no such field; the sender does'
                    ' not drop it, and the receiver ignores it',
                    unknown,
                )
        names = {
            field: _name_at(field, self._sent_type, read_type)
            for field in sent['filled']
        }
        lost = sorted(
            field
            for field, value in sent['filled'].items()
            if value != 'None' and names[field] not in received['fields']
        )
        if not lost:
            return self._result('fine')
        severity, reason = _judge_loss(
            {names[field] for field in lost}, self.direction, read_type
        )
        return self._result('lost', ', '.join(lost), severity, reason, lost)


def _rank(transfer: Transfer) -> int:
    """Return a number that is higher for worse results."""
    if transfer.outcome == 'fine':
        return 0
    return 1 + ('note', 'warning', 'error').index(transfer.severity)


def _name_at(
    field: str, own: Mapping[str, Any], other: Mapping[str, Any]
) -> str:
    """Return the name of a field at the other side.

    :param field: its name at one side
    :param own: the description of its type at that side
    :param other: the description at the other side
    """
    if field in other['fields']:
        return field
    for name, names in other['names'].items():
        if field in names or name in own['names'][field]:
            return str(name)
    return field


_ONLY_UNKNOWN = 'only with values that the receiver does not know'


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
