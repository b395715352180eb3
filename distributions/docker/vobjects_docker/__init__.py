# SPDX-License-Identifier: Apache-2.0
"""Containers of Docker daemons.

::

    conf              configuration options
    connection        connections to daemons, TLS, and the errors of daemons
    containers        the containers of hosts with a daemon
    local             the containers of the daemon that the operator has
                      configured
    local_container   the profile type container.docker.local-1.0
    provider          the provider "docker", which has only such containers
"""
