# SPDX-License-Identifier: Apache-2.0
"""Errors that an engine raises to the API."""

from vobjects.exceptions import ServiceError


class NoSuchKey(ServiceError):
    """The key does not exist."""

    status = 404  # of the response
