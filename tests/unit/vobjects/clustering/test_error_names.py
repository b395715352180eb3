# SPDX-License-Identifier: Apache-2.0
"""The names of the service's error classes, which cross the bus."""

from __future__ import annotations

from tests.unit.vobjects.rpc.test_error_names import error_names
from vobjects.clustering.service import SERVICE

#: A process of an earlier release rebuilds an error from its name, so none of
#: these may change; see the test of the library's names.
NAMES = """
    ActionConflict ActionCooldown ActionImmutable ActionInProgress BadRequest
    ClusteringError FeatureNotSupported Forbidden InvalidSpec ListTooLarge
    MultipleChoices OverQuota PolicyBindingNotFound ResourceInUse
    ResourceIsLocked ResourceNotFound Unavailable UnreadableRow
    """


def test_errors_keep_their_names() -> None:
    (module,) = SERVICE.error_modules

    assert error_names(module) == NAMES.split()
