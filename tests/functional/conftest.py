# SPDX-License-Identifier: Apache-2.0
"""See :mod:`tests.functional.fixtures`."""

from tests.functional.fixtures import (  # noqa: F401 - pytest looks for them here
    profile,
    profiles,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_makereport,
    pytest_xdist_make_scheduler,
    rest,
    service,
)
