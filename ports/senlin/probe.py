# SPDX-License-Identifier: Apache-2.0
"""A Senlin API to send requests to, without a database."""

from senlin.api.middleware import fault, version_negotiation
from senlin.api.openstack.v1 import router
from senlin.common import messaging

SERVICE = 'clustering'
MAJOR = '1'
PATHS = (
    '/',
    '/versions',
    '/v1',
    '/v1/',
    '/v1.1',
    '/v2',
    '/v1/no-such-resource',
)


def application():
    """Return a WSGI application."""
    messaging.setup('fake://')
    return fault.FaultWrapper(
        version_negotiation.VersionNegotiationFilter(router.API({}), None)
    )
