# SPDX-License-Identifier: Apache-2.0
"""Barbican's functional tests against a running API.

::

    serve    serve Barbican, in its own environment
    service  the API, its database and a Keystone
    suite    run Barbican's functional tests, from its source distribution
"""
