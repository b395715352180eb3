# SPDX-License-Identifier: Apache-2.0
"""Field types with the rules of Senlin: :class:`NameField`."""

from __future__ import annotations

from typing import Any

from vobjects import fields


# The lock and the fingerprints have the name of the class.
class Name(fields.Name):
    """A name with the characters that Senlin accepts."""

    # ASCII letters and digits, CJK, and -._~ as in Senlin, also at the start:
    # no name is an argument of a command. A name such as -rf for another
    # system gets a prefix if that system rejects it.
    PATTERN = r'^[a-zA-Z0-9_.~\u4e00-\u9fa5-]+$'
    # The paths of "." and ".." would lead to another resource, see RFC 3986,
    # section 5.2.4; but stored actions and older peers have such names.
    NEW_PATTERN = (
        r'^(\.{0,2}[a-zA-Z0-9_~\u4e00-\u9fa5-][a-zA-Z0-9_.~\u4e00-\u9fa5-]*'
        r'|\.{3,}[a-zA-Z0-9_.~\u4e00-\u9fa5-]*)$'
    )
    REQUIREMENT = (
        'must have only letters, digits and the characters "_.~-", and must'
        ' not be "." or ".."'
    )


class NameField(fields.LimitedField[str]):
    """Field of type :class:`Name`.

    :param minimum: minimum length, in characters
    :param maximum: maximum length, in characters
    :param options: see ``oslo_versionedobjects.fields.Field``
    """

    def __init__(
        self, minimum: int = 1, maximum: int = 255, **options: Any
    ) -> None:
        super().__init__(Name(minimum, maximum), **options)
