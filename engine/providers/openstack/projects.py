# SPDX-License-Identifier: Apache-2.0
"""Access the cloud for the users that the service acts for."""

from __future__ import annotations

import collections
import threading

from engine.providers import base
from engine.providers.openstack import provider

#: Maximum number of delegations whose connections are cached.
MOST = 256


class Projects:
    """Returns the cloud for a delegation, from a cache of recent ones.

    :param most: the maximum number of cached delegations
    """

    def __init__(
        self, cloud: provider.OpenStackProvider, most: int = MOST
    ) -> None:
        self._cloud = cloud
        self._most = most
        self._lock = threading.Lock()
        self._kept: collections.OrderedDict[str, provider.OpenStackProvider]
        self._kept = collections.OrderedDict()

    def __call__(self, delegation: base.Delegation) -> base.Provider:
        """Return the cloud with the permissions of a user in a project.

        :raises engine.providers.base.ProviderError: authentication failed
        """
        found = self._found(delegation)
        # Report a failed authentication early; the token then stays valid for
        # a while.
        found.authenticate()
        return found

    def _found(
        self, delegation: base.Delegation
    ) -> provider.OpenStackProvider:
        left = None
        with self._lock:
            found = self._kept.get(delegation.id)
            if found is None:
                found = self._cloud.acting_by(delegation)
                self._kept[delegation.id] = found
            self._kept.move_to_end(delegation.id)
            if len(self._kept) > self._most:
                _, left = self._kept.popitem(last=False)
        if left is not None:
            left.close()
        return found
