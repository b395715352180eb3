# SPDX-License-Identifier: Apache-2.0
"""Hide the values of secret fields from ``repr`` and error messages.

Secret values are sent and stored like any others.
"""

from __future__ import annotations

import copy
import re
from typing import Any, TypeVar

from oslo_versionedobjects import fields as ovo_fields

AnyField = ovo_fields.Field[Any]
FieldT = TypeVar('FieldT', bound=AnyField)

#: Text that replaces a secret value.
HIDDEN = '***'

_ATTRIBUTE = '_vobjects_sensitive'


def sensitive(field: FieldT) -> FieldT:
    """Mark a field as secret; its ``repr`` and fingerprint do not change.

    ``SensitiveStringField`` needs no mark.
    """
    # Two types may share a field object, as in vobjects.objects.history.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, True)
    return copied


def is_sensitive(field: AnyField) -> bool:
    """Tell whether the values of a field must be hidden."""
    return hasattr(field, _ATTRIBUTE) or _holds_secrets(field._type)


def _holds_secrets(field_type: Any) -> bool:
    if isinstance(field_type, ovo_fields.CompoundFieldType):
        return is_sensitive(field_type._element_type)
    return isinstance(field_type, ovo_fields.SensitiveString)


def mask_url(url: str) -> str:
    """Return the URL of a database or a message bus without its passwords.

    If a password contains an unescaped ``@`` or ``/``, more than the password
    may be hidden, but never less.

    :param url: the URL; commas separate multiple hosts, as in
        ``transport_url``
    """
    scheme, separator, rest = url.partition('://')
    if not separator:
        return url
    hosts = [
        re.sub(r'^([^:@/]*):.*@', rf'\1:{HIDDEN}@', host, flags=re.DOTALL)
        for host in rest.split(',')
    ]
    masked = ','.join(hosts)
    query = re.sub(r'(?i)((?:password|passwd)=)[^&]*', rf'\1{HIDDEN}', masked)
    return f'{scheme}://{query}'
