# SPDX-License-Identifier: Apache-2.0
"""OpenStack's command, many times in one process: a script.

To start it takes longer than most commands. Each line on standard input is a
JSON list of words; the answer is a line with ``code``, ``out`` and ``err``.
The words are those of ``openstack``, and so is all that happens.
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
    """Serve until standard input ends."""
    told = sys.stdout
    for line in sys.stdin:
        told.write(json.dumps(run(json.loads(line))) + '\n')
        told.flush()


if __name__ == '__main__':
    main()
