# SPDX-License-Identifier: Apache-2.0
"""Senlin on this library: its version module, edits and tests."""

from ports.senlin.edits import PORT as PORT
