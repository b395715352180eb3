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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from vobjects import exceptions, field_values, phrases, unregistered
from vobjects.controllers.frameworks import (
    environ_of,
    is_early,
    version_of,
)
from vobjects.microversions import (
    errors,
    json_body,
    nested_objects,
    query,
    schema,
    validation,
)
from vobjects.microversions.nested_objects import ObjectType, cached

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
    :param request: see :func:`vobjects.controllers.frameworks.version_of`
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
    :raises TypeError: ``values`` is bytes
    """
    if isinstance(values, (bytes, bytearray)):
        raise TypeError('parse_values takes parsed JSON; parse_body bytes')
    names = _field_names(cls, tuple(path or ()))
    validation.validate(
        *(cls, version_of(request), names, values),
        early=is_early(request),
        by_fields=False,
    )
    return _parse(cls, request, path, values, 'body')


def parse_query(
    cls: type[T],
    request: Any,
    query_string: str | None = None,
    *,
    path: Mapping[str, str] | None = None,
) -> T:
    """Return the query of a request as an object.

    :param query_string: the query, as in ``QUERY_STRING`` of WSGI; default:
        that of the request
    :returns: see :func:`parse_body`, also for the other parameters and errors
    :raises LookupError: the request has no environ, and there is no
        ``query_string``
    """
    if query_string is None:
        environ = environ_of(request)
        if not environ:
            raise LookupError('the request has no environ; pass query_string')
        query_string = environ.get('QUERY_STRING', '')
    values = query.coerce_query(
        cls,
        version_of(request),
        _field_names(cls, tuple(path or ())),
        query.parse_pairs(query_string),
        early=is_early(request),
        by_fields=False,
    )
    return _parse(cls, request, path, values, 'query')


def build(
    cls: type[T],
    microversion: Version,
    values: Mapping[str, Any],
    where: str,
    *,
    early: bool = False,
) -> T:
    """Return valid values as an object of the newest version.

    It has no defaults.

    :param cls: a registered type that the microversion has
    :param values: field name -> JSON value, valid at the microversion; see
        ``by_fields`` of ``validation.validate``
    :param where: name of the part with the values, for error messages
    :param early: see :meth:`vobjects.objects.object.Object.version_at`
    :raises vobjects.microversions.errors.ValidationError: a field rejects a
        value, or the newest version cannot hold it; the error has the path of
        its field
    """
    primitive = _primitive(cls, microversion, values, early)
    try:
        request_object: T = cls.obj_from_primitive(primitive)
    except exceptions.LossyDowngrade as error:

        def build_inner(
            inner: Any, value: Any, steps: field_values.Path
        ) -> None:
            inner_cls = nested_objects.class_of(inner)
            place = phrases.format_path(where, steps)
            build(inner_cls, microversion, value, place, early=early)

        # If the value is in an object inside, this raises the error.
        form = _form(cls, microversion, early)
        nested_objects.map_fields(form.object_fields, values, build_inner)
        raise validation.conversion_error(
            cls, microversion, error, where
        ) from error
    except (ArithmeticError, TypeError, ValueError):
        names = tuple(values)
        validation.validate(
            cls, microversion, names, values, where, early=early
        )
        raise
    return request_object


def _parse(
    cls: type[T],
    request: Any,
    path: Mapping[str, str] | None,
    values: Mapping[str, Any],
    where: str,
) -> T:
    """Return valid values and the path's as an object with defaults."""
    request_object = build(
        cls,
        version_of(request),
        {**_parse_path(cls, request, path), **values},
        where,
        early=is_early(request),
    )
    nested_objects.set_defaults(request_object)
    return request_object


def _parse_path(
    cls: ObjectType, request: Any, path: Mapping[str, str] | None
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
        early=is_early(request),
    )


class _Form(NamedTuple):
    """The form of the primitives of a type at a microversion.

    :ivar envelope: the keys other than the next two, with their values
    :ivar object_fields: name -> type of the fields that hold objects
    :ivar ignored: the fields that are accepted without effect
    """

    envelope: Mapping[str, str]
    data_key: str
    changes_key: str
    object_fields: Mapping[str, Any]
    ignored: frozenset[str]


@cached
def _form(cls: ObjectType, microversion: Version, early: bool) -> _Form:
    version = cls.version_at(microversion, early=early)
    assert version is not None
    key = cls._obj_primitive_key
    envelope = {
        key('name'): cls.obj_name(),
        key('namespace'): cls.OBJ_PROJECT_NAMESPACE,
        key('version'): version,
    }
    object_fields = nested_objects.object_fields(cls, version)
    ignored = cls.ignored_at(microversion) if early else frozenset()
    return _Form(envelope, key('data'), key('changes'), object_fields, ignored)


def _primitive(
    cls: ObjectType,
    microversion: Version,
    values: Mapping[str, Any],
    early: bool,
) -> dict[str, Any]:
    """Return the primitive of an object, also of those inside it.

    :param values: valid JSON values
    """
    form = _form(cls, microversion, early)
    if form.ignored:
        values = {
            name: value
            for name, value in values.items()
            if name not in form.ignored
        }
    data = values
    if form.object_fields:

        def primitive_of(inner: Any, value: Any, _: Any) -> dict[str, Any]:
            inner_cls = nested_objects.class_of(inner)
            return _primitive(inner_cls, microversion, value, early)

        data = {
            **values,
            **nested_objects.map_fields(
                form.object_fields, values, primitive_of
            ),
        }
    return {
        **form.envelope,
        form.data_key: data,
        form.changes_key: list(values),
    }


@cached
def _field_names(cls: ObjectType, path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the fields, at any version, that do not come from the path."""
    unregistered.check_class(cls)
    names = schema.all_field_names(cls)
    return tuple(name for name in names if name not in path)
