# SPDX-License-Identifier: Apache-2.0
"""What the requests of several resources have alike."""

from __future__ import annotations

from vobjects import base, fields


class ListRequest(base.Request):
    """The fields every list request has (api-ref, "pagination").

    Each adds ``sort``, with the keys that it can sort by.
    """

    fields = {
        'limit': fields.CapacityField(minimum=0, nullable=True),
        'marker': fields.UUIDField(nullable=True),
        'global_project': fields.StrictBooleanField(default=False),
    }
