# SPDX-License-Identifier: Apache-2.0
"""The command line tools of oslo.policy find the rules."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

from api import policy
from tests.programs import run_program


def test_policy_tools_when_run_find_the_rules(tmp_path: pathlib.Path) -> None:
    def run(tool: str) -> subprocess.CompletedProcess[str]:
        return run_program(
            [
                pathlib.Path(sys.executable).with_name(tool),
                '--namespace=vobjects',
                f'--config-file={config}',
            ]
        )

    file = tmp_path / 'policy.yaml'
    config = tmp_path / 'vobjects.conf'
    config.write_text(f'[oslo_policy]\npolicy_file = {file}\n')
    file.write_text(json.dumps({'clusters:get': 'role:admin'}))
    sample = run('oslopolicy-sample-generator')
    for rule in policy.list_rules():
        assert f'"{rule.name}": ' in sample.stdout, sample.stderr
    merged = run('oslopolicy-policy-generator').stdout
    assert '"clusters:get": "role:admin"' in merged
    assert run('oslopolicy-validator').returncode == 0
    file.write_text(json.dumps({'clusters:gat': '!'}))
    assert 'clusters:gat' in run('oslopolicy-validator').stdout
