# SPDX-License-Identifier: Apache-2.0
"""Retirement of versions: declaration, checks and headers."""

from __future__ import annotations

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
    ('version', 'ends'),
    [('1.0', False), ('1.1', True), ('1.4', True), ('1.5', False)],
)
def test_range_is_retired_including_both_ends(version, ends):
    service = retiring_service(retire('1.1', '1.4', deprecated='2026-01-01'))

    assert bool(values(send(service, version), 'Deprecation')) == ends


def test_error_of_a_retired_version_has_the_headers():
    service = retiring_service(END_OF_2)

    assert values(send(service, '1.2', '/v1/missing'), 'Sunset')


@pytest.mark.parametrize('version', ['1.99', 'pony'])
def test_rejected_version_has_no_retirement_headers(version):
    service = retiring_service(retire('1.0', '1.14', sunset='2030-01-01'))

    assert values(send(service, version), 'Sunset') == []


@pytest.mark.parametrize('path', ['/', '', '/v1', '/v1/'])
def test_discovery_has_no_retirement_headers(path):
    service = retiring_service(retire('1.0', sunset='2030-01-01'))

    assert values(wsgi.call(service.app, path), 'Sunset') == []


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
    ],
)
def test_retirement_when_contradictory_is_rejected(arguments, problem):
    with pytest.raises(exceptions.DeclarationError, match=problem):
        retire('1.2', **arguments)


@pytest.mark.parametrize(('first', 'last'), [('1.4', '1.2'), ('1.4', '2.1')])
def test_range_when_invalid_is_rejected(first, last):
    with pytest.raises(exceptions.DeclarationError, match='last version'):
        retire(first, last, sunset='2026-01-01')


@pytest.mark.parametrize('successor', ['soon', 'http://x y', '1.07'])
def test_successor_that_is_neither_version_nor_url_is_rejected(successor):
    with pytest.raises(exceptions.InvalidVersion):
        retire('1.2', sunset='2026-01-01', successor=successor)


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

    covered = [m for m in range(15) if end.covers(Version(1, m))]
    assert covered == list(range(2, 11))
