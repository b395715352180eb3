# SPDX-License-Identifier: Apache-2.0
"""Load the WSGI application of an OpenStack service.

The services parse :data:`sys.argv`, which holds the web server's arguments.
This module replaces them by those in the variable ``SHIM_ARGUMENTS``, and
loads the application of the module ``SHIM_MODULE``. It runs in the virtual
environment of the cloud.
"""

import importlib
import os
import shlex
import sys

sys.argv = ['wsgi', *shlex.split(os.environ.get('SHIM_ARGUMENTS', ''))]
application = importlib.import_module(os.environ['SHIM_MODULE']).application
