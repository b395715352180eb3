# SPDX-License-Identifier: Apache-2.0
"""Import this to have every type of the service registered."""

from __future__ import annotations

from vobjects.clustering import resources
from vobjects.clustering.requests import (
    actions,
    clusters,
    events,
    nodes,
    policies,
    profiles,
    receivers,
    services,
)

__all__ = [
    'actions',
    'clusters',
    'events',
    'nodes',
    'policies',
    'profiles',
    'receivers',
    'resources',
    'services',
]
