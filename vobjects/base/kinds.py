# SPDX-License-Identifier: Apache-2.0
"""Base classes of requests and resources."""

from __future__ import annotations

from typing import ClassVar

from vobjects import exceptions
from vobjects.base.objects import Object


class Request(Object):
    """Arguments of a call to an engine."""

    #: The required fields: neither nullable nor with a default. Registration
    #: sets both attributes; the second has the names of the instance
    #: attributes that hold the values.
    _required: ClassVar[tuple[str, ...]] = ()
    _required_held: ClassVar[frozenset[str]] = frozenset()

    def check_complete(self) -> None:
        """Check that every required field is set.

        :raises vobjects.exceptions.FieldsMissing: names the unset fields
        """
        # The serializer checks every request; this test is usually enough.
        if self._required_held <= self.__dict__.keys():
            return
        missing = [
            name for name in self._required if not self.obj_attr_is_set(name)
        ]
        if missing:
            raise exceptions.FieldsMissing(self.obj_name(), missing)


class Resource(Object):
    """Data that is returned to a reader."""

    REFUSE_LOSS = False
    UNKNOWN_FIELDS = 'keep'
