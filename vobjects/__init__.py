# SPDX-License-Identifier: Apache-2.0
"""API microversions and versioned RPC objects from one declaration.

::

    from vobjects import Request, added, register


    @register
    class ClusterDeleteRequest(Request):
        VERSION = '1.1'
        VERSION_MAP = {'1.8': '1.1'}  # API microversion -> object version

        identity: str
        force: bool = added('1.1', default=False)

Importing this package loads nothing else; each name is imported at its first
use. These packages are public, too:

=========================  ==================================================
``vobjects.fields``        field types of oslo.versionedobjects, and more
``vobjects.exceptions``    all errors of this library
``vobjects.microversions`` negotiation, schemas, errors, discovery, clients
``vobjects.controllers``   decorators for versioned methods of controllers
``vobjects.rpc``           clients, servers and the fleet, on oslo.messaging
``vobjects.wire``          JSON of rows and lists, without creating objects
``vobjects.lock``          recorded schemas of all releases
=========================  ==================================================

and, for the commands of a service, ``vobjects.cli``. Other distributions have
``vobjects_client``, typed clients of an API; ``vobjects_contract``, OpenAPI,
history and differences of an API; and ``vobjects_sql``, the ledger and stored
objects in SQL databases. The public names of a package or module are those in
its ``__all__``. The remaining modules support them, and may change in any
release: ``objects`` implements the base classes, ``service`` the declaration
of a service, ``versions`` the version numbers, ``cli`` the command
``vobjects``; ``field_values`` finds the objects and defaults in values of
fields, ``field_corrections`` corrects field types of oslo.versionedobjects,
``json_depth`` bounds nested JSON; ``field_schemas`` derives the JSON schemas
of fields, and ``unregistered`` has the errors about types that are not
registered. ``sensitive`` hides secrets, ``log_lines`` escapes control
characters in logs, ``tls_files`` checks certificates and keys,
``number_options`` the numbers in a configuration, ``metric_series`` limits the
number of series of a metric, ``spans`` tells whether a process traces,
``phrases`` and ``suggestions`` build the texts of errors. ``clustering``
belongs to the distribution vobjects-clustering.

Until version 1.0, a minor release may change a public name; its release note
says how to adapt, and a deprecated name works for one more minor release. The
wire format of a released object version never changes.
"""

from __future__ import annotations

import importlib

from vobjects import _lazy

_get_public, __dir__ = _lazy.attributes(__name__, __file__)


def __getattr__(name: str) -> object:
    """Import a public name at its first use."""
    if name == '__version__':
        return importlib.import_module('importlib.metadata').version(__name__)
    return _get_public(name)
