# SPDX-License-Identifier: Apache-2.0
"""Try every microversion with every release.

The API is this build. For each release, an
:class:`vobjects_testing.emulated_peer.EmulatedPeer` stands for an engine. The
matrix computes the microversions that the API would offer with that engine.
For each of them, every request type is filled with the fields of the
microversion, sent, and read by the engine. Every response type is written by
the engine, and read and rendered by the API.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from vobjects import exceptions, objects  # isort: skip - before oslo loads
from oslo_versionedobjects import base as ovo_base

from vobjects.fields import is_required
from vobjects.lock import installed_locks, registries, samples
from vobjects.lock.model import Lock
from vobjects.objects import manifest
from vobjects.objects.manifest import Manifest
from vobjects.rpc import fleet, serializer
from vobjects.versions import Version
from vobjects_testing.emulated_peer import EmulatedPeer

#: ``served``: all data arrives. ``refused``: the API does not offer the
#: microversion. ``broken``: the API offers it, but some data does not arrive.
Outcome = Literal['served', 'refused', 'broken']

_TOPIC = 'engine'


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One microversion with one release.

    :ivar requests: number of request types sent
    :ivar responses: number of response types read
    :ivar notes: the reason for ``refused``, or the problems of ``broken``
    :ivar losses: fields that the microversion shows but responses omit
    :ivar rejected: fields whose value a request rejects, because the type has
        dropped them or cannot convert the value
    """

    release: str
    microversion: Version
    outcome: Outcome
    requests: int = 0
    responses: int = 0
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()

    @property
    def details(self) -> tuple[str, ...]:
        """The notes, and the losses and rejected fields as sentences."""
        details = list(self.notes)
        if self.losses:
            details.append(f'responses omit {", ".join(self.losses)}')
        if self.rejected:
            details.append(f'requests reject {", ".join(self.rejected)}')
        return tuple(details)


def matrix(lock: Lock, microversions: Sequence[Version]) -> Iterator[Cell]:
    """Yield a cell for each release and microversion.

    Import the types of the lock first.

    :param lock: the lock with the releases
    :param microversions: microversions of the API, oldest first
    """
    for release in lock.releases:
        column = _Column(release, lock.at(release), microversions[-1])
        for microversion in microversions:
            yield column.cell(microversion)


class _Column:
    """A release, with every microversion."""

    def __init__(self, release: str, lock: Lock, newest: Version) -> None:
        self._release = release
        self._peer = EmulatedPeer(lock)
        self._manifest = installed_locks.declared_manifest(lock)
        member = fleet.Member(
            id=release,
            binary='engine',
            host='emulated',
            topic=_TOPIC,
            release=release,
            manifest=self._manifest,
            state='up',
        )
        self._shared: dict[Version, samples.KnownTypes] = {}
        view = fleet.View(1, fleet.group_members([member]))
        self._maximum = view.maximum(_TOPIC, newest)

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
        responses: list[str] = []
        broken: list[str] = []
        losses: list[str] = []
        rejected: list[str] = []
        sent_versions = self._sent_versions(microversion)
        for cls in self._types():
            if cls.version_at(microversion) is None:
                continue
            try:
                if issubclass(cls, objects.Request):
                    requests.append(cls.obj_name())
                    rejected += self._send_request(
                        cls, microversion, sent_versions
                    )
                else:
                    responses.append(cls.obj_name())
                    losses += self._receive_response(cls, microversion)
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
            len(responses),
            tuple(broken),
            tuple(losses),
            tuple(rejected),
        )

    def _types(self) -> list[type[objects.Object]]:
        return [
            cls
            for cls in objects.registered_types()
            if issubclass(cls, (objects.Request, objects.Resource))
            and cls.obj_name() in self._peer.lock.types
        ]

    def _sent_versions(self, microversion: Version) -> Manifest:
        """Return the versions that the API sends for a microversion."""
        shown = manifest.at_microversion(microversion)
        own = manifest.local()
        return Manifest(
            {
                name: min(
                    (own[name], version, shown.get(name, version)),
                    key=Version.parse,
                )
                for name, version in self._manifest.items()
                if name in own
            }
        )

    def _send_request(
        self,
        cls: type[objects.Object],
        microversion: Version,
        versions: Manifest,
    ) -> list[str]:
        """Send requests with the fields of a microversion, as the API does.

        :returns: the fields whose value the type rejects by declaration
        """
        names: dict[str, None] = {}
        for variant in samples.variants(self._shared_enums(microversion)):
            names |= dict.fromkeys(
                self._send_variant(cls, microversion, versions, variant)
            )
        return list(names)

    def _send_variant(
        self,
        cls: type[objects.Object],
        microversion: Version,
        versions: Manifest,
        variant: samples.Peer,
    ) -> list[str]:
        rejected: list[tuple[str, str]] = []
        request = None
        while request is None:
            form = _filled(cls, microversion, rejected, variant)
            try:
                request = cls.obj_from_primitive(form)
            except exceptions.LossyDowngrade as error:
                name = (error.type_name, error.field)
                if name in rejected:
                    raise
                rejected.append(name)
                if _is_required(*name, microversion):
                    break
        names = ['.'.join(name) for name in rejected]
        if request is not None:
            sent = serializer.to_wire(request, versions)
            self._peer.read(json.loads(json.dumps(sent)))
        return names

    def _shared_enums(self, microversion: Version) -> samples.KnownTypes:
        """Return the values of enums that no version or release lacks."""
        if microversion not in self._shared:
            self._shared[microversion] = {
                name: _common_values(
                    self._peer.class_of(name).fields,
                    *_forms(name, microversion),
                )
                for name in self._peer.lock.types
            }
        return self._shared[microversion]

    def _receive_response(
        self, cls: type[objects.Object], microversion: Version
    ) -> list[str]:
        losses: dict[str, None] = {}
        for variant in samples.variants(self._shared_enums(microversion)):
            losses |= dict.fromkeys(
                self._receive_variant(cls, microversion, variant)
            )
        return list(losses)

    def _receive_variant(
        self,
        cls: type[objects.Object],
        microversion: Version,
        variant: samples.Peer,
    ) -> list[str]:
        response: Any = samples.fill(
            self._peer.class_of(cls.obj_name()),
            'full',
            self._peer.find,
            peer=variant,
        )
        wire = json.loads(json.dumps(response.obj_to_primitive()))
        resource = serializer.from_wire(wire)
        shows = manifest.at_microversion(microversion)
        plain = objects.to_json(resource, {**manifest.local(), **shows})
        shown = Version.parse(cls.version_at(microversion) or '1.0')
        expected = cls.fields_at(str(shown))
        unknown = sorted(plain.keys() - expected.keys())
        if unknown:
            raise exceptions.UnknownField(
                cls.obj_name(), unknown[0], microversion
            )
        known = self._peer.lock.newest(cls.obj_name())
        assert known is not None
        return [
            f'{cls.obj_name()}.{name}'
            for name in sorted(expected.keys() - plain.keys())
            if known.field(
                cls._history.name_at(name, shown, Version.parse(known.version))
                or ''
            )
            is None
        ]


def _forms(name: str, microversion: Version) -> Iterator[Mapping[str, Any]]:
    """Yield the fields of a type in this build, and at a microversion."""
    newest = registries.newest(name)
    if newest is not None:
        yield newest.fields
        if issubclass(newest, objects.Object):
            version = newest.version_at(microversion)
            if version is not None:
                yield newest.fields_at(version)


def _common_values(
    *forms: Mapping[str, Any],
) -> dict[str, frozenset[str] | None]:
    """Return name of an enum -> the values that all forms accept."""
    common: dict[str, frozenset[str] | None] = {}
    for form in forms:
        for name, field in form.items():
            values = samples.enum_values(field._type)
            if values is not None:
                shared = common.get(name)
                common[name] = frozenset(
                    values if shared is None else shared & {*values}
                )
    return common


def _is_required(
    type_name: str, field_name: str, microversion: Version
) -> bool:
    """Return whether a request must contain a field at a microversion."""
    cls = registries.newest(type_name)
    assert cls is not None
    assert issubclass(cls, objects.Object)
    version = cls.version_at(microversion)
    assert version is not None
    return is_required(cls.fields_at(version)[field_name])


def _filled(
    cls: type[objects.Object],
    microversion: Version,
    without: Collection[tuple[str, str]],
    variant: samples.Peer,
) -> dict[str, Any]:
    """Return a filled primitive with the fields that a microversion has.

    :param without: (type, field) that stay unset
    :param variant: see :func:`vobjects.lock.samples.variants`
    """

    def form_of(name: str) -> type[ovo_base.VersionedObject] | None:
        newest = registries.newest(name)
        if newest is None or not issubclass(newest, objects.Object):
            return newest
        version = newest.version_at(microversion)
        return None if version is None else old_form(newest, version)

    def old_form(
        newest: type[objects.Object], version: str
    ) -> type[ovo_base.VersionedObject]:
        name = newest.obj_name()
        form = type(
            name,
            (ovo_base.VersionedObject,),
            {
                'VERSION': version,
                'OBJ_PROJECT_NAMESPACE': newest.OBJ_PROJECT_NAMESPACE,
                'fields': {
                    key: field
                    for key, field in newest.fields_at(version).items()
                    if (name, key) not in without
                },
                '__module__': newest.__module__,
            },
        )
        ovo_base._make_class_properties(form)
        return form

    form = old_form(cls, cls.version_at(microversion) or '1.0')
    primitive: dict[str, Any] = samples.fill(
        form, 'full', form_of, peer=variant
    ).obj_to_primitive()
    return primitive
