# SPDX-License-Identifier: Apache-2.0
"""Compare the responses of a service and of its port, byte for byte.

``ports/NAME/differences.csv`` lists the paths and version headers with other
responses: the statuses, the versions in the response, and whether the bodies
differ.
``doc/source/preset_differences.csv`` has the reasons.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable
from concurrent import futures
from typing import Any

from ports.port import Port, search_path

#: (path, kind of header, response) of each request.
Responses = list[tuple[str, str, dict[str, Any]]]

_REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

_VERSION = 'openstack-api-version: '

#: Seconds for some 200 requests; a busy machine gives a process 2% of a core.
_TIMEOUT = 1800

#: Prepares a service in a folder, edited or not, and returns its Python.
Prepare = Callable[[pathlib.Path, bool], str]


def compare(port: Port, prepare: Prepare, *, record: bool) -> list[str]:
    """Compare a service with its port.

    :param record: write the file instead of comparing it
    :returns: lines of the table that the file lacks or has too many
    """
    with tempfile.TemporaryDirectory(prefix=f'probe-{port.name}-') as folder:
        roots = [pathlib.Path(folder, name) for name in ('original', 'port')]
        pythons = [
            prepare(root, edit)
            for root, edit in zip(roots, (False, True), strict=True)
        ]
        with futures.ThreadPoolExecutor() as pool:
            original, edited = pool.map(
                functools.partial(_responses, port), pythons, roots
            )
    lines = _table(original, edited).splitlines()
    path = _REPOSITORY / 'ports' / port.name / 'differences.csv'
    if record:
        path.write_text('\n'.join(lines) + '\n')
    known = path.read_text().splitlines() if path.exists() else []
    return [f'+ {line}' for line in lines if line not in known] + [
        f'- {line}' for line in known if line not in lines
    ]


def _responses(port: Port, python: str, root: pathlib.Path) -> Responses:
    """Return the responses of a service to each header at each path."""
    output = subprocess.check_output(
        [python, '-m', 'ports.probe', port.name],
        cwd=root,
        env={**os.environ, 'PYTHONPATH': search_path(root)},
        text=True,
        timeout=_TIMEOUT,
    )
    responses: Responses = json.loads(output.splitlines()[-1])
    return responses


def _table(original: Responses, edited: Responses) -> str:
    """Return the differences as CSV."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator='\n')
    writer.writerow(
        [
            *('path', 'request', 'status', 'version'),
            *('here', 'version here', 'bodies'),
        ]
    )
    for (path, kind, before), (_, _, after) in zip(
        original, edited, strict=True
    ):
        if before != after:
            writer.writerow(
                [
                    path,
                    kind,
                    before['status'],
                    _version(before),
                    after['status'],
                    _version(after),
                    'equal' if before['body'] == after['body'] else 'differ',
                ]
            )
    return file.getvalue()


def _version(response: dict[str, Any]) -> str:
    """Return the version in the headers of a response."""
    for header in response['headers']:
        if header.startswith(_VERSION):
            return str(header).removeprefix(_VERSION).split()[-1]
    return 'none'
