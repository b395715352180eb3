# SPDX-License-Identifier: Apache-2.0
"""What types are for: to ask, and to answer."""

from __future__ import annotations

from vobjects.base.objects import Object


class Request(Object):
    """What is asked of an engine."""


class Resource(Object):
    """What is answered to a reader."""

    REFUSE_LOSS = False
    UNKNOWN_FIELDS = 'keep'
