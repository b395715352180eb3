# SPDX-License-Identifier: Apache-2.0
"""Script that runs many ``openstack`` commands in one process.

Starting the ``openstack`` command takes longer than most commands. Each line
of standard input is a command: a JSON list of words after ``openstack``. Each
line of standard output is its result: an object with ``code``, ``out`` and
``err``.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from openstackclient import shell


def run(words: list[str]) -> dict[str, object]:
    """Return exit code and output of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = shell.OpenStackShell().run(words)
        except SystemExit as end:  # of argparse
            code = end.code
    return {'code': code, 'out': out.getvalue(), 'err': err.getvalue()}


def main() -> None:
    """Run commands until standard input ends."""
    output = sys.stdout
    for line in sys.stdin:
        output.write(json.dumps(run(json.loads(line))) + '\n')
        output.flush()


if __name__ == '__main__':
    main()
