# SPDX-License-Identifier: Apache-2.0
"""Serve Barbican: ``serve.py PASTE-FILE PORT``, in its environment."""

import sys
from wsgiref import simple_server

from paste import deploy


class Handler(simple_server.WSGIRequestHandler):
    """A handler that does not look up the names of clients."""

    def address_string(self):
        return self.client_address[0]


if __name__ == '__main__':
    application = deploy.loadapp(f'config:{sys.argv[1]}')
    simple_server.make_server(
        '127.0.0.1', int(sys.argv[2]), application, handler_class=Handler
    ).serve_forever()
