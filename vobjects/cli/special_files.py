# SPDX-License-Identifier: Apache-2.0
"""Reject files that a process could wait for, before it opens them.

Opening a FIFO waits for another process, and reading a device may never end.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING

from vobjects import exceptions

if TYPE_CHECKING:
    from oslo_config import cfg

#: Ends of the names of the options that name a file to open.
_FILE_OPTIONS = ('file', 'log_config_append')

_KINDS = (
    (stat.S_ISDIR, 'a directory'),
    (stat.S_ISFIFO, 'a FIFO'),
    (stat.S_ISSOCK, 'a socket'),
    (stat.S_ISCHR, 'a device'),
    (stat.S_ISBLK, 'a device'),
)


def kind_of(path: str | os.PathLike[str], *, is_log: bool = False) -> str:
    """Return what a path names, if it is not a file; else ``''``.

    A file is also the null device, a pipe without a path, such as
    ``/dev/stdin``, and, for a log, any device that takes characters.
    """
    try:
        resolved = pathlib.Path(path).resolve()
        mode = os.stat(path).st_mode
    except (OSError, RuntimeError, ValueError):
        return ''  # opening it fails at once
    if str(resolved) == os.devnull or (is_log and stat.S_ISCHR(mode)):
        return ''
    if stat.S_ISFIFO(mode) and not resolved.exists():
        return ''
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), '')


def check(conf: cfg.ConfigOpts) -> None:
    """Check the files that options name.

    :param conf: configuration with its files read
    :raises vobjects.exceptions.VobjectsError: one is not a file; the message
        names the option
    """
    # Imported here: the help of a command does not need it.
    from oslo_config import cfg

    for section, options in {'DEFAULT': conf, **conf}.items():
        if not isinstance(options, Mapping):
            continue
        for name in options:
            # The processes that use the option report an invalid value.
            with contextlib.suppress(cfg.Error):
                value = options[name]
                if kind := kind_of_option(conf, name, value):
                    raise exceptions.VobjectsError(
                        f'[{section}] {name} = {value} must be a file, not'
                        f' {kind}'
                    )


def kind_of_option(conf: cfg.ConfigOpts, name: str, value: object) -> str:
    """Return what an option names instead of a file, see :func:`kind_of`.

    :returns: ``''`` if the option names no file at all
    """
    if not (name.endswith(_FILE_OPTIONS) and isinstance(value, str) and value):
        return ''
    if name == 'log_file':
        return kind_of(os.path.join(conf.log_dir or '', value), is_log=True)
    return kind_of(conf.find_file(value) or value)
