# SPDX-License-Identifier: Apache-2.0
"""The policies of five services of OpenStack.

What each of them promises about its versions, as documents (the seeds 000 to
004) and servers have it. Where this library answers otherwise, on purpose,
doc/source/preset_differences.csv says so and why; parsing is strict, and
every response has the version and Vary, whatever a preset says.

A service takes the one it is the successor of, and names its own range::

    dataclasses.replace(presets.NOVA, maximum=Version(2, 104))
"""

from __future__ import annotations

from collections.abc import Mapping

from vobjects.microversions import bodies
from vobjects.microversions.policy import Policy
from vobjects.versions import Version

#: Compute: an own header until 2.27, heard and answered ever since.
NOVA = Policy(
    service_types=('compute',),
    minimum=Version(2, 1),
    maximum=Version(2, 104),
    help_url='https://docs.openstack.org/api-guide/compute/microversions.html',
    history_url='https://docs.openstack.org/nova/latest/reference/'
    'api-microversion-history.html',
    legacy_headers=('X-OpenStack-Nova-API-Version',),
    response_headers=(
        ('X-OpenStack-Nova-API-Version', '{version}{experimental}'),
    ),
    body=bodies.nova,
    path='v2.1',
    maximum_keys=('version', 'max_version'),
    media_type='application/vnd.openstack.compute+json;version=2.1',
    updated='2013-07-23T11:33:21Z',
)

#: Clustering. For a method that a version lacks the document (seed 001) says
#: 404, the server 400: a deployment with the server's clients sets that.
SENLIN = Policy(
    service_types=('clustering',),
    minimum=Version(1, 0),
    maximum=Version(1, 14),
    help_url='https://docs.openstack.org/api-ref/clustering/',
    history_url='https://docs.openstack.org/senlin/latest/contributor/'
    'api_microversion.html',
    latest_any_case=True,
    body=bodies.senlin,
    version_id='1.0',
    versions_status=300,
    media_type='application/vnd.openstack.clustering-v1+json',
    updated='2016-01-18T00:00:00Z',
)

#: Container infrastructure: three names; a wrong name, value or version is
#: all one to it.
MAGNUM = Policy(
    service_types=(
        'container-infrastructure-management',
        'container-infrastructure',
        'container-infra',
    ),
    minimum=Version(1, 1),
    maximum=Version(1, 14),
    help_url='https://docs.openstack.org/api-ref/'
    'container-infrastructure-management/',
    history_url='https://docs.openstack.org/magnum/latest/contributor/'
    'api-microversion-history.html',
    latest_any_case=True,
    response_headers=(
        ('OpenStack-API-Minimum-Version', '{service} {minimum}'),
        ('OpenStack-API-Maximum-Version', '{service} {maximum}'),
    ),
    malformed_status=406,
    other_service_status=406,
    method_missing_status=406,
    body=bodies.magnum,
)

#: Key manager: the specification, by way of microversion-parse.
BARBICAN = Policy(
    service_types=('key-manager',),
    minimum=Version(1, 0),
    maximum=Version(1, 2),
    help_url='https://docs.openstack.org/barbican/latest/api/'
    'microversions.html',
    history_url='https://docs.openstack.org/barbican/latest/api/'
    'microversion_history.html',
    body=bodies.barbican,
    versions_status=300,
    media_type='application/vnd.openstack.key-manager-v1+json',
    updated='2025-09-18T00:00:00Z',
)

#: Bare metal: older than the specification, with headers of its own.
IRONIC = Policy(
    service_types=('baremetal',),
    minimum=Version(1, 1),
    maximum=Version(1, 115),
    help_url='https://docs.openstack.org/ironic/latest/contributor/'
    'webapi.html',
    history_url='https://docs.openstack.org/ironic/latest/contributor/'
    'webapi-version-history.html',
    legacy_headers=('X-OpenStack-Ironic-API-Version',),
    latest_any_case=True,
    response_headers=(
        ('X-OpenStack-Ironic-API-Version', '{version}'),
        ('X-OpenStack-Ironic-API-Minimum-Version', '{minimum}'),
        ('X-OpenStack-Ironic-API-Maximum-Version', '{maximum}'),
    ),
    malformed_status=406,
    body=bodies.ironic,
    maximum_keys=('version', 'max_version'),
)

PRESETS: Mapping[str, Policy] = {
    'nova': NOVA,
    'senlin': SENLIN,
    'magnum': MAGNUM,
    'barbican': BARBICAN,
    'ironic': IRONIC,
}
