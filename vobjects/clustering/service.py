# SPDX-License-Identifier: Apache-2.0
"""The declaration of the clustering service."""

from __future__ import annotations

from vobjects.clustering import history, topics
from vobjects.service import Service

SERVICE = Service(
    name='clustering',
    types=('vobjects.clustering.types',),
    history=history.HISTORY,
    # Its errors may be raised to an RPC caller.
    error_modules=('vobjects.clustering.errors',),
    lock='vobjects.clustering',
    stored='engine.db.stored',
    contract='api.contract',
    distribution='vobjects',
    exchange=topics.EXCHANGE,
    topic=topics.ENGINE,
    client_topic=topics.API,
)
