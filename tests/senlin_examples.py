# SPDX-License-Identifier: Apache-2.0
"""The example specs of Senlin 16, from its source distribution.

``tools/senlin-examples`` downloads them once.
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import yaml

from tests import downloads

#: Timeout of the download in seconds.
DOWNLOAD_TIMEOUT = 300

#: Example -> why Senlin 16.0.0 itself rejects it.
REJECTED: Mapping[str, str] = {
    'policies/WIP/batching_1_1_0.yaml': (
        "The policy_type 'senlin.policy.batching-1.0' could not be found."
    ),
    'policies/WIP/health_policy_lb.yaml': "Unrecognizable spec item 'type'",
    'policies/WIP/lb_policy_aws.spec': (
        "The 'type' key is missing from the provided spec map."
    ),
    'profiles/docker_container/docker_basic.yaml': (
        "Either 'host_cluster' or 'host_node' must be specified, but not both."
    ),
    'profiles/heat_stack/nova_server/heat_stack_nova_server.yaml': (
        "Unrecognizable spec item 'name'"
    ),
    'profiles/heat_stack/random_string/heat_stack_random_string.yaml': (
        "Unrecognizable spec item 'name'"
    ),
}

#: Files that are not specs: text, and templates for Heat.
OTHER_FILES = (
    'profiles/README.rst',
    'profiles/heat_stack/nova_server/nova_server_template.yaml',
    'profiles/heat_stack/random_string/random_string_template.yaml',
)

#: Number of examples that Senlin accepts.
ACCEPTED = 12


def specs() -> dict[str, dict[str, Any]]:
    """Return the example specs by their paths, as clients send them.

    Skips the test without a download, or fails it in CI.
    """
    folder = downloads.require('senlin-examples', DOWNLOAD_TIMEOUT)
    specs_by_path = {}
    for path in sorted(folder.rglob('*')):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in OTHER_FILES:
            specs_by_path[name] = _with_template(
                yaml.safe_load(path.read_text()), path.parent
            )
    assert REJECTED.keys() < specs_by_path.keys()
    assert len(specs_by_path) == ACCEPTED + len(REJECTED)
    return specs_by_path


def kind(name: str) -> str:
    """Return ``profile`` or ``policy``."""
    return 'profile' if name.startswith('profiles/') else 'policy'


def _with_template(
    spec: dict[str, Any], folder: pathlib.Path
) -> dict[str, Any]:
    """Return a spec with the template it names, as python-senlinclient."""
    properties = spec.get('properties') or {}
    if 'template' in properties:
        template = yaml.load(  # dates are texts in a template
            (folder / properties['template']).read_text(), yaml.BaseLoader
        )
        return {**spec, 'properties': {**properties, 'template': template}}
    return spec
