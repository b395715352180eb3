# SPDX-License-Identifier: Apache-2.0
"""How gunicorn serves Keystone.

The application is not an argument of the command, because Keystone would parse
the arguments.
"""

wsgi_app = 'keystone.wsgi.api:application'
bind = '0.0.0.0:5000'
threads = 8
# On a busy machine, Keystone takes longer than 30 seconds to load.
timeout = 120
