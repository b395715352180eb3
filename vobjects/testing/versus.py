# SPDX-License-Identifier: Apache-2.0
"""Two releases of a service, each in its environment, send to each other.

For any service on oslo.versionedobjects: every type that both have is filled
and sent across in both directions, through the real code of each side.
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
from vobjects.lock import registries, samples, sending
from vobjects.lock.model import order
from vobjects.testing import exchange

#: ``lost``: something that was said did not arrive, and nobody complained.
#: ``mislabelled``: a field arrived that the stated version does not have.
#: ``refused``: the receiver raised. ``crashed``: the sender did.
Outcome = Literal['fine', 'lost', 'mislabelled', 'refused', 'crashed']

Direction = Literal['new to old', 'old to new']


@dataclasses.dataclass(frozen=True, slots=True)
class Passage:
    """One type, sent in one direction.

    :ivar sender: the version that the sender has
    :ivar receiver: the version that the receiver has
    :ivar detail: the fields, or what was raised
    """

    type_name: str
    direction: Direction
    sender: str
    receiver: str
    outcome: Outcome
    detail: str = ''


class Environment:
    """A release in a virtual environment, as a process.

    :param directory: of the environment
    :param imports: what registers the types
    :raises vobjects.exceptions.VobjectsError: it cannot be used
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
                str(exchange.__file__),
                str(registries.__file__),
                str(samples.__file__),
                str(sending.__file__),
                *imports,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.types: Mapping[str, Any] = self.ask('types')

    def ask(self, method: str, **arguments: Any) -> Any:
        """Return what the side answers.

        :raises Raised: the service's code raised
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
            raise Raised(answer['error'])
        return answer['answer']

    def _last_words(self) -> str:
        _out, said = self._process.communicate()
        return next(iter(reversed(said.strip().splitlines())), 'no reason')

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class Raised(Exception):
    """What the code of a service raised, as text."""


def versus(
    old: pathlib.Path, new: pathlib.Path, imports: Sequence[str]
) -> list[Passage]:
    """Return how every type fares between two environments.

    Types that the service cannot read itself are left out.

    :raises vobjects.exceptions.VobjectsError: one of them cannot be used
    """
    with contextlib.ExitStack() as stack:
        sides = []
        for directory in (old, new):
            sides.append(Environment(directory, imports))
            stack.callback(sides[-1].close)
        return list(_passages(*sides))


def _passages(old: Environment, new: Environment) -> Iterator[Passage]:
    for name in sorted(old.types.keys() & new.types.keys()):
        before, after = old.types[name], new.types[name]
        if not (before['read'] and after['read']):
            continue  # only ever sent, to somebody else
        if order(before['version'])[0] == order(after['version'])[0]:
            yield _send(name, 'new to old', new, old)
            yield _send(name, 'old to new', old, new)


def _send(
    name: str, direction: Direction, sender: Environment, other: Environment
) -> Passage:
    ours, theirs = sender.types[name], other.types[name]
    # A sender cannot say more than it has; a receiver reads what is older.
    target = min(ours['version'], theirs['version'], key=order)

    def passage(outcome: Outcome, detail: str = '') -> Passage:
        return Passage(
            name,
            direction,
            ours['version'],
            theirs['version'],
            outcome,
            detail,
        )

    spoken = {
        inner: min(known['version'], sender.types[inner]['version'], key=order)
        for inner, known in other.types.items()
        if inner in sender.types
    }
    try:
        sent = sender.ask('send', name=name, version=target, manifest=spoken)
    except Raised as error:
        return passage('crashed', str(error))
    try:
        read = other.ask('receive', primitive=sent['primitive'])
    except Raised as error:
        return passage('refused', str(error))
    if target == theirs['version']:
        data = next(
            value
            for key, value in sent['primitive'].items()
            if key.endswith('.data')
        )
        odd = sorted(set(data) - set(theirs['fields']))
        if odd:
            return passage('mislabelled', ', '.join(odd))
    lost = sorted(
        field
        for field, value in sent['filled'].items()
        if value != 'None' and field not in read['has']
    )
    return passage('lost', ', '.join(lost)) if lost else passage('fine')


def as_text(passages: Sequence[Passage]) -> Iterator[str]:
    """Yield a line for each passage that is not fine, and a sum."""
    for one in passages:
        if one.outcome != 'fine':
            yield (
                f'{one.outcome:<11} {one.type_name} {one.sender} ->'
                f' {one.receiver} ({one.direction}): {one.detail}'
            )
    fine = sum(one.outcome == 'fine' for one in passages)
    yield f'{len(passages)} passages, {fine} fine'
