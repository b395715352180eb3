# SPDX-License-Identifier: Apache-2.0
"""Set up the logging of a process by its configuration."""

from __future__ import annotations

from oslo_config import cfg
from oslo_log import log, rate_limit

from vobjects import exceptions, log_lines


def set_up(conf: cfg.ConfigOpts, project: str) -> None:
    """Set up logging; you can call it again, also in a forked process.

    :param conf: configuration with its files read and oslo.log's options
    :param project: name of the product in messages for syslog
    :raises vobjects.exceptions.VobjectsError: an option names a log or a
        file that cannot be opened
    """
    rate_limit.uninstall_filter()  # setup() rejects a second filter
    try:
        log.setup(conf, project)
    except (OSError, log.LogConfigError) as error:
        raise exceptions.VobjectsError(
            f'logging cannot be set up: {error}; correct [DEFAULT] log_file,'
            ' log_dir, log_config_append or use_syslog'
        ) from error
    log_lines.protect()
