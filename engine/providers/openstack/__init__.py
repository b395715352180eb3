# SPDX-License-Identifier: Apache-2.0
"""A cloud of OpenStack, spoken to with openstacksdk.

::

    provider       all of it together
    projects       the same for each user that the service acts for
    notifications  what Nova tells of servers by itself
    conf           the options [provider_openstack]
    connection     how the cloud is reached
    asking         errors in the cloud's words, and waiting that ends
    servers        Nova's servers, with parts of their own in
                   server_requests, server_details,
                   server_operations and ports
    stacks         Heat's stacks
    placement      server groups, zones and regions, hypervisors
    octavia        load balancers

Containers are not the cloud's: see :mod:`engine.providers.docker`.

Nothing is remembered here but notifications. What is made for a node carries
the node's ID in a tag or a description, by which another engine finds it
again.
"""

from __future__ import annotations

from oslo_config import cfg

from engine.db import database
from engine.providers import base


def load(
    conf: cfg.ConfigOpts, target: database.Database | None = None
) -> base.Provider:
    """Return the provider for the cloud of ``[provider_openstack]``.

    Nothing is sent to the cloud before somebody asks for something.

    :param target: where Nova's notifications are written down
    :raises engine.providers.openstack.connection.CloudConfigError: no cloud,
        or no way to authenticate, is configured
    """
    from engine.providers.openstack import (
        connection,
        notifications,
        projects,
        provider,
    )

    cloud = connection.Cloud.configured(conf)
    events = None
    if conf.provider_openstack.notification_url and target is not None:
        events = notifications.Notifications(conf, target)
    found = provider.OpenStackProvider(conf, cloud, events)
    if conf.provider_openstack.account == 'project':
        found.delegated = projects.Projects(found)
    return found
