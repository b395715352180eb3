# SPDX-License-Identifier: Apache-2.0
"""A Magnum API to send requests to, as its own unit tests have it."""

from magnum.tests.unit.api import base

SERVICE = 'container-infra'
MAJOR = '1'
PATHS = ('/', '/v1', '/v2', '/v1/clusters')


def application():
    """Return a WSGI application."""

    class Case(base.FunctionalTest):
        def request(self):
            """Requests are not sent by the case."""

    case = Case('request')
    case.setUp()
    return case.app.app
