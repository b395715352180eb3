# SPDX-License-Identifier: Apache-2.0
"""The live processes of Magnum, and the versions that all of them support.

This module is ``magnum.common.fleet``. Conductors keep the ledger in Magnum's
database, and APIs report to it through the conductors. Magnum's own RPC
methods stay.
"""

import os
import threading

import magnum.conf
from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade

from vobjects import Service, exceptions, rpc
from vobjects.rpc import own_methods
from vobjects.rpc.fleet import LEASE_PERIODS
from vobjects.versions import Maximum

MAXIMUM = '1.14'

SERVICE = Service(
    name='magnum',
    types=('magnum.objects',),
    history={MAXIMUM: ()},
    # Magnum's own is not durable.
    exchange='magnum-fleet',
    topic='magnum-fleet',
    client_topic='magnum-fleet-api',
)

_NEWEST = Maximum(SERVICE.maximum)
_LOCK = threading.Lock()
_process = None
_is_inherited = False


def join_as_conductor():
    """Join the fleet; return when no process sends newer versions."""
    global _process
    # Not earlier, nor `rpc.ServerProcess`: this registers types, and Magnum's
    # tests compare the types that are registered.
    from vobjects_sql.ledger import SqlLedger

    with _LOCK:
        if _process is not None:
            return
        _process = rpc.ServerProcess(
            _configuration(),
            SERVICE,
            ledger=SqlLedger(enginefacade.writer.get_engine()),
            handlers=(),
            binary='magnum-conductor',
            host=magnum.conf.CONF.host,
        )
        _process.start()


def leave():
    """Leave the fleet, after the last request."""
    global _process
    with _LOCK:
        if _process is not None:
            _process.stop_consuming()
            _process.stop()
            _process = None


def join_as_api():
    """Join the fleet."""
    global _process
    with _LOCK:
        if _process is None:
            _process = rpc.ClientProcess(
                _configuration(),
                SERVICE,
                binary='magnum-api',
                host=magnum.conf.CONF.host,
            )
            _process.start()


def joining(application):
    """Return a WSGI application that joins the fleet at the first request.

    WSGI servers fork after they have loaded an application.
    """

    def joined(environ, start_response):
        join_as_api()
        return application(environ, start_response)

    return joined


def cap():
    """Return the versions that all conductors support.

    :raises vobjects.exceptions.NoLivePeer: this process does not know them
    """
    if _process is None:
        raise exceptions.NoLivePeer('this process is not in the fleet')
    membership = _process.membership
    if not _is_inherited:
        view = membership.current()
    elif membership.age < membership.period * LEASE_PERIODS:
        view = membership.view
    else:
        raise exceptions.NoLivePeer('the request has taken too long')
    return view.cap(SERVICE.topic)


def at_cap(versions):
    """Lower the versions of a manifest to those of the conductors."""
    return own_methods.at_most(versions, cap())


def maximum():
    """Return the highest microversion that all conductors support."""
    return _NEWEST if _process is None else _process.maximum()


def arguments(serializer):
    """Return a serializer for arguments of calls, at the cap."""
    return own_methods.ArgumentSerializer(serializer, cap)


def _configuration():
    """Return the configuration of the fleet: Magnum's files.

    The defaults of queues are those of the library, and do not change Magnum's
    own queues.
    """
    conf = cfg.ConfigOpts()
    conf(
        [],
        project='magnum',
        default_config_files=magnum.conf.CONF.config_file,
        default_config_dirs=[],
    )
    return conf


def _note_fork():
    """Note that this process is a fork: it has a view, but no threads.

    ``magnum-api`` with several workers forks for each request.
    """
    global _is_inherited
    _is_inherited = _process is not None


os.register_at_fork(after_in_child=_note_fork)
