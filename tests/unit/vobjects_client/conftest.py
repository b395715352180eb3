# SPDX-License-Identifier: Apache-2.0
"""The fixtures that the tests of the library have."""

from tests.unit.vobjects.conftest import registry

__all__ = ['registry']
