# SPDX-License-Identifier: Apache-2.0
"""Profile types: entry points of ``vobjects.profiles``.

::

    base               the base class of profile types, and their registry
    nova_server        os.nova.server-1.0
    heat_stack         os.heat.stack-1.0
    docker_container   container.dockerinc.docker-1.0

The name of an entry point is the name of the type with its version, such as
``os.nova.server-1.0``. Its value names a class that takes no arguments.
The schemas of properties and operations are in YAML files beside the modules.
"""
