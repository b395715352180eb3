# SPDX-License-Identifier: Apache-2.0
"""Run the API: ``python -m digests.api FILE``."""

import signal
import socketserver
import sys
import threading
from wsgiref import simple_server

import webob
import webob.dec

from digests import types
from digests.service import SERVICE, configuration
from vobjects import Version
from vobjects.controllers import parse_body
from vobjects.microversions import Microversions, VersionPolicy
from vobjects.rpc import ClientProcess

POLICY = VersionPolicy(
    service_types=('digests',),
    minimum=Version(1, 0),
    maximum=SERVICE.maximum,
    help_url='https://docs.example.org/digests/',
)


class Server(socketserver.ThreadingMixIn, simple_server.WSGIServer):
    """Handle each request in a thread."""

    daemon_threads = True


@webob.dec.wsgify
def app(request):
    """Pass a request to an engine, at the microversion of the client."""
    message = parse_body(types.DigestRequest, request, request.body)
    return webob.Response(
        json=engines.forward(request, {}, message, shows=[types.Digest])
    )


if __name__ == '__main__':
    with ClientProcess(configuration(sys.argv[1]), SERVICE) as engines:
        application = Microversions(app, POLICY, engines.maximum)
        server = simple_server.make_server(
            '127.0.0.1', 0, application, server_class=Server
        )
        stop = threading.Thread(target=server.shutdown)
        signal.signal(signal.SIGTERM, lambda *_: stop.start())
        print(f'http://127.0.0.1:{server.server_port}', flush=True)
        server.serve_forever()
