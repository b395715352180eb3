# SPDX-License-Identifier: Apache-2.0
"""Barbican on this library: its version module, edits and tests."""

from ports.barbican.edits import PORT as PORT
