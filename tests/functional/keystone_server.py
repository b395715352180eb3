# SPDX-License-Identifier: Apache-2.0
"""Script that serves Keystone from its own virtual environment.

::

    PYTHON keystone_server.py FILE PORT

Keystone would parse arguments that are left in :data:`sys.argv`.
"""

import os
import sys

if __name__ == '__main__':
    _, file, port = sys.argv
    del sys.argv[1:]
    os.environ['OS_KEYSTONE_CONFIG_FILES'] = file

    from keystone.wsgi import api
    from werkzeug import serving

    serving.run_simple('127.0.0.1', int(port), api.application, threaded=True)
