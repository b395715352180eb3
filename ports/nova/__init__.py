# SPDX-License-Identifier: Apache-2.0
"""Nova's API on this library: its modules, edits and tests."""

from ports.nova.edits import PORT as PORT
