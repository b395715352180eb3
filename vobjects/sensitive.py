# SPDX-License-Identifier: Apache-2.0
"""Fields whose values are secret: not in a ``repr``, not in an error.

They travel and are stored like any others.
"""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from oslo_versionedobjects import fields as ovo_fields

AnyField = ovo_fields.Field[Any]
FieldT = TypeVar('FieldT', bound=AnyField)

#: What is shown instead.
HIDDEN = '***'

_ATTRIBUTE = '_vobjects_sensitive'


def sensitive(field: FieldT) -> FieldT:
    """Mark a field; neither its ``repr`` nor the fingerprint changes.

    ``SensitiveStringField`` needs no mark.
    """
    # A field object may be shared by two types, as in vobjects.history.
    marked = copy.copy(field)
    setattr(marked, _ATTRIBUTE, True)
    return marked


def is_sensitive(field: AnyField) -> bool:
    """Tell whether values of a field are not to be shown."""
    return hasattr(field, _ATTRIBUTE) or _holds_secrets(field._type)


def _holds_secrets(kind: Any) -> bool:
    if isinstance(kind, ovo_fields.CompoundFieldType):
        return is_sensitive(kind._element_type)
    return isinstance(kind, ovo_fields.SensitiveString)
