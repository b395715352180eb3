# SPDX-License-Identifier: Apache-2.0
"""Describe a server's error in a response, and rebuild it at the caller."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import oslo_messaging

from oslo_messaging_driverlib import oslo_api

LOG = logging.getLogger(__name__)


def describe(failure: Any) -> str:
    """Return oslo.messaging's description of an error, as JSON text.

    :param failure: an error as returned by ``sys.exc_info()``
    :raises Exception: the error has arguments that JSON cannot represent
    """
    text: str = oslo_api.serialize_remote_exception(failure)
    return text


def describe_unsendable(error: Exception, method: str | None) -> str:
    """Log and describe why a response could not be sent.

    The caller gets the description at once, and does not wait for its timeout.

    :param error: the error of encoding the response; call this function while
        it is handled
    :param method: the RPC method
    """
    LOG.exception('The response to %s cannot be sent', method)
    # A class that callers with any driver know.
    lost = oslo_messaging.MessagingTimeout(
        f'the response cannot be sent: {error}'[:1000]
    )
    return describe((type(lost), lost, None))


def rebuild(text: str, modules: Sequence[str]) -> Exception:
    """Return the error that a description stands for.

    :param text: the description
    :param modules: modules whose errors may be rebuilt; for others, the result
        is an ``oslo_messaging.RemoteError``
    """
    error: Exception = oslo_api.deserialize_remote_exception(text, modules)
    return error
