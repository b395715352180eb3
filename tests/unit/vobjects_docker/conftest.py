# SPDX-License-Identifier: Apache-2.0
"""The databases and engines of the engine's tests."""

from tests.unit.engine.conftest import (  # noqa: F401 - pytest looks for them here
    any_database,
    any_harness,
    conf,
    harness,
    shared_database,
    sqlite_database,
)
