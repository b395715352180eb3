# SPDX-License-Identifier: Apache-2.0
"""Base types that several requests share."""

from __future__ import annotations

from vobjects import fields, objects


class ListRequest(objects.Request):
    """Base of all list requests: pagination and project scope.

    The field names are those of Senlin's API reference. Each subclass adds
    ``sort`` with its own sort keys.
    """

    fields = {
        'limit': fields.CapacityField(minimum=0, nullable=True),
        'marker': fields.UUIDField(nullable=True),
        'global_project': fields.StrictBooleanField(default=False),
    }
