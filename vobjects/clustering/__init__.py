# SPDX-License-Identifier: Apache-2.0
"""The types of the clustering service; only ``api`` and ``engine`` use them.

========== ==========================================================
requests   what a client may ask, one module a resource
resources  what is answered
consts     the words of the API: statuses, action names, sort keys
errors     what an engine refuses, as classes that travel over RPC
history    what each microversion brought
context    who asks
========== ==========================================================

Importing :mod:`vobjects.clustering.types` registers all of them.
"""
