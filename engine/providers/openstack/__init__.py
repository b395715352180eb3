# SPDX-License-Identifier: Apache-2.0
"""A cloud of OpenStack, spoken to with openstacksdk.

::

    provider     all of it together
    projects     the same for each user that the service acts for
    conf         the options [provider_openstack]
    connection   how the cloud is reached
    asking       errors in the cloud's words, and waiting that ends
    servers      Nova's servers, with parts of their own in
                 server_requests, server_details,
                 server_operations and ports
    stacks       Heat's stacks
    placement    server groups, zones and regions, hypervisors
    octavia      load balancers

Containers are not the cloud's: see :mod:`engine.providers.docker`.

Nothing is remembered here. What is made for a node carries the node's ID in a
tag or a description, by which another engine finds it again.
"""

from __future__ import annotations

import importlib.util

from oslo_config import cfg

from engine.db import database
from engine.providers import base
from vobjects import exceptions


class NotInstalledError(exceptions.VobjectsError):
    """The library that the provider needs is not there."""


def load(
    conf: cfg.ConfigOpts, target: database.Database | None = None
) -> base.Provider:
    """Return the provider for the cloud of ``[provider_openstack]``.

    Nothing is sent to the cloud before somebody asks for something.

    :param target: not used: nothing is remembered
    :raises NotInstalledError: without openstacksdk
    :raises engine.providers.openstack.connection.CloudConfigError: no cloud,
        or no way to authenticate, is configured
    """
    if importlib.util.find_spec('openstack') is None:
        raise NotInstalledError(
            '[engine] provider = openstack needs openstacksdk:'
            " pip install 'vobjects[openstack]'"
        )
    from engine.providers.openstack import connection, projects, provider

    cloud = connection.Cloud.configured(conf)
    found = provider.OpenStackProvider(conf, cloud)
    if conf.provider_openstack.account == 'project':
        found.delegated = projects.Projects(found)
    return found
