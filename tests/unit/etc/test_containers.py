# SPDX-License-Identifier: Apache-2.0
"""The files for Docker and Kubernetes, as their own tools read them."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import yaml
from oslo_config import cfg

from api import conf as api_conf
from engine import cli

ETC = pathlib.Path(__file__).parents[3] / 'etc'
KUBERNETES = ETC / 'kubernetes'
COMPOSE = ETC / 'docker/compose.yaml'
MANIFESTS = sorted(
    path
    for path in KUBERNETES.glob('*.yaml')
    if path.name != 'kustomization.yaml'
)


def containers(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the containers in a manifest."""
    if isinstance(value, dict):
        yield from value.get('containers', ())
        for item in value.values():
            yield from containers(item)


def environment() -> dict[str, str]:
    """Return the environment variables of all files."""
    result = {}
    for service in yaml.safe_load(COMPOSE.read_text())['services'].values():
        result.update(service.get('environment', {}))
    for path in MANIFESTS:
        for manifest in yaml.safe_load_all(path.read_text()):
            for container in containers(manifest):
                for variable in container.get('env', ()):
                    result[variable['name']] = variable['value']
    return result


@pytest.fixture(scope='module')
def conf() -> cfg.ConfigOpts:
    """The options of all processes."""
    result = cli.configuration([])
    api_conf.register(result)
    return result


def test_dockerfile_has_no_findings() -> None:
    hadolint = pathlib.Path(sys.executable).with_name('hadolint')
    result = subprocess.run(
        [hadolint, ETC / 'docker/Dockerfile'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stdout) == (0, '')


@pytest.mark.parametrize('path', MANIFESTS, ids=lambda path: path.name)
def test_manifests_are_valid(path: pathlib.Path) -> None:
    for manifest in yaml.safe_load_all(path.read_text()):
        kubernetes_validate.validate(manifest, '1.33', strict=True)


def test_kustomization_names_existing_files() -> None:
    path = KUBERNETES / 'kustomization.yaml'
    for name in yaml.safe_load(path.read_text())['resources']:
        assert (KUBERNETES / name).exists(), name


def test_environment_variables_set_existing_options(
    conf: cfg.ConfigOpts,
) -> None:
    names = [name for name in environment() if name.startswith('OS_')]
    assert len(names) >= 6
    for name in names:
        match = re.fullmatch(r'OS_([A-Z_]+?)__([A-Z_]+)', name)
        assert match is not None, name
        group, option = match[1].lower(), match[2].lower()
        if group == 'default':
            assert option == 'transport_url'
        else:
            assert option in conf[group], name
