# SPDX-License-Identifier: Apache-2.0
"""Names of the nodes that a cluster makes.

The cluster's configuration may have a format under ``node.name.format``, in
which ``$nR`` is n random characters and ``$nI`` the node's index, padded
with zeros to n digits; n may be left out.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions, fields
from vobjects.clustering import errors

#: The key of a cluster's config.
CONFIG = 'node.name.format'

DEFAULT_FORMAT = 'node-$8R'

_FIELD = re.compile(r'\$([0-9]{0,2})([RI])')
_LETTERS = string.ascii_lowercase + string.digits


def member_name(config: Mapping[str, Any], index: int) -> str:
    """Return the name of a cluster's node.

    :param config: of the cluster
    :param index: the number of the node in its cluster
    :raises vobjects.clustering.errors.BadRequest: no node can be called what
        the format says, whatever its index
    """
    name_format = config.get(CONFIG) or DEFAULT_FORMAT
    if not isinstance(name_format, str):
        raise errors.BadRequest(
            f'config: {CONFIG} must be a string, not'
            f' {exceptions.cut(name_format)}.'
        )
    name = node_name(name_format, index)
    if not re.fullmatch(fields.NAME_PATTERN, name):
        raise errors.BadRequest(
            f'config: {CONFIG} {exceptions.cut(name_format)} makes no names:'
            ' they may hold letters, digits and "_.~-" only.'
        )
    return name


def node_name(name_format: str, index: int) -> str:
    """Return what a format says.

    :returns: at most 255 characters
    """

    def fill(match: re.Match[str]) -> str:
        width = int(match[1] or 0)
        if match[2] == 'I':
            return str(index).zfill(width)
        # Not a secret: two nodes of one name do no harm.
        return ''.join(random.choices(_LETTERS, k=width or 8))  # noqa: S311

    return _FIELD.sub(fill, name_format)[:255]
