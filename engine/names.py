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

DEFAULT_FORMAT = 'node-$8R'

_FIELD = re.compile(r'\$([0-9]{0,2})([RI])')
_LETTERS = string.ascii_lowercase + string.digits


def node_name(name_format: str | None, index: int) -> str:
    """Return the name of a cluster's node.

    :param name_format: None or empty for :data:`DEFAULT_FORMAT`
    :param index: the number of the node in its cluster
    :returns: at most 255 characters
    """

    def fill(match: re.Match[str]) -> str:
        width = int(match[1] or 0)
        if match[2] == 'I':
            return str(index).zfill(width)
        # Not a secret: two nodes of one name do no harm.
        return ''.join(random.choices(_LETTERS, k=width or 8))  # noqa: S311

    return _FIELD.sub(fill, name_format or DEFAULT_FORMAT)[:255]
