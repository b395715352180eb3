# SPDX-License-Identifier: Apache-2.0
"""Read the parts of a request as an object of a request type.

Controllers of any framework can use these functions. Each one parses its part
safely, validates it with the schema of the request's microversion, converts it
to the newest version of the type and sets the defaults::

    parse_body    a JSON body
    parse_query   a query string
    parse_values  JSON values that the service has read itself

In a body, the value of a field that holds an object is a JSON object; see
``vobjects.microversions.nested_objects``.

Fields that come from the path, such as the name of a resource, are passed as
``path``. The body or the query then cannot contain them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from vobjects import exceptions
from vobjects.controllers.version_request import environ_of, version_of
from vobjects.microversions import (
    errors,
    json_body,
    nested_objects,
    query,
    schema,
)
from vobjects.microversions.version_policy import EARLY

if TYPE_CHECKING:
    # Needed for annotations only: callers have imported the type themselves.
    from vobjects import objects
    from vobjects.versions import Version

T = TypeVar('T', bound='objects.Object')


def parse_body(
    cls: type[T],
    request: Any,
    raw: bytes,
    *,
    path: Mapping[str, str] | None = None,
    max_bytes: int = json_body.MAX_BYTES,
) -> T:
    """Return the body of a request as an object.

    :param cls: a registered type
    :param request: see :func:`vobjects.controllers.version_request.version_of`
    :param raw: the body; a server should not read one much longer than
        ``max_bytes``
    :param path: field name -> decoded segment of the path, for the fields that
        come from the path; all others come from the body
    :param max_bytes: maximum length of the body
    :returns: an object at the newest version of ``cls``
    :raises vobjects.microversions.errors.InputError: the body or the path is
        invalid; the message gives the fault and the microversion that accepts
        it, if any
    :raises vobjects.microversions.errors.MethodNotAtVersion: the whole type
        belongs to a later version
    """
    values = json_body.load_json(raw, max_bytes)
    return parse_values(cls, request, values, path=path)


def parse_values(
    cls: type[T],
    request: Any,
    values: Any,
    *,
    path: Mapping[str, str] | None = None,
) -> T:
    """Return JSON values of a body as an object.

    For bodies in a format of the service's own, such as JSON Patch.

    :param values: field name -> JSON value, in the names and types of the
        request's microversion
    :returns: see :func:`parse_body`, also for the other parameters and errors
    """
    names = _field_names(cls, tuple(path or ()))
    schema.validate(
        cls, version_of(request), names, values, early=_is_early(request)
    )
    return _build(cls, request, {**_parse_path(cls, request, path), **values})


def parse_query(
    cls: type[T],
    request: Any,
    query_string: str,
    *,
    path: Mapping[str, str] | None = None,
) -> T:
    """Return the query of a request as an object.

    :param query_string: the query, as in ``QUERY_STRING`` of WSGI
    :returns: see :func:`parse_body`, also for the other parameters and errors
    """
    values = query.coerce_query(
        cls,
        version_of(request),
        _field_names(cls, tuple(path or ())),
        query.parse_pairs(query_string),
        early=_is_early(request),
    )
    return _build(cls, request, {**_parse_path(cls, request, path), **values})


def _parse_path(
    cls: type[objects.Object], request: Any, path: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the validated values of the fields that come from the path."""
    if not path:
        return {}
    for name, text in path.items():
        if character := json_body.unstorable(text):
            raise errors.ValidationError(
                f'path.{name}',
                f'has the character {character}, which cannot be stored',
            )
    return query.coerce_query(
        cls,
        version_of(request),
        tuple(path),
        path.items(),
        'path',
        early=_is_early(request),
    )


def _build(cls: type[T], request: Any, values: dict[str, Any]) -> T:
    """Convert validated values to the newest version, and set defaults."""
    microversion = version_of(request)
    primitive = _primitive(cls, microversion, values, _is_early(request))
    try:
        request_object: T = cls.obj_from_primitive(primitive)
    except exceptions.LossyDowngrade as error:
        raise schema.conversion_error(cls, microversion, error) from error
    nested_objects.set_defaults(request_object)
    return request_object


def _primitive(
    cls: type[objects.Object],
    microversion: Version,
    values: Mapping[str, Any],
    early: bool,
) -> dict[str, Any]:
    """Return the primitive of an object, also of those inside it."""
    names = _field_names(cls, ())
    compiled = schema.request_schema_at(cls, microversion, names, early=early)
    data = dict(values)
    for name in compiled.holding_objects & values.keys():
        data[name] = nested_objects.map_objects(
            compiled.fields[name]._type,
            values[name],
            lambda inner, value, _: _primitive(
                inner, microversion, value, early
            ),
        )
    key = cls._obj_primitive_key
    return {
        key('name'): cls.obj_name(),
        key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
        key('version'): cls.version_at(microversion, early=early),
        key('data'): data,
        key('changes'): list(values),
    }


def _is_early(request: Any) -> bool:
    return bool(environ_of(request).get(EARLY, False))


def _field_names(
    cls: type[objects.Object], path: tuple[str, ...]
) -> tuple[str, ...]:
    hashable: Any = cls  # mypy checks the instances' __hash__
    return _cached_field_names(hashable, path)


@functools.lru_cache(maxsize=1024)
def _cached_field_names(
    cls: type[objects.Object], path: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the fields, at any version, that do not come from the path."""
    names = schema.all_field_names(cls)
    return tuple(name for name in names if name not in path)
