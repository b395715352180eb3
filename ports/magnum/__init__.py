# SPDX-License-Identifier: Apache-2.0
"""Magnum on this library: its version module, edits and tests."""

from ports.magnum.edits import PORT as PORT
from ports.magnum.edits import PREVIOUS as PREVIOUS
