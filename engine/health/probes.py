# SPDX-License-Identifier: Apache-2.0
"""How a node is found sick, by each mode of detection.

A probe is a function of a :class:`Patient`: '' if the node is well, else what
is wrong with it. One that cannot tell raises, and the node counts as well.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from engine.actions import runtime
from engine.health import urls
from engine.policies import health as policy
from engine.profiles import base as profiles
from engine.providers import base as providers

LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, slots=True)
class Patient:
    """A node that is looked at.

    :ivar owner: user and project that its cluster belongs to
    :ivar status: of the node, as the database has it
    :ivar kind: the type of its profile
    :ivar properties: of its profile
    """

    view: profiles.NodeView
    owner: tuple[str | None, str | None]
    status: str
    kind: profiles.ProfileType
    properties: Mapping[str, Any]


Probe = Callable[
    [runtime.Runtime, Patient, Mapping[str, Any], threading.Event], str
]


def _cloud(run: runtime.Runtime, patient: Patient) -> providers.Provider:
    cloud = run.cloud_of(*patient.owner)
    return patient.view.cloud(cloud, patient.properties)


def _status(
    run: runtime.Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud(run, patient)
    return patient.kind.failed(cloud, patient.view)


def _hypervisor(
    run: runtime.Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    cloud = _cloud(run, patient)
    if not patient.view.physical_id:
        return 'it has no server'
    if cloud.hosts is None:
        return ''
    try:
        return cloud.hosts.trouble(patient.view.physical_id)
    except providers.ServerNotFound:
        return f'its server {patient.view.physical_id} is gone'


def _url(
    run: runtime.Runtime,
    patient: Patient,
    options: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    if patient.status != 'ACTIVE':
        return ''
    return urls.trouble(run.conf, options, patient.view.name, stopping)


PROBES: Mapping[str, Probe] = {
    policy.STATUS: _status,
    policy.HYPERVISOR: _hypervisor,
    policy.URL: _url,
}

#: What a probe raises that cannot tell.
UNCLEAR = (providers.ProviderError, urls.UnclearError)


def diagnosis(
    run: runtime.Runtime,
    patient: Patient,
    detection: Mapping[str, Any],
    stopping: threading.Event,
) -> str:
    """Return '' if a node is well, else what is wrong with it.

    :param detection: of a policy, with every default
    """
    found = []
    needs_all = detection['recovery_conditional'] == 'ALL_FAILED'
    for mode in detection['detection_modes']:
        options = policy.options_of(mode)
        try:
            trouble = PROBES[mode['type']](run, patient, options, stopping)
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
