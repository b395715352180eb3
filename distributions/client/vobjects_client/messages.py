# SPDX-License-Identifier: Apache-2.0
"""Convert requests and responses between the versions of both sides."""

from __future__ import annotations

import dataclasses
import json
import re
import urllib.parse
from collections.abc import Mapping
from typing import Any, NoReturn, get_args, get_origin

from oslo_versionedobjects.fields import UnspecifiedDefault

from vobjects import exceptions, field_values, objects
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.objects import manifest, unknown_fields
from vobjects.versions import Version
from vobjects_client.errors import InvalidResponse, NotSent, ServerTooOld
from vobjects_client.operations import AnyOperation, Location

_QUERY_METHODS = ('GET', 'HEAD', 'DELETE')


@dataclasses.dataclass(frozen=True, slots=True)
class Message:
    """A request to send.

    :ivar path: below the base URL
    :ivar body: JSON data; None: no body
    :ivar headers: those about versions
    """

    method: str
    path: str
    query: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


def write(
    route: AnyOperation,
    request: objects.Request,
    version: Version,
    policy: VersionPolicy,
) -> Message:
    """Return a request as its message at a version.

    :raises ServerTooOld: the version cannot hold the request; the error names
        the lowest version of the client that can
    :raises vobjects.exceptions.ConversionError: no later version can, either
    :raises ValueError: a query cannot have a value, or a path
    """
    try:
        data = _data_at(request, version)
    except exceptions.ConversionError as error:
        later = [v for v in policy.versions if v > version]
        needed = next((v for v in later if _holds(request, v)), None)
        if needed is None:
            raise
        subject = str(route)
        if isinstance(error, exceptions.LossyDowngrade):
            subject = f'{error.type_name}.{error.field}={error.value}'
        raise ServerTooOld(subject, needed, version) from error

    path = re.sub(
        r'{(\w+)}', lambda match: _segment(match[1], request, data), route.path
    )
    if route.method in _QUERY_METHODS:
        name = request.obj_name()
        at = manifest.at_microversion(version)[name]
        return Message(
            route.method, path, _query(name, type(request).fields_at(at), data)
        )
    if callable(route.body):
        return Message(route.method, path, body=route.body(data))
    body = {route.body: data} if route.body else data
    return Message(route.method, path, body=body)


def read(
    route: AnyOperation, response: Any, version: Version, policy: VersionPolicy
) -> Any:
    """Return the result of an operation in the client's version.

    :param response: a successful response of httpx
    :param version: the version of the response
    :raises InvalidResponse: the body is not as declared
    """
    if route.response is None:
        return None
    if route.response is Location:
        return Location(response.headers.get('Location', ''))
    try:
        result = response.json()
        if route.result:
            result = result[route.result]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidResponse(
            f'{route}: the response is not JSON with'
            f' {route.result or "a body"!r}: {exceptions.cut(response.text)}'
        ) from error
    reader = _Reader(str(route), version, early=policy.accepts_early)
    if get_origin(route.response) is list:
        (item,) = get_args(route.response)
        if not isinstance(result, list):
            reader.fail(f'{exceptions.cut(result)} is not a list')
        return [reader.result(item, each) for each in result]
    return reader.result(route.response, result)


# Requests


def _segment(name: str, request: objects.Request, data: dict[str, Any]) -> str:
    """Take a field as a segment of a path.

    :raises vobjects.exceptions.FieldsMissing: it is not set
    :raises ValueError: the value would change the path
    """
    if data.get(name) is None:
        raise exceptions.FieldsMissing(request.obj_name(), [name])
    text = _query_text(data.pop(name))
    if text in ('', '.', '..'):
        raise ValueError(f'{name} must not be {text!r}: it is part of a path')
    return urllib.parse.quote(text, safe='')


def _holds(request: objects.Request, version: Version) -> bool:
    try:
        _data_at(request, version)
    except exceptions.ConversionError:
        return False
    return True


def _data_at(request: objects.Request, version: Version) -> dict[str, Any]:
    """Return the fields of a request at a version, as JSON data.

    :raises vobjects.exceptions.ConversionError: the version has no such type,
        or cannot hold a value
    """
    versions = manifest.at_microversion(version)
    name = request.obj_name()
    if name not in versions:
        raise exceptions.UnsupportedType(name)
    return _plain(request.obj_to_primitive(version_manifest=versions))


def _plain(primitive: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a primitive without envelopes.

    :raises vobjects.exceptions.ConversionError: the API has removed a field
        whose value is not the default
    """
    space = objects.Object.OBJ_SERIAL_NAMESPACE
    cls = objects.registered_type(primitive[f'{space}.name'])
    version = primitive[f'{space}.version']
    known = cls.fields_at(version)
    data = {}
    for name, value in primitive[f'{space}.data'].items():
        if name in known:
            data[name] = field_values.map_objects(
                known[name]._type, value, lambda _type, item, _: _plain(item)
            )
        elif value != field_values.default_primitive(name, cls.fields[name]):
            raise exceptions.ConversionError(
                f'{cls.obj_name()}.{name}={exceptions.cut(value)}: the API has'
                ' removed this field; leave it out'
            )
    return data


def _query(
    type_name: str, fields: Mapping[str, Any], data: Mapping[str, Any]
) -> dict[str, Any]:
    """Return fields as the parameters of a query.

    It cannot have null or an empty list: without the parameter, the server
    reads the default, or null.

    :raises ValueError: the server would read another value
    """
    query: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, (list, tuple)) and value:
            query[name] = [*map(_query_text, value)]
        elif value not in (None, [], ()):
            query[name] = _query_text(value)
        else:
            default = field_values.default_primitive(name, fields[name])
            if default is UnspecifiedDefault:
                default = None
            if json.dumps(value) != json.dumps(default):
                raise ValueError(
                    f'{type_name}.{name}={value!r}: a query cannot have this'
                    f' value; without it, the server reads {default!r}'
                )
    return query


def _query_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# Responses


@dataclasses.dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the objects of a response.

    :ivar route: the operation, for error messages
    :ivar version: of the response
    :ivar early: whether the server shows fields before the microversion that
        documents them
    """

    route: str
    version: Version
    early: bool

    def fail(self, problem: str) -> NoReturn:
        raise InvalidResponse(f'{self.route}: {problem}')

    def result(self, kind: Any, data: Any) -> Any:
        """Return data as an object, or unchanged if the type is not one."""
        if not isinstance(kind, type) or not issubclass(kind, objects.Object):
            return data
        try:
            primitive = self._primitive(kind, data)
            result = kind.obj_from_primitive(primitive)
        except InvalidResponse:
            raise
        except Exception as error:
            # Field types raise errors of many classes.
            raise InvalidResponse(
                f'{self.route}: the response is no valid'
                f' {kind.obj_name()}: {error}'
            ) from error
        self._refuse_absent(result)
        known = kind.fields_at(self._object_version(kind))
        unknown = {key: data[key] for key in data if key not in known}
        if unknown:
            result.__dict__[unknown_fields.ATTRIBUTE] = unknown
        result.obj_reset_changes(recursive=True)
        return result

    def _object_version(self, cls: type[objects.Object]) -> str:
        return cls.version_at(self.version, early=self.early) or '1.0'

    def _primitive(
        self, cls: type[objects.Object], data: Any
    ) -> dict[str, Any]:
        """Return JSON data as a primitive of the newest version.

        Without the defaults that a newer version gives to fields that an older
        one lacks.
        """
        if not isinstance(data, dict):
            self.fail(
                f'{cls.obj_name()} must be a JSON object, not'
                f' {exceptions.cut(data)}'
            )

        def inner(field_type: Any, value: Any, _path: Any) -> dict[str, Any]:
            kind = objects.registered_type(field_type._obj_name)
            return self._primitive(kind, value)

        version = self._object_version(cls)
        fields = {
            name: field_values.map_objects(field._type, data[name], inner)
            for name, field in cls.fields_at(version).items()
            if name in data
        }
        plan = cls._history.plan(
            Version.parse(version), Version.parse(cls.VERSION)
        )
        without_defaults = dataclasses.replace(plan, fills={})
        without_defaults.apply(fields, refuse_loss=False)
        space = cls.OBJ_SERIAL_NAMESPACE
        return {
            f'{space}.name': cls.obj_name(),
            f'{space}.namespace': cls.OBJ_PROJECT_NAMESPACE,
            f'{space}.version': cls.VERSION,
            f'{space}.data': fields,
        }

    def _refuse_absent(self, obj: objects.Object) -> None:
        """Make reading a field that is not set an error, at any depth."""

        def load(name: str) -> NoReturn:
            raise NotSent(
                f'{obj.obj_name()}.{name}',
                obj.first_microversion_of(name),
                self.version,
            )

        obj.__dict__['obj_load_attr'] = load
        for name, field in obj.fields.items():
            if field_values.holds_objects(field._type) and name in obj:
                for part in field_values.objects_in(
                    field._type, getattr(obj, name)
                ):
                    self._refuse_absent(part)
