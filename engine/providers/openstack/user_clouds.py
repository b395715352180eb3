# SPDX-License-Identifier: Apache-2.0
"""Access the cloud for the users that the service acts for."""

from __future__ import annotations

import collections
import threading

from engine.providers import base
from engine.providers.openstack import provider

#: Maximum number of authorizations whose connections are cached.
MAX_CACHED = 256


class UserClouds:
    """Returns the cloud for an authorization, from a cache of recent ones.

    :param max_cached: the maximum number of cached authorizations
    """

    def __init__(
        self, cloud: provider.OpenStackProvider, max_cached: int = MAX_CACHED
    ) -> None:
        self._cloud = cloud
        self._max_cached = max_cached
        self._lock = threading.Lock()
        self._clouds: collections.OrderedDict[str, provider.OpenStackProvider]
        self._clouds = collections.OrderedDict()

    def __call__(self, authorization: base.Authorization) -> base.Provider:
        """Return the cloud with the permissions of a user in a project.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        cloud = self._cached(authorization)
        # Report a failed authentication early; the token then stays valid for
        # a while.
        cloud.authenticate()
        return cloud

    def _cached(
        self, authorization: base.Authorization
    ) -> provider.OpenStackProvider:
        evicted = None
        with self._lock:
            cloud = self._clouds.get(authorization.id)
            if cloud is None:
                cloud = self._cloud.as_user(authorization)
                self._clouds[authorization.id] = cloud
            self._clouds.move_to_end(authorization.id)
            if len(self._clouds) > self._max_cached:
                _, evicted = self._clouds.popitem(last=False)
        if evicted is not None:
            evicted.close()
        return cloud
