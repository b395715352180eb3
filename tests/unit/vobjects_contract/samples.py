# SPDX-License-Identifier: Apache-2.0
"""A small service with a contract."""

from __future__ import annotations

from vobjects.objects import Request, Resource, register  # isort: skip - first
from oslo_versionedobjects import base as ovo_base

from vobjects import fields
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.objects.history import added, removed
from vobjects.versions import Version
from vobjects_contract import standard_schemas, type_schemas
from vobjects_contract.registry import Contract, Operation, OperationShape

POLICY = VersionPolicy(
    service_types=('sample',),
    minimum=Version(1, 0),
    maximum=Version(1, 5),
    help_url='https://example.org/help',
)


@register
class SampleThing(Resource):
    """A thing."""

    VERSION = '1.2'
    VERSION_MAP = {'1.2': '1.1', '1.4': '1.2'}

    fields = {
        'id': fields.UUIDField(),
        'note': fields.StringField(nullable=True),
        'since': fields.DateTimeField(nullable=True),
        'size': added('1.1', fields.IntegerField(default=0)),
        'old': removed('1.2', fields.StringField(nullable=True)),
    }


@register
class SampleBox(Resource):
    """A box of things. This sentence is not in the summary."""

    fields = {
        'first': fields.ObjectField('SampleThing', nullable=True),
        'only': fields.ObjectField('SampleThing'),
        'things': fields.ListOfObjectsField('SampleThing', default=[]),
        'by_name': fields.DictOfIntegersField(nullable=True),
    }


@register
class SampleMakeRequest(Request):
    """Make a thing."""

    VERSION = '1.2'
    VERSION_MAP = {'1.2': '1.1', '1.3': '1.2'}

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(),
        'count': fields.CapacityField(nullable=True),
        'mode': fields.EnumField(['hot', 'cold'], nullable=True),
        'size': added('1.1', fields.IntegerField(default=0)),
        'deep': added('1.2', fields.StrictBooleanField(default=False)),
    }


@register
class SampleLookRequest(Request):
    """Look at a thing."""

    VERSION_MAP = {'1.3': '1.0'}

    fields = {'identity': fields.StringField()}


# Other tests check every registered type, so these are unregistered.
TYPES = (SampleThing, SampleBox, SampleMakeRequest, SampleLookRequest)


def register_types(monkeypatch) -> None:
    """Register the types while a test runs."""
    classes = ovo_base.VersionedObjectRegistry()._obj_classes
    for cls in TYPES:
        monkeypatch.setitem(classes, cls.__name__, [cls])


for _type in TYPES:
    del ovo_base.VersionedObjectRegistry()._obj_classes[_type.__name__]

NAMES = ('name', 'count', 'mode', 'size', 'deep')

HISTORY = {
    '1.0': ('The first version.',),
    '1.1': (),
    '1.2': ('Added size to things, in requests and responses.',),
    '1.3': (
        'Added deep to the creation of things.',
        'Added GET /v1/things/{identity}.',
    ),
    '1.4': ('Removed old from things.',),
    '1.5': (),
}


def create_at(version):
    body = type_schemas.request_part(SampleMakeRequest, version, NAMES)
    return OperationShape(
        path={},
        query=type_schemas.closed({}),
        body=type_schemas.under_keys('thing', content=body),
        responses={
            201: type_schemas.under_keys(
                'thing', content=type_schemas.resource(SampleThing, version)
            ),
            400: standard_schemas.ERROR,
        },
        headers={201: {'Location': {'type': 'string'}}},
    )


def show_at(version):
    query = type_schemas.query(SampleLookRequest, version, ())
    if query is None:
        return None
    return OperationShape(
        path={'identity': {'type': 'string'}},
        query=query,
        body=None,
        responses={
            200: type_schemas.under_keys(
                'thing', content=type_schemas.resource(SampleThing, version)
            ),
            404: standard_schemas.ERROR,
        },
    )


CREATE = Operation('POST', '/v1/things', create_at, summary='Make a thing')
SHOW = Operation('GET', '/v1/things/{identity}', show_at)


def contract(*operations, history=HISTORY, policy=POLICY):
    """Return a contract; without arguments, of the samples."""
    operations = operations or (CREATE, SHOW)
    return Contract(policy, operations, history)


def fixed(name='GET /v1/x', /, **by_version):
    """Return an operation whose 200 is another schema at each version.

    :param by_version: ``v1_3=schema``, from then on; None: no operation
    """
    method, path = name.split()
    table = {
        Version.parse(key[1:].replace('_', '.')): value
        for key, value in by_version.items()
    }

    def shape_at(version):
        since = max((v for v in table if v <= version), default=None)
        if since is None or table[since] is None:
            return None
        return OperationShape(
            path={},
            query=type_schemas.closed({}),
            body=None,
            responses={200: table[since]},
        )

    return Operation(method, path, shape_at)
