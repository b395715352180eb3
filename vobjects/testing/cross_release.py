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
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from vobjects import exceptions
from vobjects.lock import registries, samples, service_quirks
from vobjects.lock.model import version_key
from vobjects.testing import transfer

#: ``lost``: a value did not arrive, and no error was raised. ``mislabelled``:
#: a field arrived that the stated version does not have. ``refused``: the
#: receiver raised. ``crashed``: the sender raised.
Outcome = Literal['fine', 'lost', 'mislabelled', 'refused', 'crashed']

Direction = Literal['new to old', 'old to new']


@dataclasses.dataclass(frozen=True, slots=True)
class Transfer:
    """The transfer of one type in one direction.

    :ivar sender: version of the type at the sender
    :ivar receiver: version of the type at the receiver
    :ivar detail: the affected fields, or the error
    """

    type_name: str
    direction: Direction
    sender: str
    receiver: str
    outcome: Outcome
    detail: str = ''


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
                f'{directory} is no virtual environment: there is no {python}'
            )
        self._process = subprocess.Popen(  # noqa: S603 - as asked
            [
                str(python),
                '-W',
                'ignore',
                str(transfer.__file__),
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
        self.types: Mapping[str, Any] = self.ask('types')

    def ask(self, method: str, **arguments: Any) -> Any:
        """Call a method of the process and return its result.

        :param method: name of a method of
            :class:`vobjects.testing.transfer.TransferEndpoint`
        :raises Raised: the service's code raised an error
        :raises vobjects.exceptions.VobjectsError: the process ended
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = json.dumps({'do': method, **arguments})
        try:
            self._process.stdin.write(line + '\n')
            self._process.stdin.flush()
            answered = self._process.stdout.readline()
        except OSError:
            answered = ''
        if not answered:
            raise exceptions.VobjectsError(
                f'{self._directory}: the process ended: {self._last_words()}'
            )
        answer = json.loads(answered)
        if 'error' in answer:
            raise RemoteError(answer['error'])
        return answer['answer']

    def _last_words(self) -> str:
        _out, said = self._process.communicate()
        return next(iter(reversed(said.strip().splitlines())), 'no reason')

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

    Types that the service itself never reads are left out.

    :param old: virtual environment of the older release
    :param new: virtual environment of the newer release
    :param imports: modules or functions that register the types in both
    :raises vobjects.exceptions.VobjectsError: an environment cannot be used
    """
    with contextlib.ExitStack() as stack:
        sides = []
        for directory in (old, new):
            sides.append(ReleaseProcess(directory, imports))
            stack.callback(sides[-1].close)
        return list(_transfers(*sides))


def _transfers(old: ReleaseProcess, new: ReleaseProcess) -> Iterator[Transfer]:
    for name in sorted(old.types.keys() & new.types.keys()):
        before, after = old.types[name], new.types[name]
        if not (before['read'] and after['read']):
            continue  # the service only sends it, to other services
        if (
            version_key(before['version'])[0]
            == version_key(after['version'])[0]
        ):
            yield _send(name, 'new to old', new, old)
            yield _send(name, 'old to new', old, new)


def _send(
    name: str,
    direction: Direction,
    sender: ReleaseProcess,
    other: ReleaseProcess,
) -> Transfer:
    ours, theirs = sender.types[name], other.types[name]
    # A sender cannot exceed its own version; a receiver reads older ones.
    target = min(ours['version'], theirs['version'], key=version_key)

    def transfer(outcome: Outcome, detail: str = '') -> Transfer:
        return Transfer(
            name,
            direction,
            ours['version'],
            theirs['version'],
            outcome,
            detail,
        )

    spoken = {
        inner: min(
            known['version'], sender.types[inner]['version'], key=version_key
        )
        for inner, known in other.types.items()
        if inner in sender.types
    }
    try:
        sent = sender.ask('send', name=name, version=target, manifest=spoken)
    except RemoteError as error:
        return transfer('crashed', str(error))
    try:
        read = other.ask('receive', primitive=sent['primitive'])
    except RemoteError as error:
        return transfer('refused', str(error))
    if target == theirs['version']:
        data = next(
            value
            for key, value in sent['primitive'].items()
            if key.endswith('.data')
        )
        odd = sorted(set(data) - set(theirs['fields']))
        if odd:
            return transfer('mislabelled', ', '.join(odd))
    lost = sorted(
        field
        for field, value in sent['filled'].items()
        if value != 'None' and field not in read['has']
    )
    return transfer('lost', ', '.join(lost)) if lost else transfer('fine')


def as_text(transfers: Sequence[Transfer]) -> Iterator[str]:
    """Yield a line for each transfer that is not fine, and a total."""
    for one in transfers:
        if one.outcome != 'fine':
            yield (
                f'{one.outcome:<11} {one.type_name} {one.sender} ->'
                f' {one.receiver} ({one.direction}): {one.detail}'
            )
    fine = sum(one.outcome == 'fine' for one in transfers)
    yield f'{len(transfers)} transfers, {fine} without problems'
