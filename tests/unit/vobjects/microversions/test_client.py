# SPDX-License-Identifier: Apache-2.0
"""Negotiation by clients of several clouds and of each preset."""

import openstack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keystoneauth1 import adapter, discover, noauth, session
from openstack import utils as sdk_utils

from tests.unit.vobjects.microversions import wsgi
from vobjects.microversions import client, presets
from vobjects.versions import Version

HEADER = 'OpenStack-API-Version'

#: Public clouds that a client like nodepool connects to: version ranges.
CLOUDS = {
    'A': ('2.100', '2.300'),
    'B': ('2.200', '2.450'),
    'C': ('2.300', '2.600'),
    'D': ('2.400', '2.800'),
}
#: A client with three generations of code, and one version it once knew.
KNOWN = [('2.60', '2.250'), ('2.310', '2.420'), ('2.500', '2.550'), '2.7']


@pytest.mark.parametrize(
    ('cloud', 'expected'),
    [('A', '2.250'), ('B', '2.420'), ('C', '2.550'), ('D', '2.550')],
)
def test_client_of_several_ranges_works_with_the_four_clouds(cloud, expected):
    assert str(client.negotiate(CLOUDS[cloud], KNOWN)) == expected


@pytest.mark.parametrize(
    ('known', 'verdict'),
    [
        ([('2.1', '2.99')], 'the client is too old'),
        (['2.301', ('2.400', '2.500')], 'the server is too old'),
        (['2.7', '2.400'], 'each has versions that the other lacks'),
        ([], 'the client none'),
    ],
)
def test_negotiate_without_a_common_version_names_the_older_side(
    known, verdict
):
    with pytest.raises(client.NoCommonVersion) as caught:
        client.negotiate(CLOUDS['A'], known)

    assert verdict in str(caught.value)
    assert '2.100 to 2.300' in str(caught.value)


def test_negotiate_compares_numbers():
    assert client.negotiate(('1.9', '1.10'), ['1.9', '1.10']) == (1, 10)
    assert client.negotiate(Version(1, 9), [Version(1, 9)]) == (1, 9)


def test_negotiate_when_a_range_is_reversed_is_an_error():
    with pytest.raises(ValueError, match=r'1\.10 to 1\.9 is not a range'):
        client.negotiate(('1.1', '1.9'), [('1.10', '1.9')])


RANGE = st.tuples(st.integers(0, 30), st.integers(0, 30)).map(
    lambda pair: tuple(Version(2, minor) for minor in sorted(pair))
)


@given(RANGE, st.lists(RANGE, max_size=4))
def test_negotiate_for_any_ranges_returns_the_highest_common(
    server, client_versions
):
    common = [
        Version(2, minor)
        for minor in range(31)
        if Version(2, minor).matches(*server)
        and any(
            Version(2, minor).matches(*bounds) for bounds in client_versions
        )
    ]

    try:
        common_versions = [client.negotiate(server, client_versions)]
    except client.NoCommonVersion:
        common_versions = []

    assert common_versions == common[-1:]


@pytest.mark.parametrize(
    ('document', 'major', 'expected'),
    [
        # Of the services themselves, shortened.
        (
            {
                'versions': [
                    {'id': 'v2.0', 'version': '', 'min_version': ''},
                    {'id': 'v2.1', 'version': '2.104', 'min_version': '2.1'},
                ]
            },
            None,
            ((2, 1), (2, 104)),
        ),
        (
            {'version': {'version': '2.104', 'min_version': '2.1'}},
            2,
            ((2, 1), (2, 104)),
        ),
        (
            {'versions': [{'max_version': '1.14', 'min_version': '1.0'}]},
            1,
            ((1, 0), (1, 14)),
        ),
        (
            {
                'versions': [
                    {'max_version': '1.9', 'min_version': '1.0'},
                    {'max_version': '2.3', 'min_version': '2.0'},
                ]
            },
            1,
            ((1, 0), (1, 9)),
        ),
    ],
)
def test_range_of_reads_documents_of_real_services(document, major, expected):
    assert client.range_of(document, major) == expected


@pytest.mark.parametrize(
    'document',
    [
        None,
        [],
        {},
        {'versions': None},
        {'versions': [1, None, {}]},
        {'versions': {'values': [{'id': 'v1', 'status': 'stable'}]}},
        {'version': {'min_version': '1.0', 'max_version': 'pony'}},
    ],
)
def test_range_of_a_document_without_a_range_is_an_error(document):
    with pytest.raises(client.NoRange):
        client.range_of(document)


def test_range_of_a_missing_major_version_is_an_error():
    document = {'versions': [{'max_version': '1.9', 'min_version': '1.0'}]}

    with pytest.raises(client.NoRange, match='major version 3'):
        client.range_of(document, 3)


@pytest.fixture(scope='module', params=presets.PRESETS)
def preset(request):
    return presets.PRESETS[request.param]


@pytest.fixture(scope='module')
def url(preset):
    with wsgi.serve(wsgi.Service(preset).app) as address:
        yield address


@pytest.fixture(scope='module')
def keystone():
    session_ = session.Session(noauth.NoAuth())
    yield session_
    session_.session.close()


def test_required_version_is_read_from_an_error():
    assert client.required_version(
        {'errors': [{'available_from': '1.8'}]}
    ) == (1, 8)
    assert client.required_version({'errors': [{'code': 'x'}]}) is None
    assert client.required_version(None) is None


@pytest.mark.parametrize('path', ['', '/PATH'])
def test_keystoneauth_discovers_every_preset(preset, url, keystone, path):
    discovery = discover.Discover(
        keystone, url + path.replace('PATH', preset.major)
    )

    (data,) = discovery.version_data()
    assert data['url'] == f'{url}/{preset.major}/'
    assert data['min_microversion'] == preset.minimum
    assert data['max_microversion'] == preset.maximum
    assert data['raw_status'] == 'CURRENT'


def test_openstacksdk_helpers_read_every_preset(preset, url, keystone):
    service = adapter.Adapter(
        keystone,
        service_type=preset.service_type,
        endpoint_override=f'{url}/{preset.major}',
    )
    lowest, highest = preset.minimum, preset.maximum
    above = Version(highest.major, highest.minor + 1)

    assert sdk_utils.supports_microversion(service, str(lowest))
    assert sdk_utils.supports_microversion(service, str(highest))
    assert not sdk_utils.supports_microversion(service, str(above))
    assert sdk_utils.maximum_supported_microversion(
        service, str(above)
    ) == str(highest)
    assert sdk_utils.maximum_supported_microversion(
        service, str(lowest)
    ) == str(lowest)
    assert sdk_utils.pick_microversion(service, str(highest)) == str(highest)
    sdk_utils.require_microversion(service, str(highest))
    with pytest.raises(openstack.exceptions.SDKException):
        sdk_utils.pick_microversion(service, str(above))
    with pytest.raises(openstack.exceptions.SDKException):
        sdk_utils.require_microversion(service, str(above))


@pytest.mark.parametrize(
    ('value', 'expected'),
    [
        ('clustering 1.7', '1.7'),
        ('compute 2.1, clustering 1.7', '1.7'),
        ('compute 2.1', 'None'),
        ('clustering pony', 'None'),
        ('', 'None'),
    ],
)
def test_served_version_is_that_of_the_response_header(value, expected):
    assert (
        str(client.served_version({HEADER: value}, 'clustering')) == expected
    )
