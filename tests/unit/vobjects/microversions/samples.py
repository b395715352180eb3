# SPDX-License-Identifier: Apache-2.0
"""Request types for tests."""

from vobjects.objects import Request, register  # isort: skip - goes first
from oslo_versionedobjects import base as ovo_base

from vobjects import fields
from vobjects.microversions import errors
from vobjects.objects.history import added, changed, removed, renamed


def outcome(function, *arguments):
    """Return what a call returns, or the refusal it raises."""
    try:
        return function(*arguments)
    except errors.ApiError as error:
        return error


@register
class SampleCreateRequest(Request):
    """A body with every kind of history."""

    VERSION = '1.4'
    VERSION_MAP = {'1.2': '1.1', '1.8': '1.2', '1.10': '1.3', '1.12': '1.4'}

    fields = {
        'identity': fields.StringField(),
        'name': fields.NameField(),
        'profile_id': fields.StringField(),
        'desired_capacity': fields.CapacityField(default=0),
        'timeout': fields.NonNegativeIntegerField(nullable=True),
        'metadata': fields.DictOfStringsField(default={}),
        'mode': fields.EnumField(valid_values=['hot', 'cold'], nullable=True),
        'uuid': fields.UUIDField(nullable=True),
        'nodes': fields.IdentityListField(nullable=True),
        'address': fields.IPV4AddressField(nullable=True),
        'starts_at': fields.DateTimeField(nullable=True),
        'config': added('1.1', fields.JsonField(nullable=True)),
        'force': added('1.2', fields.BooleanField(default=False)),
        'colour': renamed('1.3', 'color', fields.StringField(nullable=True)),
        'legacy': removed('1.3', fields.StringField(nullable=True)),
        'size': changed(
            '1.4',
            fields.StringField(nullable=True),
            fields.IntegerField(nullable=True),
            up=int,
            down=str,
        ),
    }


def _mode(*values):
    return fields.EnumField(valid_values=list(values), nullable=True)


@register
class SampleModeRequest(Request):
    """An enum that gains a value and loses it, and a required field renamed.

    No test here uses its conversions.
    """

    VERSION = '1.2'
    VERSION_MAP = {'1.4': '1.1', '1.6': '1.2'}

    fields = {
        'mode': changed(
            '1.2',
            changed(
                '1.1',
                _mode('hot'),
                _mode('hot', 'cold', 'warm'),
                up=str,
                down=str,
            ),
            _mode('hot', 'cold'),
            up=str,
            down=str,
        ),
        'new': renamed('1.1', 'old', fields.StringField()),
    }


@register
class SampleLateRequest(Request):
    """A type that came with 1.9."""

    VERSION = '1.0'
    VERSION_MAP = {'1.9': '1.0'}

    fields = {'name': fields.NameField(nullable=True)}


@register
class SampleDanceRequest(Request):
    """An action that came with 1.9."""

    VERSION = '1.0'
    VERSION_MAP = {'1.9': '1.0'}

    fields = {
        'identity': fields.StringField(),
        'style': fields.StringField(nullable=True),
    }


@register
class SampleEarlyRequest(Request):
    """A field that every service here documents later, if at all."""

    VERSION = '1.1'
    VERSION_MAP = {'3.0': '1.1'}
    EARLY_VERSION_MAP = {'1.0': '1.1'}

    fields = {'config': added('1.1', fields.JsonField(nullable=True))}


@register
class SampleListRequest(Request):
    """A query."""

    VERSION = '1.1'
    VERSION_MAP = {'1.6': '1.1'}

    fields = {
        'limit': fields.NonNegativeIntegerField(nullable=True),
        'marker': fields.StringField(nullable=True),
        'hidden': fields.BooleanField(default=False),
        'ratio': fields.FloatField(nullable=True),
        'nodes': fields.CapacityField(nullable=True),
        'status': fields.ListOfEnumField(
            valid_values=['ACTIVE', 'ERROR'], nullable=True
        ),
        'deep': added('1.1', fields.BooleanField(default=False)),
    }


@register
class SampleEveryRequest(Request):
    """A field of every type that has a schema."""

    fields = {
        'boolean': fields.BooleanField(nullable=True),
        'capacity': fields.CapacityField(-1, 5, nullable=True),
        'date': fields.DateTimeField(nullable=True),
        'dict_of_integers': fields.DictOfIntegersField(nullable=True),
        'dict_of_lists': fields.DictOfListOfStringsField(nullable=True),
        'dict_of_nulls': fields.DictOfNullableStringsField(nullable=True),
        'enum': fields.EnumField(valid_values=('a', 'b'), nullable=True),
        'flexible': fields.FlexibleBooleanField(default=False),
        'float': fields.FloatField(nullable=True),
        'identities': fields.IdentityListField(1, nullable=True),
        'integer': fields.IntegerField(nullable=True),
        'ipv4': fields.IPV4AddressField(nullable=True),
        'ipv4_network': fields.IPV4NetworkField(nullable=True),
        'ipv6': fields.IPV6AddressField(nullable=True),
        'ipv6_network': fields.IPV6NetworkField(nullable=True),
        'json': fields.JsonField(nullable=True),
        'json_value': fields.JsonValueField(nullable=True),
        'list_of_dicts': fields.ListOfDictOfNullableStringsField(default=[]),
        'list_of_integers': fields.ListOfIntegersField(nullable=True),
        'mac': fields.MACAddressField(nullable=True),
        'name': fields.NameField(2, 3, nullable=True),
        'natural': fields.NonNegativeIntegerField(nullable=True),
        'natural_float': fields.NonNegativeFloatField(nullable=True),
        'pci': fields.PCIAddressField(nullable=True),
        'predicate': fields.VersionPredicateField(nullable=True),
        'secret': fields.SensitiveStringField(nullable=True),
        'set': fields.SetOfIntegersField(nullable=True),
        'sort': fields.SortField(['name', 'created_at'], nullable=True),
        'strict': fields.StrictBooleanField(nullable=True),
        'string': fields.StringField(nullable=True),
        'uuid': fields.UUIDField(nullable=True),
        'word': fields.AnyCaseEnumField(['UP', 'DOWN'], nullable=True),
    }


# Tests elsewhere look at every registered type; these are not among them.
for _type in (
    SampleCreateRequest,
    SampleDanceRequest,
    SampleEarlyRequest,
    SampleEveryRequest,
    SampleLateRequest,
    SampleListRequest,
    SampleModeRequest,
):
    del ovo_base.VersionedObjectRegistry()._obj_classes[_type.__name__]


#: Fields of the body of :class:`SampleCreateRequest` at all versions.
BODY_NAMES = (
    'name',
    'profile_id',
    'desired_capacity',
    'timeout',
    'metadata',
    'mode',
    'uuid',
    'nodes',
    'address',
    'starts_at',
    'config',
    'force',
    'colour',
    'color',
    'legacy',
    'size',
)
