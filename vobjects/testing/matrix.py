# SPDX-License-Identifier: Apache-2.0
"""Try every microversion with every release.

The API is this build. For each release, an
:class:`vobjects.testing.emulated_peer.EmulatedPeer` stands for an engine. The
matrix computes the microversions that the API would offer with that engine.
For each of them, every request type is filled with the fields of the
microversion, sent, and read by the engine. Every response type is written by
the engine, and read and rendered by the API.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from vobjects import exceptions, objects
from vobjects.lock import installed_locks, registries, samples
from vobjects.lock.model import Lock
from vobjects.objects import manifest
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet, serializer
from vobjects.testing.emulated_peer import EmulatedPeer
from vobjects.versions import Version

#: ``served``: all data arrives. ``refused``: the API does not offer the
#: microversion. ``broken``: the API offers it, but some data does not arrive.
Outcome = Literal['served', 'refused', 'broken']

_TOPIC = 'engine'


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One microversion with one release.

    :ivar requests: number of request types sent
    :ivar answers: number of response types read
    :ivar notes: the reason for ``refused``, or the problems of ``broken``
    :ivar losses: fields that the microversion shows but responses omit
    """

    release: str
    microversion: Version
    outcome: Outcome
    requests: int = 0
    answers: int = 0
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()


def matrix(lock: Lock, microversions: Sequence[Version]) -> Iterator[Cell]:
    """Yield a cell for each release and microversion.

    Import the types of the lock first.

    :param lock: the lock with the releases
    :param microversions: microversions of the API, oldest first
    """
    for release in lock.releases:
        then = lock.at(release)
        column = _Column(release, then, microversions[-1])
        for microversion in microversions:
            yield column.cell(microversion)


class _Column:
    """A release, with every microversion."""

    def __init__(self, release: str, then: Lock, newest: Version) -> None:
        self._release = release
        self._peer = EmulatedPeer(then)
        self._known = installed_locks.declared_manifest(then)
        member = fleet.Member(
            id=release,
            binary='engine',
            host='emulated',
            topic=_TOPIC,
            release=release,
            manifest=self._known,
            state='up',
        )
        self._maximum = fleet.View(1, (member,)).maximum(_TOPIC, newest)

    def cell(self, microversion: Version) -> Cell:
        """Try one microversion with the release."""
        if microversion > self._maximum.version:
            return Cell(
                self._release,
                microversion,
                'refused',
                notes=(self._maximum.reason,),
            )
        requests: list[str] = []
        answers: list[str] = []
        broken: list[str] = []
        losses: list[str] = []
        spoken = self._spoken(microversion)
        for cls in self._types():
            if cls.version_at(microversion) is None:
                continue
            kind = requests if issubclass(cls, objects.Request) else answers
            kind.append(cls.obj_name())
            try:
                if kind is requests:
                    self._ask(cls, microversion, spoken)
                else:
                    losses += self._answer(cls, microversion)
            except Exception as error:  # noqa: BLE001 - any is a finding
                broken.append(
                    f'{cls.obj_name()}: {type(error).__name__}:'
                    f' {str(error).splitlines()[0] if str(error) else ""}'
                )
        return Cell(
            self._release,
            microversion,
            'broken' if broken else 'served',
            len(requests),
            len(answers),
            tuple(broken),
            tuple(losses),
        )

    def _types(self) -> list[type[objects.Object]]:
        return [
            cls
            for cls in objects.registered_types()
            if issubclass(cls, (objects.Request, objects.Resource))
            and cls.obj_name() in self._peer.lock.types
        ]

    def _spoken(self, microversion: Version) -> Manifest:
        """Return the versions that the API sends for a microversion."""
        shown = manifest.at_microversion(microversion)
        own = manifest.local()
        return Manifest(
            {
                name: min(
                    (own[name], version, shown.get(name, version)),
                    key=Version.parse,
                )
                for name, version in self._known.items()
                if name in own
            }
        )

    def _ask(
        self,
        cls: type[objects.Object],
        microversion: Version,
        spoken: Manifest,
    ) -> None:
        request: Any = samples.fill(cls, 'full', registries.newest)
        shown = cls.fields_at(cls.version_at(microversion) or '1.0')
        for name in cls.fields:
            if name not in shown and request.obj_attr_is_set(name):
                delattr(request, name)
        wire = json.loads(json.dumps(serializer.to_wire(request, spoken)))
        self._peer.read(wire)

    def _answer(
        self, cls: type[objects.Object], microversion: Version
    ) -> list[str]:
        made: Any = samples.fill(
            self._peer.class_of(cls.obj_name()), 'full', self._peer.find
        )
        wire = json.loads(json.dumps(made.obj_to_primitive()))
        read = serializer.from_wire(wire)
        shows = manifest.at_microversion(microversion)
        plain = objects.to_json(read, {**manifest.local(), **shows})
        expected = cls.fields_at(cls.version_at(microversion) or '1.0')
        unknown = sorted(plain.keys() - expected.keys())
        if unknown:
            raise exceptions.UnknownField(
                cls.obj_name(), unknown[0], microversion
            )
        known = self._peer.lock.newest(cls.obj_name())
        filled = {name for name in cls.fields if name in plain}
        return [
            f'{cls.obj_name()}.{name}'
            for name in sorted(expected.keys() - filled)
            if known is not None and known.field(name) is None
        ]


def as_text(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a table, then the details of the cells.

    :param cells: the cells of the matrix
    """
    table = _table(cells)
    width = max(7, *map(len, table)) if table else 7
    yield ' '.join(['microversion', *(f'{r:>{width}}' for r in table)])
    for microversion in sorted({cell.microversion for cell in cells}):
        row = [
            f'{table[release][microversion].outcome:>{width}}'
            for release in table
        ]
        yield ' '.join([f'{microversion!s:<12}', *row])
    for cell in cells:
        for note in (*cell.notes, *_lost(cell)):
            yield f'{cell.release} at {cell.microversion}: {note}'


def _lost(cell: Cell) -> tuple[str, ...]:
    return (
        (f'answers leave out {", ".join(cell.losses)}',) if cell.losses else ()
    )


def _table(cells: Sequence[Cell]) -> Mapping[str, Mapping[Version, Cell]]:
    found: dict[str, dict[Version, Cell]] = {}
    for cell in cells:
        found.setdefault(cell.release, {})[cell.microversion] = cell
    return found
