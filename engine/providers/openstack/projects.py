# SPDX-License-Identifier: Apache-2.0
"""Access the cloud for the users that the service acts for."""

from __future__ import annotations

import collections
import threading

from engine.providers import base
from engine.providers.openstack import provider

#: Maximum number of authorizations whose connections are cached.
MOST = 256


class UserClouds:
    """Returns the cloud for an authorization, from a cache of recent ones.

    :param most: the maximum number of cached authorizations
    """

    def __init__(
        self, cloud: provider.OpenStackProvider, most: int = MOST
    ) -> None:
        self._cloud = cloud
        self._most = most
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[str, provider.OpenStackProvider]
        self._kept = collections.OrderedDict()

    def __call__(self, authorization: base.Authorization) -> base.Provider:
        """Return the cloud with the permissions of a user in a project.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        cloud = self._found(authorization)
        # Report a failed authentication early; the token then stays valid for
        # a while.
        cloud.authenticate()
        return cloud

    def _found(
        self, authorization: base.Authorization
    ) -> provider.OpenStackProvider:
        evicted = None
        with self._lock:
            cloud = self._kept.get(authorization.id)
            if cloud is None:
                cloud = self._cloud.as_user(authorization)
                self._kept[authorization.id] = cloud
            self._kept.move_to_end(authorization.id)
            if len(self._kept) > self._most:
                _, evicted = self._kept.popitem(last=False)
        if evicted is not None:
            evicted.close()
        return cloud
