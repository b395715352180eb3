# SPDX-License-Identifier: Apache-2.0
"""Negotiation and versioned methods of Magnum on the library.

They take the place of Magnum's tests of its own version class, metaclass and
method lists.
"""

import pecan
import pytest
from magnum.api.controllers import base, versions
from magnum.tests.unit.api import base as api_base
from webob import exc

from vobjects import exceptions
from vobjects.versions import Version


@pytest.fixture
def request_at(monkeypatch):
    """Return a function that sets the version of the current request."""

    def set_version(major, minor):
        monkeypatch.setattr(
            type(pecan.request),
            '__getattr__',
            lambda _, name: {'version': Version(major, minor)}[name],
        )

    return set_version


class Controller(base.Controller):
    @base.Controller.api_version('1.2', '1.3')
    def show(self, name, limit):
        return f'new {name} {limit}'

    @base.Controller.api_version('1.0', '1.1')
    def show(self, name):  # noqa: F811
        return f'old {name}'

    @base.Controller.api_version('1.9')
    def show(self):  # noqa: F811
        return 'newest'


@pytest.mark.parametrize(
    ('version', 'arguments', 'expected'),
    [
        ((1, 0), ('a',), 'old a'),
        ((1, 1), ('a',), 'old a'),
        ((1, 3), ('a', 2), 'new a 2'),
        ((1, 10), (), 'newest'),
    ],
)
def test_method_when_read_is_the_one_of_the_version(
    request_at, version, arguments, expected
):
    request_at(*version)

    assert Controller().show(*arguments) == expected


@pytest.mark.parametrize('version', [(1, 4), (1, 8), (0, 9)])
def test_method_when_the_version_lacks_it_is_not_acceptable(
    request_at, version
):
    request_at(*version)

    with pytest.raises(exc.HTTPNotAcceptable, match='show'):
        _ = Controller().show


def test_method_when_ranges_overlap_is_rejected():
    with pytest.raises(exceptions.DeclarationError, match='overlaps'):

        class Overlapping(base.Controller):
            @base.Controller.api_version('1.1', '1.4')
            def show(self):
                pass

            @base.Controller.api_version('1.3')
            def show(self):  # noqa: F811
                pass


class TestNegotiation(api_base.FunctionalTest):
    """Requests with a version header, from Pecan's router on."""

    def get(self, version):
        headers = {'Accept': 'application/json'}
        if version is not None:
            headers['OpenStack-API-Version'] = version
        return self.app.get(
            '/v1/mservices', headers=headers, expect_errors=True
        )

    def test_version_when_served_is_in_the_headers(self):
        service = 'container-infrastructure-management'
        for requested, served in (
            (None, '1.1'),
            ('container-infra 1.1', '1.1'),
            (f'{service} 1.9', '1.9'),
            ('container-infrastructure latest', '1.14'),
            ('container-infra LATEST', '1.14'),
        ):
            response = self.get(requested)

            headers = response.headers
            self.assertEqual(
                f'{service} {served}', headers['OpenStack-API-Version']
            )
            self.assertEqual(
                f'{service} {versions.BASE_VER}',
                headers['OpenStack-API-Minimum-Version'],
            )
            self.assertEqual(
                f'{service} {versions.CURRENT_MAX_VER}',
                headers['OpenStack-API-Maximum-Version'],
            )
            self.assertEqual('OpenStack-API-Version', headers['Vary'])
            self.assertNotEqual(406, response.status_int)

    def test_version_when_not_served_is_repeated_in_the_header(self):
        for requested in (
            'container-infra 1.15',
            'container-infra 1.0',
            'container-infra 2.0',
        ):
            response = self.get(requested)

            self.assertEqual(406, response.status_int)
            self.assertIn(
                requested.split()[1], response.headers['OpenStack-API-Version']
            )
            (error,) = response.json['errors']
            self.assertEqual('1.1', error['min_version'])
            self.assertEqual('1.14', error['max_version'])

    def test_version_when_malformed_is_not_acceptable(self):
        for requested in (
            'container-infra',
            '1.3',
            'compute 2.1',
            'container-infra 1.a',
            'container-infra 1.03',
            'container-infra 1',
        ):
            self.assertEqual(406, self.get(requested).status_int)
