# SPDX-License-Identifier: Apache-2.0
"""Configuration options of the RPC layer."""

from __future__ import annotations

import pathlib
from typing import Any

from oslo_config import cfg

from vobjects import exceptions, number_options
from vobjects.lock import installed_locks
from vobjects.lock.model import LockError
from vobjects.objects.manifest import Manifest, emulated, minimum
from vobjects.rpc.fleet import QUORUM

FLEET_OPTS = [
    cfg.FloatOpt(
        'heartbeat_interval',
        default=2.0,
        min=0.2,
        max=3600.0,
        help='Heartbeat period of every process, in seconds. The death of a'
        ' process is detected within two periods. Set the same value on all'
        ' hosts.',
    ),
    cfg.IntOpt(
        'call_timeout',
        default=30,
        min=1,
        max=int(number_options.LONGEST),
        help='Seconds that a caller waits for the response to an RPC.',
    ),
    cfg.IntOpt(
        'calls_at_once',
        default=4,
        min=1,
        help='Maximum number of RPCs that a process handles at the same time.'
        ' RPCs that wait for a cloud or for the identity service do not'
        ' count. A Python process can use only one processor, for which a'
        ' larger number of RPCs competes; a smaller number may leave it idle'
        ' while RPCs wait for the database. If the database is milliseconds'
        ' away, use 8 or more.',
    ),
    cfg.IntOpt(
        'capable_servers',
        default=QUORUM,
        min=1,
        help='Number of live servers that must support the versions of a'
        ' microversion which not all servers support, if the types concerned'
        ' have opted in to such servers. With 2, the microversion remains'
        ' available while one of them restarts. Set the same value for all'
        ' processes.',
    ),
    cfg.IntOpt(
        'response_memory',
        default=64 << 20,
        min=4 << 20,
        max=1 << 40,
        help='Maximum total size, in bytes, of the large responses (pages of'
        ' lists) that a process creates and sends at the same time. The'
        ' process needs several times as much memory for them. A request that'
        ' waits for more than five seconds because of this limit is answered'
        ' with 503 and Retry-After.',
    ),
]

number_options.restrict(FLEET_OPTS)

UPGRADE_LEVELS_OPTS = [
    cfg.StrOpt(
        'engine',
        default='auto',
        help='Object versions in requests to engines: "auto" follows the live'
        ' engines. A release of the schema lock, such as 0.1.0, or the path'
        ' of a manifest file (see "vobjects fleet manifest") also limits them'
        ' to the versions of that release or file.',
    ),
]


def register(conf: cfg.ConfigOpts) -> None:
    """Register the options; repeated calls are safe."""
    # By name: a group object would share its values between configurations.
    for name, options in list_opts():
        conf.register_opts(options, name)


def list_opts() -> list[tuple[str, list[Any]]]:
    """Return the options for oslo-config-generator."""
    return [
        ('fleet', list(FLEET_OPTS)),
        ('upgrade_levels', list(UPGRADE_LEVELS_OPTS)),
    ]


def pinned_manifest(conf: cfg.ConfigOpts, service: str) -> Manifest | None:
    """Return the pinned manifest; None if there is no pin.

    A process that emulates an older build is also limited to the versions of
    that build.

    :param service: name of the service that has the servers. A release is one
        of this service, never another service's release of the same name
    :raises vobjects.exceptions.VobjectsError: the file is not a manifest, or
        there is neither such a file nor such a release
    """
    limits = [_level_manifest(conf.upgrade_levels.engine, service), emulated()]
    manifests = [limit for limit in limits if limit is not None]
    return minimum(manifests) if manifests else None


def _level_manifest(level: str, service: str) -> Manifest | None:
    if level == 'auto':
        return None
    path = pathlib.Path(level)
    try:
        if path.is_file() or path.is_dir():  # not a FIFO, which may block
            return Manifest.load(path)
        return installed_locks.declared_manifest(
            installed_locks.at_release(service, level)
        )
    except OSError as error:
        raise exceptions.VobjectsError(
            f'[upgrade_levels] engine = {level}: {error.strerror}'
        ) from None
    except LockError as error:
        raise exceptions.VobjectsError(
            f'[upgrade_levels] engine = {level}: there is no such file, and'
            f' {error}; write "auto", a release, or the path of a manifest'
            ' file'
        ) from None
