# SPDX-License-Identifier: Apache-2.0
"""What the requests of several resources have alike."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from oslo_versionedobjects import fields as ovo_fields

from vobjects import fields


def paging(sort_keys: Collection[str]) -> dict[str, ovo_fields.Field[Any]]:
    """Return the fields every list request has (api-ref, "pagination")."""
    return {
        'limit': fields.CapacityField(minimum=0, nullable=True),
        'marker': fields.UUIDField(nullable=True),
        'sort': fields.SortField(sort_keys, nullable=True),
        'global_project': fields.StrictBooleanField(default=False),
    }
