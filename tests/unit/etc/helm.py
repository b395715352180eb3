# SPDX-License-Identifier: Apache-2.0
"""Render the Helm chart with Helm itself."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import yaml

from tests import downloads
from tests.programs import run_program

CHART = pathlib.Path(__file__).parents[3] / 'etc/helm/vobjects'
DOWNLOAD_TIMEOUT = 300

#: What has no default.
REQUIRED = {
    'broker': {'url': 'pyamqp://vobjects:secret@mq:5672/vobjects'},
    'database': {'url': 'postgresql+psycopg2://vobjects:secret@db/vobjects'},
}

#: All that is off by default.
ALL = {
    'broker': {**REQUIRED['broker'], 'tls': True},
    'caSecret': 'authority',
    'configuration': '[api]\nworkers = 4\n',
    'engine': {'autoscaling': {'enabled': True}},
    'ingress': {
        'enabled': True,
        'className': 'nginx',
        'annotations': {'example.org/a': 'b'},
        'tlsSecret': 'certificate',
    },
    'networkPolicy': {
        'apiFrom': [{'namespaceSelector': {}}],
        'metricsFrom': [{'namespaceSelector': {}}],
    },
    'dashboard': {'enabled': True},
    'podMonitor': {'enabled': True, 'labels': {'team': 'cloud'}},
    'upgrade': {'contract': True},
}


def helm(command: str, values: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of Helm on the chart.

    Skips the test without Helm, or fails it in CI.
    """
    program = downloads.require('helm', DOWNLOAD_TIMEOUT)
    name = ['r'] if command == 'template' else ['--strict']
    return run_program(
        [program, command, *name, CHART, '--values', '-'],
        # JSON is YAML.
        input=json.dumps(values),
        timeout=120,
    )


def manifests(**values: Any) -> list[dict[str, Any]]:
    """Return the manifests of a release named ``r``."""
    rendered = helm('template', {**REQUIRED, **values})
    assert rendered.returncode == 0, rendered.stderr
    return [
        manifest
        for manifest in yaml.safe_load_all(rendered.stdout)
        if manifest
    ]
