# SPDX-License-Identifier: Apache-2.0
"""Errors of this driver; see also ``oslo_messaging_driverlib.errors``."""

from __future__ import annotations

import oslo_messaging
from oslo_config import cfg


class BadOption(cfg.Error):
    """The value of an option is not supported, or contradicts another one."""


class NoQueue(oslo_messaging.MessagingTimeout):  # type: ignore[misc]
    """No queue has received a call: no server has ever listened.

    This is a kind of timeout, because the driver of oslo.messaging waits for
    the whole timeout in this case.
    """
