# SPDX-License-Identifier: Apache-2.0
"""Set up the logging of a process by its configuration."""

from __future__ import annotations

from oslo_config import cfg
from oslo_log import log, rate_limit

from vobjects import log_lines


def set_up(conf: cfg.ConfigOpts, project: str) -> None:
    """Set up logging; you can call it again, also in a forked process.

    :param conf: configuration with its files read and oslo.log's options
    :param project: name of the product in messages for syslog
    """
    rate_limit.uninstall_filter()  # setup() rejects a second filter
    log.setup(conf, project)
    log_lines.protect()
