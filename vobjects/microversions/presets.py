# SPDX-License-Identifier: Apache-2.0
"""Version policies of five OpenStack services.

Each policy follows the service's documentation and server. This library
differs from them on purpose in some cases, which
doc/source/preset_differences.csv lists with the reasons: for every preset,
parsing is strict, and every response has the version and Vary.

To replace one of these services, use its policy with your own range::

    dataclasses.replace(presets.NOVA, maximum=Version(2, 104))
"""

from __future__ import annotations

from collections.abc import Mapping

from vobjects.microversions import error_formats
from vobjects.microversions.version_policy import VersionPolicy
from vobjects.versions import Version

#: Compute: its own header, used until 2.27, is still accepted and returned.
NOVA = VersionPolicy(
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
    error_format=error_formats.nova,
    path='v2.1',
    maximum_keys=('version', 'max_version'),
    media_type='application/vnd.openstack.compute+json;version=2.1',
    updated='2013-07-23T11:33:21Z',
)

#: Clustering. For a method that a version lacks, the documentation says 404
#: and the server returns 400. Set 400 if you use the original clients.
SENLIN = VersionPolicy(
    service_types=('clustering',),
    minimum=Version(1, 0),
    maximum=Version(1, 14),
    help_url='https://docs.openstack.org/api-ref/clustering/',
    history_url='https://docs.openstack.org/senlin/latest/contributor/'
    'api_microversion.html',
    latest_any_case=True,
    accepts_early=True,
    error_format=error_formats.senlin,
    path_aliases=('v1.0',),
    version_id='1.0',
    versions_status=300,
    media_type='application/vnd.openstack.clustering-v1+json',
    updated='2016-01-18T00:00:00Z',
)

#: Container infrastructure: three service types. A wrong service, value or
#: version all get the same status.
MAGNUM = VersionPolicy(
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
    error_format=error_formats.magnum,
)

#: Key manager: follows the specification through microversion-parse.
BARBICAN = VersionPolicy(
    service_types=('key-manager',),
    minimum=Version(1, 0),
    maximum=Version(1, 2),
    help_url='https://docs.openstack.org/barbican/latest/api/'
    'microversions.html',
    history_url='https://docs.openstack.org/barbican/latest/api/'
    'microversion_history.html',
    error_format=error_formats.barbican,
    versions_status=300,
    media_type='application/vnd.openstack.key-manager-v1+json',
    updated='2025-09-18T00:00:00Z',
)

#: Bare metal: older than the specification, and uses its own headers.
IRONIC = VersionPolicy(
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
    error_format=error_formats.ironic,
    maximum_keys=('version', 'max_version'),
)

PRESETS: Mapping[str, VersionPolicy] = {
    'nova': NOVA,
    'senlin': SENLIN,
    'magnum': MAGNUM,
    'barbican': BARBICAN,
    'ironic': IRONIC,
}
