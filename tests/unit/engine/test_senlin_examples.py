# SPDX-License-Identifier: Apache-2.0
"""The example specs of Senlin fit the types of this service."""

from __future__ import annotations

from typing import Any

from engine.policies import base as policies
from engine.profiles import base as profiles
from tests import senlin_examples
from vobjects.clustering import errors

CHECKS: dict[str, Any] = {
    'profile': profiles.Registry.load().check_spec,
    'policy': policies.Registry.load().check,
}


def rejection(name: str, spec: dict[str, Any]) -> str:
    """Return Senlin's sentence about what is wrong with a spec, or ''."""
    try:
        CHECKS[senlin_examples.kind(name)](spec)
    except errors.ClusteringError as error:
        return error.compat_message or error.message
    return ''


def test_example_specs_are_accepted_where_senlin_accepts_them() -> None:
    rejections = {
        name: message
        for name, spec in senlin_examples.specs().items()
        if (message := rejection(name, spec))
    }
    assert rejections == senlin_examples.REJECTED
