# SPDX-License-Identifier: Apache-2.0
"""Edits of Barbican 23.0.0: the library negotiates versions."""

from __future__ import annotations

import pathlib

from ports.editing import Module, Remove, Replace
from ports.port import Port

_HERE = pathlib.Path(__file__).parent

_VERSIONS = 'api/controllers/versions.py'

_EDITS = (
    Module('api/middleware/microversion.py', _HERE / 'microversion.py'),
    Remove(
        _VERSIONS, ('_MIN_MICROVERSION', '_MAX_MICROVERSION', '_LAST_UPDATED')
    ),
    Replace(
        _VERSIONS,
        'VERSIONS',
        """\
        from barbican.api.middleware.microversion import (  # noqa: E402
            POLICY,
            VERSIONS,
            is_supported,
        )
        """,
    ),
    Remove(_VERSIONS, ('is_supported',)),
    Replace(
        _VERSIONS,
        'V1Controller.last_updated',
        'last_updated = POLICY.updated',
    ),
)

PORT = Port(
    name='barbican',
    release='23.0.0',
    edits=_EDITS,
    tests=('barbican/tests/api',),
    replaced_tests=(),
    requirements=('PyKMIP', 'httpx'),
    empty_folders=('etc/barbican',),
)
