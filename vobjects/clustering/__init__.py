# SPDX-License-Identifier: Apache-2.0
"""Types of the clustering service, shared by ``api`` and ``engine``.

Import :mod:`vobjects.clustering.types` to register all of them.

::

    client     typed client of the clustering API
    consts     constants of the clustering API v1, as in Senlin's API reference
    context    the request context that travels with every RPC call
    errors     errors that an engine raises and that RPC callers receive
    fields     field types with the rules of Senlin
    history    history of the clustering API: the changes of each microversion
    requests   requests to an engine, one module per resource
    resources  resources in responses. A response omits fields that are not set
    run        run the clustering service on one machine: ``vobjects up``
    service    the declaration of the service
    topics     exchange and topic names of the service's message bus
    types      register all types of the clustering service when imported

The declaration is this package's attribute ``SERVICE``.
"""

from vobjects import _lazy

__getattr__, __dir__ = _lazy.attributes(__name__, __file__)
