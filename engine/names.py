# SPDX-License-Identifier: Apache-2.0
"""Generate the names of a cluster's nodes.

The cluster's config may have a format under ``node.name.format``: ``$nR`` is
replaced by n random characters, and ``$nI`` by the node's index, padded with
zeros to n digits. Without n, there are 8 random characters, and the index is
not padded. Values of n above 255 count as 255.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions
from vobjects.clustering import errors
from vobjects.clustering.fields import Name

#: Key in a cluster's config.
FORMAT_KEY = 'node.name.format'

DEFAULT_FORMAT = 'node-$8R'

#: Maximum number of characters of a format, and of a name.
MAX_LENGTH = 255

_PART = re.compile(r'\$([0-9]{0,8})([rRI])|[^$]+|\$')

#: Maximum number of characters in a format per character of the name, as in
#: ``$00000001I``.
_MAX_FORMAT_RATIO = 10

_LETTERS = string.ascii_lowercase + string.digits


def check_config(config: Mapping[str, Any]) -> None:
    """Reject a cluster config whose name format is invalid.

    :raises vobjects.clustering.errors.BadRequest: names the key
    """
    name_format = config.get(FORMAT_KEY)
    if isinstance(name_format, str) and len(name_format) > MAX_LENGTH:
        raise errors.BadRequest(
            f'config: {FORMAT_KEY} must have at most {MAX_LENGTH} characters,'
            f' not {len(name_format)}.'
        )
    if member_name(config, 1) in ('.', '..'):
        raise errors.BadRequest(
            f'config: {FORMAT_KEY} must result in names other than "." and'
            ' "..".'
        )


def member_name(config: Mapping[str, Any], index: int) -> str:
    """Return the name of a cluster's node.

    :param config: config of the cluster
    :param index: index of the node in the cluster
    :raises vobjects.clustering.errors.BadRequest: the format does not result
        in valid names, whatever the index
    """
    name_format = config.get(FORMAT_KEY) or DEFAULT_FORMAT
    if not isinstance(name_format, str):
        raise errors.BadRequest(
            f'config: {FORMAT_KEY} must be a string, not'
            f' {exceptions.cut(name_format)}.'
        )
    name = node_name(name_format, index)
    if not re.fullmatch(Name.PATTERN, name):
        raise errors.BadRequest(
            f'config: {FORMAT_KEY} must result in names of letters, digits and'
            f' "_.~-" only, not {exceptions.cut(name_format)}.'
        )
    return name


def node_name(name_format: str, index: int) -> str:
    """Return the name that a format gives for an index.

    Clusters that were imported from Senlin may have longer formats than
    :func:`check_config` accepts; the cost is limited for them, too.

    :returns: at most 255 characters
    """
    name = ''
    for match in _PART.finditer(name_format[: MAX_LENGTH * _MAX_FORMAT_RATIO]):
        name += _expand(match, index)
        if len(name) >= MAX_LENGTH:
            break
    return name[:MAX_LENGTH]


def _expand(part: re.Match[str], index: int) -> str:
    width = min(int(part[1] or 0), MAX_LENGTH)
    if part[2] == 'I':
        return str(index).zfill(width)
    if part[2] in ('r', 'R'):
        # Not a secret, and two nodes may have the same name.
        return ''.join(random.choices(_LETTERS, k=width or 8))  # noqa: S311
    return part[0]
