# SPDX-License-Identifier: Apache-2.0
"""senlin-tempest-plugin against a running Senlin.

::

    service  Senlin's four processes, as released or edited
    suite    run the plug-in's tests, with a real Keystone
"""
