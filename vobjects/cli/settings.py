# SPDX-License-Identifier: Apache-2.0
"""Find the configuration files of a command, and the options it requires.

Commands without ``--config-file`` read the files of :data:`PROJECT`, at the
places where oslo.config looks for them.
"""

from __future__ import annotations

import os
import pathlib

from oslo_config import cfg

from vobjects import exceptions

PROJECT = 'vobjects'


class NotConfigured(exceptions.VobjectsError):
    """A required option without a safe default is missing."""


def files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the files that a configuration was read from, in order.

    :param conf: configuration with its files read
    """
    paths = list(conf.config_file or ())
    for directory in conf.config_dir or ():
        paths += map(str, sorted(pathlib.Path(directory).glob('*.conf')))
    return paths


def places() -> str:
    """Return where a command without ``--config-file`` looks, as a clause."""
    return (
        f'~/.{PROJECT}, ~, /etc/{PROJECT} and /etc, for {PROJECT}.conf and'
        f' {PROJECT}.conf.d'
    )


def missing(conf: cfg.ConfigOpts, option: str, example: str) -> NotConfigured:
    """Return the error for an option that is not configured.

    :param conf: configuration with its files read
    :param option: name of the option, such as ``[database] connection``
    :param example: an example value
    """
    names = ', '.join(files(conf))
    if names:
        place = f'in {names}'
    else:
        place = f'and there is no configuration file (looked in {places()})'
    return NotConfigured(
        f'{option} is not set {place}; set it, for example {example}, or name'
        ' another file with --config-file'
    )


def require_bus(conf: cfg.ConfigOpts) -> str:
    """Return ``transport_url``, which must be configured.

    oslo.messaging's default is RabbitMQ on this host, which may belong to
    another service.

    :param conf: configuration with its files read
    :raises NotConfigured: ``transport_url`` is not set
    """
    # Imported here: "vobjects db" needs no message bus.
    from vobjects.rpc import transport

    url = transport.configured_url(conf)
    if url is None:
        raise missing(
            conf,
            '[DEFAULT] transport_url',
            'rabbit://USER:PASSWORD@HOST:5672/VHOST',
        )
    return url


def default_state_directory() -> pathlib.Path:
    """Return ``$XDG_STATE_HOME/vobjects``, or ``~/.local/state/vobjects``.

    Relative paths in the variable are ignored, as the XDG base directory
    specification requires.
    """
    home = pathlib.Path(os.environ.get('XDG_STATE_HOME', ''))
    if not home.is_absolute():
        home = pathlib.Path.home() / '.local' / 'state'
    return home / PROJECT
