# SPDX-License-Identifier: Apache-2.0
"""What every test relies on."""

from __future__ import annotations

# First of all: it has oslo.service choose threads before a test module
# imports something of oslo that would choose eventlet.
import vobjects.base  # noqa: F401  # isort: skip

from hypothesis import settings

# A slow machine is no finding.
settings.register_profile('vobjects', deadline=None)
settings.load_profile('vobjects')
