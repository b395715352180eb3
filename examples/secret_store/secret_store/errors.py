# SPDX-License-Identifier: Apache-2.0
"""Errors that an engine raises to the API."""

from vobjects.exceptions import ServiceError


class NoSuchSecret(ServiceError):
    """The project has no such secret."""

    status = 404  # of the response
