# SPDX-License-Identifier: Apache-2.0
"""Where the processes of the service find one another on the bus."""

from __future__ import annotations

EXCHANGE = 'vobjects-clustering'
ENGINE = 'vobjects-engine'
API = 'vobjects-api'

#: Modules of errors that an engine raises at the caller.
ERROR_MODULES = ('vobjects.clustering.errors',)
