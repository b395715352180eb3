# SPDX-License-Identifier: Apache-2.0
"""Register all types of the clustering service when imported."""

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
