# SPDX-License-Identifier: Apache-2.0
"""Exchange and topic names of the service's message bus."""

from __future__ import annotations

EXCHANGE = 'vobjects-clustering'
ENGINE = 'vobjects-engine'
API = 'vobjects-api'
