# SPDX-License-Identifier: Apache-2.0
"""The commands that ``vobjects up`` prints when the service is ready."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

from tests.functional import deployments
from tests.functional.processes import TIMEOUT
from tests.programs import run_program
from vobjects.clustering.run import welcome


@pytest.mark.parametrize('strategy', ['none', 'http_basic'])
def test_printed_commands_list_clusters_and_profile_types(
    strategy: str, tmp_path: pathlib.Path
) -> None:
    users = tmp_path / 'users'
    deployments.write_users(users, USER='PASSWORD')
    settings = {
        'api': {'auth_strategy': strategy},
        'oslo_middleware': {'http_basic_auth_user_file': users},
    }
    platform = deployments.Platform('embedded', 'sqlite')
    with deployments.deployed(platform, tmp_path, settings) as deployment:
        deployment.start_engines(1)
        deployment.start_api()
        url = deployment.url
        curl, openstack, *others = welcome.commands(strategy, url)
        assert 'profile_types' in json.loads(_run(curl))
        assert json.loads(_run(f'{openstack} -f json')) == []
        for command in others:
            assert _run(command).strip() == '[]'


def _run(command: str) -> str:
    """Run a command without an OpenStack cloud in the environment."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith('OS_')
    }
    done = run_program(
        ['bash', '-c', command], env=environment, timeout=TIMEOUT
    )
    assert done.returncode == 0, f'{command}\n{done.stderr}'
    return done.stdout
