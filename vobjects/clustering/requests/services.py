# SPDX-License-Identifier: Apache-2.0
"""Requests about the service itself."""

from __future__ import annotations

from vobjects import objects
from vobjects.clustering.requests import common


@objects.register
class ServiceListRequest(common.Request):
    """List the engine processes."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}


@objects.register
class BuildInfoRequest(common.Request):
    """Show the build of the service."""


@objects.register
class SummaryRequest(common.Request):
    """Count the resources of the caller's project by status.

    The API has no microversion with it; the console sends it.
    """


@objects.register
class RollbackVerdictRequest(common.Request):
    """Tell whether the previous release can read what is stored.

    The API has no microversion with it; the console sends it.
    """
