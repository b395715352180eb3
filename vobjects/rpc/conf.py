# SPDX-License-Identifier: Apache-2.0
"""Options of the RPC layer."""

from __future__ import annotations

import pathlib
from typing import Any

from oslo_config import cfg

from vobjects import exceptions
from vobjects.manifest import Manifest

FLEET_OPTS = [
    cfg.FloatOpt(
        'heartbeat_interval',
        default=2.0,
        min=0.2,
        help='Heartbeat period of every process, in seconds. The death of a'
        ' process is noticed within two periods. Set the same value on all'
        ' hosts.',
    ),
    cfg.IntOpt(
        'call_timeout',
        default=30,
        min=1,
        help='Seconds an RPC may take before the caller gives up.',
    ),
]

UPGRADE_LEVELS_OPTS = [
    cfg.StrOpt(
        'engine',
        default='auto',
        help='What this process may say to engines: "auto" follows the live'
        ' engines; the path of a manifest file (see "vobjects fleet'
        ' manifest") also limits it to the versions in the file.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options; harmless when done twice."""
    # By name: a group object would share its values between configurations.
    for name, options in list_opts():
        conf.register_opts(options, name)


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [
        ('fleet', list(FLEET_OPTS)),
        ('upgrade_levels', list(UPGRADE_LEVELS_OPTS)),
    ]


def pin(conf: cfg.ConfigOpts) -> Manifest | None:
    """Return the pinned manifest, if one is configured.

    :raises vobjects.exceptions.VobjectsError: the file holds no manifest
    """
    level = conf.upgrade_levels.engine
    if level == 'auto':
        return None
    try:
        return Manifest.load(pathlib.Path(level))
    except OSError as error:
        raise exceptions.VobjectsError(
            f'[upgrade_levels] engine = {level}: {error.strerror}; write'
            ' "auto" or the path of a manifest file'
        ) from None
