# SPDX-License-Identifier: Apache-2.0
"""Detect failed nodes, with one probe for each detection mode.

A probe is a function that receives a :class:`Patient` and returns the reason
for a failure, or an empty string if the node is healthy. If the health is
unknown, the probe raises an exception, and the node counts as healthy.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from engine.actions.runtime import Runtime
from engine.health import urls
from engine.policies import health as policy
from engine.profiles import base as profiles
from engine.providers import base as providers

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Patient:
    """A node to be checked.

    :ivar owner: user and project of the node's cluster
    :ivar status: the status of the node in the database
    :ivar kind: the type of the node's profile
    :ivar properties: the properties of the node's profile
    """

    view: profiles.NodeView
    owner: tuple[str | None, str | None]
    status: str
    kind: profiles.ProfileType
    properties: Mapping[str, Any]


Probe = Callable[[Runtime, Patient, Mapping[str, Any], threading.Event], str]


def _cloud(runtime: Runtime, patient: Patient) -> providers.Provider:
    cloud = runtime.cloud_of(*patient.owner)
    return patient.view.cloud(cloud, patient.properties)


def _status(
    runtime: Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud(runtime, patient)
    return patient.kind.failure(cloud, patient.view)


def _hypervisor(
    runtime: Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud(runtime, patient)
    if not patient.view.physical_id:
        return 'it has no server'
    if cloud.hosts is None:
        return ''
    try:
        return cloud.hosts.problem(patient.view.physical_id)
    except providers.ServerNotFound:
        return f'its server {patient.view.physical_id} is gone'


def _url(
    runtime: Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    if patient.status != 'ACTIVE':
        return ''
    return urls.trouble(runtime.conf, options, patient.view.name, stopping)


PROBES: Mapping[str, Probe] = {
    policy.STATUS: _status,
    policy.HYPERVISOR: _hypervisor,
    policy.URL: _url,
}

#: Exceptions that mean unknown health.
UNCLEAR = (providers.ProviderError, urls.UnclearError)


def diagnosis(
    runtime: Runtime,
    patient: Patient,
    detection: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return the reason for a node's failure; empty if it is healthy.

    :param detection: the policy's ``detection``, with all defaults
    :param stopping: set when the engine stops
    """
    found = []
    needs_all = detection['recovery_conditional'] == 'ALL_FAILED'
    for mode in detection['detection_modes']:
        options = policy.options_of(mode)
        try:
            trouble = PROBES[mode['type']](runtime, patient, options, stopping)
        except UNCLEAR as error:
            LOG.warning('Node %s was not seen: %s', patient.view.id, error)
            trouble = ''
        if trouble and not needs_all:
            return trouble
        if not trouble and needs_all:
            return ''
        if trouble:
            found.append(trouble)
    return '; '.join(found)
