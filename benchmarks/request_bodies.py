# SPDX-License-Identifier: Apache-2.0
"""Measure the conversion of a request body from bytes to a request object.

The peer is Senlin's scheme (``senlin.api.common.util.parse_request``),
reimplemented here from its description. It constructs an object from the body,
derives a JSON schema from its class and validates the primitive with
``jsonschema.validate``. For an older API version, it constructs the object
again. Measurements of both sides alternate, and the ratio is the median of all
pairs. Compare the ratios; absolute figures depend on the machine.

    python benchmarks/request_bodies.py
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import vobjects.objects  # isort: skip  # noqa: F401 - must be imported first
import jsonschema
from oslo_config import cfg
from oslo_utils import versionutils
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields

from api import authentication, policy, request_builder, routes
from api import conf as api_conf
from api.service import Service
from vobjects.clustering.requests import clusters
from vobjects.microversions import errors, json_body
from vobjects.microversions.presets import SENLIN
from vobjects.rpc import byte_budget
from vobjects.versions import Version

TURNS = 101

CREATE = {
    'name': 'web-1',
    'profile_id': 'b0c8b2f4-62ab-4a5c-8a9b-b8d9f3ee4d62',
    'min_size': 0,
    'max_size': 10,
    'desired_capacity': 3,
    'timeout': 3600,
    'metadata': {'owner': 'alice', 'tier': 'front'},
    'config': {'node.name.format': 'web-$3I'},
}
UPDATE = {
    'name': 'web-2',
    'timeout': 1800,
    'profile_only': False,
    'metadata': {'owner': 'bob'},
}
NO_NUMBER = {**CREATE, 'desired_capacity': 'three'}  # rejected by the field
NO_OBJECT = {**CREATE, 'metadata': []}  # rejected by the peer's schema


# The peer


class PeerName(ovo_fields.String):
    PATTERN = re.compile('^[a-zA-Z\u4e00-\u9fa5\\d._~-]*$')

    def coerce(self, obj: Any, attr: str, value: Any) -> str:
        if not 1 <= len(value) <= 255:
            raise ValueError(f'{attr} has {len(value)} characters')
        if not self.PATTERN.search(value):
            raise ValueError(f'{attr} has illegal characters')
        return super().coerce(obj, attr, value)

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['string'], 'minLength': 1, 'maxLength': 255}


class PeerCapacity(ovo_fields.Integer):
    def __init__(self, minimum: int = 0, maximum: int = 1000) -> None:
        super().__init__()
        self.minimum, self.maximum = minimum, maximum

    def coerce(self, obj: Any, attr: str, value: Any) -> int:
        number = int(value)
        if not self.minimum <= number <= self.maximum:
            raise ValueError(f'{attr} is out of range')
        return super().coerce(obj, attr, number)

    def get_schema(self) -> dict[str, Any]:
        return {
            'type': ['integer', 'string'],
            'minimum': self.minimum,
            'maximum': self.maximum,
            'pattern': '^[0-9]*$',
        }


class PeerCount(ovo_fields.NonNegativeInteger):
    def get_schema(self) -> dict[str, Any]:
        return {'type': ['integer', 'string'], 'minimum': 0}


class PeerJson(ovo_fields.FieldType[Any]):
    def coerce(self, obj: Any, attr: str, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    def from_primitive(self, obj: Any, attr: str, value: Any) -> Any:
        return self.coerce(obj, attr, value)

    def get_schema(self) -> dict[str, Any]:
        return {'type': ['object']}


class PeerInner(ovo_fields.Object):
    """A nested object that rejects additional properties."""

    def get_schema(self) -> dict[str, Any]:
        schema = super().get_schema()
        data = schema['properties'][f'{Peer.OBJ_SERIAL_NAMESPACE}.data']
        data['additionalProperties'] = False
        return schema


def field(kind: ovo_fields.FieldType[Any], **options: Any) -> Any:
    return ovo_fields.Field(kind, **options)


class Peer(ovo_base.VersionedObject):
    """Base class of the peer's requests."""

    OBJ_SERIAL_NAMESPACE = 'peer_object'
    OBJ_PROJECT_NAMESPACE = 'peer'
    VERSION_MAP: dict[str, str] = {}
    _VERSION = re.compile(r'^([1-9]\d*)\.([1-9]\d*|0)$')

    @classmethod
    def obj_class_from_name(cls, objname: str, objver: Any = None) -> Any:
        return super().obj_class_from_name(objname, objver or cls.VERSION)

    @classmethod
    def to_json_schema(cls) -> dict[str, Any]:
        return {
            '$schema': 'http://json-schema.org/draft-04/schema#',
            'title': cls.obj_name(),
            **PeerInner(cls.obj_name()).get_schema(),
        }

    @classmethod
    def find_version(cls, text: str) -> str:
        requested = cls._numbers(text)
        object_version = '1.0'
        for key in sorted(cls.VERSION_MAP):
            if cls._numbers(key) > requested:
                break
            object_version = cls.VERSION_MAP[key]
        return object_version

    @classmethod
    def _numbers(cls, text: str) -> tuple[int, ...]:
        match = cls._VERSION.match(text)
        assert match
        return tuple(map(int, match.groups()))

    @classmethod
    def enveloped(cls, name: str, data: Any) -> dict[str, Any]:
        space = cls.OBJ_SERIAL_NAMESPACE
        return {
            f'{space}.version': cls.VERSION,
            f'{space}.namespace': cls.OBJ_PROJECT_NAMESPACE,
            f'{space}.name': name,
            f'{space}.data': data,
        }


@ovo_base.VersionedObjectRegistry.register
class PeerCreateBody(Peer):
    VERSION = '1.1'
    VERSION_MAP = {'1.7': '1.1'}
    fields = {
        'name': field(PeerName()),
        'profile_id': field(ovo_fields.String()),
        'min_size': field(PeerCapacity(), nullable=True, default=0),
        'max_size': field(PeerCapacity(-1), nullable=True, default=-1),
        'desired_capacity': field(PeerCapacity(), nullable=True),
        'metadata': field(PeerJson(), nullable=True, default={}),
        'timeout': field(PeerCount(), nullable=True, default=3600),
        'config': field(PeerJson(), nullable=True, default={}),
    }


@ovo_base.VersionedObjectRegistry.register
class PeerCreate(Peer):
    fields = {'cluster': field(PeerInner('PeerCreateBody'))}


@ovo_base.VersionedObjectRegistry.register
class PeerUpdate(Peer):
    VERSION = '1.2'
    VERSION_MAP = {'1.6': '1.1', '1.7': '1.2'}
    fields = {
        'identity': field(ovo_fields.String()),
        'name': field(PeerName(), nullable=True),
        'profile_id': field(ovo_fields.String(), nullable=True),
        'metadata': field(PeerJson(), nullable=True),
        'timeout': field(PeerCount(), nullable=True),
        'profile_only': field(ovo_fields.Boolean(), nullable=True),
        'config': field(PeerJson(), nullable=True),
    }

    def obj_make_compatible(
        self, primitive: dict[str, Any], target_version: str
    ) -> None:
        super().obj_make_compatible(primitive, target_version)
        target = versionutils.convert_version_to_tuple(target_version)
        if target < (1, 2):
            primitive[f'{self.OBJ_SERIAL_NAMESPACE}.data'].pop('config', None)


def parse_request(
    name: str, api_version: str, data: Any, key: str = ''
) -> Any:
    """Return a request object, like Senlin's function of this name.

    :param name: name of the request class
    :param api_version: API version of the request, ``X.Y``
    :param data: decoded body
    :param key: key of the body that contains a ``nameBody`` object; empty if
        the data are the fields of the request
    :raises ValueError: if the body is invalid
    """
    cls = Peer.obj_class_from_name(name)
    if key:
        data = {key: cls.enveloped(f'{name}Body', data[key])}
    primitive = cls.enveloped(name, data)
    version = cls.find_version(api_version)
    request = cls.obj_from_primitive(primitive)
    try:
        jsonschema.validate(primitive, request.to_json_schema())
    except jsonschema.ValidationError as error:
        raise ValueError(error.message) from None
    if version != cls.VERSION:
        request.obj_make_compatible(primitive, version)
        return cls.obj_from_primitive(primitive)
    return request


# The measurement


class Case(NamedTuple):
    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]


def cases() -> list[Case]:
    create = builder_of(clusters.ClusterCreateRequest)
    update = builder_of(clusters.ClusterUpdateRequest)
    creation, change, no_number, no_object = (
        json.dumps({'cluster': content}).encode()
        for content in (CREATE, UPDATE, NO_NUMBER, NO_OBJECT)
    )

    def ours(
        builder: request_builder.RequestBuilder,
        minor: int,
        raw: bytes,
        path: dict[str, str],
    ) -> Callable[[], Any]:
        version = Version(1, minor)

        def call() -> Any:
            content = json_body.load_json(raw)['cluster']
            return builder.build({}, version, path, content)

        return call

    def peer_create(raw: bytes) -> Callable[[], Any]:
        return lambda: parse_request(
            'PeerCreate', '1.7', json.loads(raw), 'cluster'
        )

    def peer_update(api_version: str) -> Callable[[], Any]:
        def call() -> Any:
            content = json.loads(change)['cluster']
            content['identity'] = 'web-1'
            return parse_request('PeerUpdate', api_version, content)

        return call

    target = {'identity': 'web-1'}
    return [
        Case(
            'create a cluster, 1.7',
            ours(create, 7, creation, {}),
            peer_create(creation),
        ),
        Case(
            'update a cluster, 1.7',
            ours(update, 7, change, target),
            peer_update('1.7'),
        ),
        Case(
            'update a cluster, 1.6',
            ours(update, 6, change, target),
            peer_update('1.6'),
        ),
        *(
            Case(
                f'refuse {mistake}',
                refused(ours(create, 7, raw, {}), errors.ValidationError),
                refused(peer_create(raw), ValueError),
            )
            for mistake, raw in (
                ('text for a number', no_number),
                ('a list for an object', no_object),
            )
        ),
    ]


def builder_of(request: type) -> request_builder.RequestBuilder:
    """Return the API's builder of the requests of a type."""
    conf = cfg.ConfigOpts()
    api_conf.register(conf)
    conf(args=[], project='vobjects', default_config_files=[])
    service = Service(
        versions=SENLIN,
        client=Nobody(),
        maximum=SENLIN.limit,
        authenticate=authentication.strategy(conf),
        enforcer=policy.Enforcer(conf),
        max_body_size=json_body.MAX_BYTES,
        max_json_size=json_body.MAX_BYTES,
        max_limit=1000,
        lists=byte_budget.ByteBudget(1 << 26),
    )
    (route,) = (r for r in routes.ROUTES if r.request is request)
    return request_builder.RequestBuilder(route, service)


class Nobody:
    """RPC client that is never called."""

    def call(self, *arguments: Any, **named: Any) -> Any:
        raise NotImplementedError


def refused(
    call: Callable[[], Any], expected: type[Exception]
) -> Callable[[], Any]:
    def refuse() -> str:
        try:
            call()
        except expected as error:
            return str(error)
        raise AssertionError('it was accepted')

    return refuse


def microseconds(call: Callable[[], Any], seconds: float) -> float:
    """Return the time of one call in microseconds.

    :param seconds: duration of the measurement
    """
    timer = timeit.Timer(call)
    number = max(1, int(seconds / max(timer.timeit(3) / 3, 1e-6)))
    return timer.timeit(number) / number * 1e6


def measure(case: Case, seconds: float) -> None:
    """Print the medians of a case, and the median and range of the ratio."""
    pairs = [
        (
            microseconds(case.ours, seconds / TURNS),
            microseconds(case.peer, seconds / TURNS),
        )
        for _ in range(TURNS)
    ]
    ours, peer = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratios = sorted(theirs / mine for mine, theirs in pairs)
    print(
        f'{case.name:26} {ours:9.2f} {peer:9.1f}'
        f' {statistics.median(ratios):7.1f}x'
        f'   ({ratios[0]:.1f} to {ratios[-1]:.1f})'
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--seconds',
        type=float,
        default=2.0,
        help='time for each side of a case (default: %(default)s)',
    )
    seconds = parser.parse_args().seconds
    print(
        f'{"bytes to request object":26} {"ours, us":>9} {"peer, us":>9}'
        f' {"ratio":>8}'
    )
    for case in cases():
        case.ours(), case.peer()
        measure(case, seconds)
    return 0


if __name__ == '__main__':
    sys.exit(main())
