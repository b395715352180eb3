# SPDX-License-Identifier: Apache-2.0
"""Run the API: ``python -m keys.api FILE``."""

import signal
import sys
import threading
from wsgiref import simple_server

import webob
import webob.dec

from keys import types
from keys.service import SERVICE, configuration
from vobjects import Version
from vobjects.controllers import parse_body
from vobjects.microversions import Microversions, VersionPolicy
from vobjects.rpc import ClientProcess

POLICY = VersionPolicy(
    service_types=('keys',),
    minimum=Version(1, 0),
    maximum=SERVICE.maximum,
    help_url='https://docs.example.org/keys/',
)


@webob.dec.wsgify
def app(request):
    """Pass a request to an engine, at the microversion of the client."""
    if request.method == 'POST':
        message = parse_body(types.KeyCreateRequest, request, request.body)
    else:
        message = types.KeyGetRequest(name=request.path_info.strip('/'))
    return webob.Response(json=engines.forward(request, {}, message))


if __name__ == '__main__':
    with ClientProcess(configuration(sys.argv[1]), SERVICE) as engines:
        application = Microversions(app, POLICY, engines.maximum)
        server = simple_server.make_server('127.0.0.1', 0, application)
        stop = threading.Thread(target=server.shutdown)
        signal.signal(signal.SIGTERM, lambda *_: stop.start())
        print(f'http://127.0.0.1:{server.server_port}', flush=True)
        server.serve_forever()
