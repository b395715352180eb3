# SPDX-License-Identifier: Apache-2.0
"""Types of the clustering service, shared by ``api`` and ``engine``.

========== ==========================================================
requests   requests to an engine, one module per resource
resources  resources in responses
consts     constants of the API: statuses, action names, sort keys
errors     errors that an engine raises to its RPC callers
history    changes of the API by microversion
context    the request context: user, project and roles
========== ==========================================================

Import :mod:`vobjects.clustering.types` to register all of them.
"""
