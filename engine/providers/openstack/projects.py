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
        found = self._found(authorization)
        # Report a failed authentication early; the token then stays valid for
        # a while.
        found.authenticate()
        return found

    def _found(
        self, authorization: base.Authorization
    ) -> provider.OpenStackProvider:
        left = None
        with self._lock:
            found = self._kept.get(authorization.id)
            if found is None:
                found = self._cloud.as_user(authorization)
                self._kept[authorization.id] = found
            self._kept.move_to_end(authorization.id)
            if len(self._kept) > self._most:
                _, left = self._kept.popitem(last=False)
        if left is not None:
            left.close()
        return found
