# SPDX-License-Identifier: Apache-2.0
"""An OpenStack cloud, accessed with openstacksdk.

::

    provider            combines all parts, also for each user that the service
                        acts for
    notifications       Nova's notifications about servers
    conf                the options [provider_openstack]
    connection          sessions and API clients
    sdk_errors          error messages, and repeated requests
    servers             Nova's servers, with helpers in
                        server_requests, server_details and ports
    stacks              Heat's stacks
    locations           server groups, zones and regions, hypervisors
    octavia             load balancers

Containers don't belong to the cloud: see
:func:`engine.providers.base.load_containers`.
Except for notifications, the database stores nothing for this provider. A
resource created for a node has the node's ID in a tag or in its description,
so that another engine can find it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# The check of configuration files imports this package, for its options, in
# processes that do not need the database either.
if TYPE_CHECKING:
    from oslo_config import cfg

    from engine.db import database
    from engine.providers import base


def load(
    conf: cfg.ConfigOpts, target: database.Database | None = None
) -> base.Provider:
    """Return the provider for the cloud of ``[provider_openstack]``.

    It sends no request to the cloud before the first operation.

    :param target: the database that stores Nova's notifications
    :raises engine.providers.openstack.connection.CloudConfigError: the cloud
        or its authentication is not configured
    :raises vobjects.rpc.transport.BadTransport: ``notification_url`` is not
        usable
    """
    from engine.providers import base
    from engine.providers.openstack import connection, notifications, provider

    cloud = connection.Cloud.configured(conf)
    events = None
    if conf.provider_openstack.notification_url and target is not None:
        events = notifications.Notifications(conf, target)
    root = provider.OpenStackProvider(
        base.load_containers(conf), cloud, events
    )
    if conf.provider_openstack.account == 'project':
        root.for_user = provider.UserClouds(root)
    return root
