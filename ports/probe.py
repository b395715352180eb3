# SPDX-License-Identifier: Apache-2.0
"""Send each kind of version header to a service; print the responses as JSON.

``python -m ports.probe magnum`` runs in the environment of the service, once
as released and once edited, so that the responses can be compared. The module
``ports.NAME.probe`` says what differs between services:

    SERVICE      the service type in the header
    MAJOR        the major number of its versions
    PATHS        those that get each header: versions documents, of the service
                 and of versions that it has and lacks, and a resource
    application  returns a WSGI application
"""

import importlib
import json
import re
import sys

import webtest

#: Kind of request -> header; None: no header.
HEADERS = {
    'no header': None,
    'empty': '',
    'blank': '  ',
    'oldest': 'SVC X.1',
    'two digits': 'SVC X.10',
    'newest': 'SVC latest',
    'latest in capitals': 'SVC LATEST',
    'other service': 'object-store 1.0',
    'latest of another': 'object-store latest',
    'several services': 'object-store 1.0, SVC X.1',
    'no number': 'SVC pony',
    'one number': 'SVC X',
    'three numbers': 'SVC X.1.1',
    'leading zero': 'SVC X.01',
    'plus sign': 'SVC +X.1',
    'underscore': 'SVC X.1_0',
    'other digits': 'SVC X.\N{ARABIC-INDIC DIGIT ONE}',
    'negative': 'SVC X.-1',
    'service alone': 'SVC',
    'version alone': 'X.1',
    'equals sign': 'SVC=X.1',
    'more words': 'SVC X.1 please',
    'service twice': 'SVC X.1, SVC X.2',
    'too high': 'SVC X.999',
    'enormous': 'SVC X.' + '9' * 5000,
    'major above': 'SVC 9.9',
    'major below': 'SVC 0.9',
}

_SHOWN = re.compile(
    '(?i)openstack.*version|vary|content-type|retry-after|location'
)

#: Values that differ between two runs of one program.
_RANDOM = re.compile(r'req-[0-9a-f-]{36}')


def main(name):
    probe = importlib.import_module(f'ports.{name}.probe')
    app = webtest.TestApp(probe.application(), lint=False)
    responses = [
        [path, kind, _response(app, path, _headers(probe, text))]
        for path in probe.PATHS
        for kind, text in HEADERS.items()
    ]
    print(json.dumps(responses))


def _headers(probe, text):
    """Return the headers of a request to a service."""
    if text is None:
        return {}
    text = text.replace('SVC', probe.SERVICE).replace('X', probe.MAJOR)
    # As a WSGI server passes bytes that are not ASCII.
    return {'OpenStack-API-Version': text.encode().decode('latin-1')}


def _response(app, path, headers):
    """Return what a client sees of a response."""
    response = app.get(path, headers=headers, status='*')
    return {
        'status': response.status_int,
        'headers': sorted(
            # Both are case-insensitive.
            f'{key}: {value[:120]}'.lower()
            for key, value in response.headers.items()
            if _SHOWN.match(key)
        ),
        'body': _RANDOM.sub('req-ID', response.text),
    }


if __name__ == '__main__':
    main(sys.argv[1])
