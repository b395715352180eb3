# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack on this machine, and tests that use it.

``tools/openstack`` installs the services from PyPI in one virtual environment
and runs them without containers. Nova has a driver whose servers do nothing,
Neutron binds every port without an agent, and Octavia's drivers do nothing;
everything else is as in any other cloud::

    environment     the virtual environment
    services        the table of services and processes
    settings        directories, ports, accounts
    configuration   configuration files
    plugins         modules that run in the services
    processes       start, stop and watch processes
    storage         databases, the virtual host, the Redis database
    seeding         users, catalogue, networks, images, flavors
    cloud           all of this: up, down, status
    __main__        the command
"""
