# SPDX-License-Identifier: Apache-2.0
"""Requests about the service itself."""

from __future__ import annotations

from vobjects import objects


@objects.register
class ServiceListRequest(objects.Request):
    """List the engine processes."""

    VERSION_MAP = {'1.7': '1.0'}
    EARLY_VERSION_MAP = {'1.0': '1.0'}


@objects.register
class BuildInfoRequest(objects.Request):
    """Show the build of the service."""


@objects.register
class SummaryRequest(objects.Request):
    """Count the resources of the caller's project by status.

    The API has no microversion with it; the console sends it.
    """
