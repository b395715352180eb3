# SPDX-License-Identifier: Apache-2.0
"""Errors that a conductor raises to the API."""

from vobjects.exceptions import ServiceError


class NotFound(ServiceError):
    """There is no such resource."""

    status = 404


class InUse(ServiceError):
    """Other resources need this one."""

    status = 409


class NotRemovable(ServiceError):
    """A property must have a value."""

    status = 400
