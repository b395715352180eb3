# SPDX-License-Identifier: Apache-2.0
"""Retirement of versions: declaration, checks and headers."""

import dataclasses

import pytest

from tests.unit.vobjects.microversions import wsgi
from vobjects import exceptions
from vobjects.microversions import middleware, presets, retirement
from vobjects.microversions.retirement import retire
from vobjects.versions import Version

HELP = presets.SENLIN.history_url
END_OF_2 = retire(
    '1.2',
    deprecated='2023-06-30T23:59:59Z',
    sunset='2026-11-11T23:59:59+00:00',
    successor='1.7',
)


def retiring_service(*retired):
    return wsgi.Service(dataclasses.replace(presets.SENLIN, retired=retired))


def send(service, version, path='/v1/clusters'):
    header = {'OpenStack-API-Version': f'clustering {version}'}
    return wsgi.call(service.app, path, headers=header)


def values(response, name):
    return [v for n, v in response.header_list if n == name]


def test_headers_of_a_retired_version_have_the_syntax_of_their_rfcs():
    # The dates are the examples of RFC 9745 (2.1) and RFC 8594 (3).
    response = send(retiring_service(END_OF_2), '1.2')

    assert values(response, 'Deprecation') == ['@1688169599']
    assert values(response, 'Sunset') == ['Wed, 11 Nov 2026 23:59:59 GMT']
    assert values(response, 'Link') == [
        f'<{HELP}>; rel="deprecation"; type="text/html", '
        f'<{HELP}>; rel="sunset"; type="text/html", '
        '<>; rel="successor-version"; title="clustering 1.7"'
    ]


@pytest.mark.parametrize(
    ('first', 'last', 'version', 'path', 'is_announced'),
    [
        ('1.1', '1.4', '1.0', '/v1/clusters', False),
        ('1.1', '1.4', '1.1', '/v1/clusters', True),
        ('1.1', '1.4', '1.4', '/v1/missing', True),
        ('1.1', '1.4', '1.5', '/v1/clusters', False),
        ('1.0', '1.14', '1.99', '/v1/clusters', False),
        ('1.0', '1.14', 'pony', '/v1/clusters', False),
        # Clients read discovery before they choose a version.
        ('1.0', '1.14', '1.0', '/', False),
        ('1.0', '1.14', '1.0', '', False),
        ('1.0', '1.14', '1.0', '/v1', False),
        ('1.0', '1.14', '1.0', '/v1/', False),
    ],
)
def test_responses_of_retired_versions_have_the_headers(
    first, last, version, path, is_announced
):
    service = retiring_service(retire(first, last, sunset='2030-01-01'))

    assert bool(values(send(service, version, path), 'Sunset')) == is_announced


def test_links_of_the_application_are_kept():
    def app(environ, start_response):
        headers = [('Content-Type', 'text/plain'), ('Link', '<a>; rel="x"')]
        start_response('200 OK', headers)
        return [b'']

    versions = dataclasses.replace(presets.SENLIN, retired=(END_OF_2,))
    response = wsgi.call(
        middleware.Microversions(app, versions),
        headers={'OpenStack-API-Version': 'clustering 1.2'},
    )

    assert values(response, 'Link')[0] == '<a>; rel="x"'
    assert len(values(response, 'Link')) == 2


def test_headers_contain_only_the_declared_parts():
    end = retire('1.2', sunset='2030-01-01')

    assert [name for name, _ in end.headers('s', HELP)] == ['Sunset', 'Link']


def test_help_url_of_the_retirement_replaces_that_of_the_policy():
    end = retire(
        '1.2',
        deprecated='2030-01-01',
        successor='https://example.org/v2/',
        help_url='https://example.org/end',
    )

    assert [value for _, value in end.headers('s', HELP)[1:]] == [
        '<https://example.org/end>; rel="deprecation"; type="text/html", '
        '<https://example.org/v2/>; rel="successor-version"'
    ]


def test_date_is_converted_to_utc():
    plain = retire('1.2', sunset='2027-06-30')
    east = retire('1.2', sunset='2027-06-30T02:00:00+02:00')

    assert plain == east


@pytest.mark.parametrize(
    ('arguments', 'problem'),
    [
        ({}, 'retire 1.2: needs a date'),
        ({'sunset': 'soon'}, "sunset: 'soon' is not a date"),
        ({'deprecated': '2026-13-01'}, 'is not a date'),
        ({'deprecated': '2026-01-02', 'sunset': '2026-01-01'}, 'is before'),
        (
            {'sunset': '2026-01-02', 'successor': '1.2'},
            'must be a later version',
        ),
        ({'sunset': '2026-01-02', 'help_url': 'ftp://x'}, 'not an http'),
        (
            {'sunset': '2026-01-02', 'help_url': 'http://x/>;\r\na'},
            'not an http',
        ),
        ({'sunset': '0001-01-01T00:00:00+23:00'}, 'outside the calendar'),
        ({'last': '1.1', 'sunset': '2026-01-01'}, 'last version'),
        ({'last': '2.1', 'sunset': '2026-01-01'}, 'last version'),
        ({'sunset': '2026-01-02', 'successor': 'soon'}, 'not a version'),
        ({'sunset': '2026-01-02', 'successor': 'http://x y'}, 'not a version'),
        ({'sunset': '2026-01-02', 'successor': '1.07'}, 'not a version'),
    ],
)
def test_retirement_when_contradictory_is_rejected(arguments, problem):
    with pytest.raises(exceptions.VobjectsError, match=problem):
        retire('1.2', **arguments)


@pytest.mark.parametrize(
    ('retired', 'problem'),
    [
        ([('1.0', '1.4', ''), ('1.4', '1.6', '')], '1.4 is retired twice'),
        ([('1.2', '1.2', ''), ('1.2', '1.2', '')], '1.2 is retired twice'),
        ([('1.10', '1.15', '')], 'versions of the service, 1.0 to 1.14'),
        ([('2.0', '2.1', '')], 'versions of the service, 1.0 to 1.14'),
        ([('1.0', '1.2', '1.20')], 'the successor of 1.2, is above 1.14'),
    ],
)
def test_policy_rejects_retirements_outside_its_versions(retired, problem):
    retired_versions = tuple(
        retire(first, last, sunset='2030-01-01', successor=successor)
        for first, last, successor in retired
    )

    with pytest.raises(ValueError, match=problem):
        dataclasses.replace(presets.SENLIN, retired=retired_versions)


def test_line_is_parsed_like_the_equivalent_call():
    line = (
        '1.0-1.4  deprecated=2026-01-01 sunset=2027-06-30T12:00:00Z'
        ' successor=1.7 help_url=https://example.org/end?a=b'
    )

    assert retirement.parse(line) == retire(
        '1.0',
        '1.4',
        deprecated='2026-01-01',
        sunset='2027-06-30T12:00:00Z',
        successor='1.7',
        help_url='https://example.org/end?a=b',
    )
    assert retirement.parse('1.2 sunset=2027-06-30') == retire(
        '1.2', sunset='2027-06-30'
    )


@pytest.mark.parametrize(
    'line',
    [
        '',
        '1.2',
        '1.2-',
        '1.2 - 1.4 sunset=2027-06-30',
        '1.2 sunset',
        '1.2 sunset=',
        '1.2 end=2027-06-30',
        '1.2 sunset=2027-06-30 sunset=2027-06-30',
        'sunset=2027-06-30',
    ],
)
def test_line_when_malformed_is_rejected(line):
    with pytest.raises(exceptions.VobjectsError):
        retirement.parse(line)


def test_str_has_the_dates_and_the_successor():
    assert str(END_OF_2) == (
        'deprecated from 2023-06-30 23:59:59 UTC on, may be removed from'
        ' 2026-11-11 23:59:59 UTC on, followed by 1.7'
    )


def test_versions_covered_are_those_of_the_range():
    end = retire('1.2', '1.10', sunset='2030-01-01')

    covered = [
        minor
        for minor in range(15)
        if retirement.retirement_of([end], Version(1, minor))
    ]
    assert covered == list(range(2, 11))
