# SPDX-License-Identifier: Apache-2.0
"""A Nova API to send requests to, without a database."""

import nova.conf
from nova import rpc
from nova.tests.unit.api.openstack import fakes

SERVICE = 'compute'
MAJOR = '2'
PATHS = ('/', '/v2', '/v2.1', '/v3', '/v2.1/extensions')


def application():
    """Return a WSGI application."""
    nova.conf.CONF([], project='nova', default_config_files=[])
    # No request reaches a method that calls another process.
    rpc.get_client = rpc.get_notifier = lambda *_args, **_options: None
    return fakes.wsgi_app_v21()
