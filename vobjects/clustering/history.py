# SPDX-License-Identifier: Apache-2.0
"""History of the clustering API: the changes of each microversion.

The last entry is the newest microversion of this release. To add a
microversion, add an entry together with the types that need it; everything
else is derived from the types.
"""

from __future__ import annotations

import dataclasses

from vobjects.microversions import presets
from vobjects.versions import Version

HISTORY: dict[str, tuple[str, ...]] = {
    '1.0': ('The initial version of the v1 API.',),
    '1.1': ('Microversions are checked; the API is that of 1.0.',),
    '1.2': (
        'Added validation of profiles: POST /v1/profiles/validate.',
        'Added validation of policies: POST /v1/policies/validate.',
        'Added collecting an attribute of all nodes of a cluster: GET'
        ' /v1/clusters/{identity}/attrs/{path}.',
    ),
    '1.3': ('Added replacing nodes of a cluster: replace_nodes.',),
    '1.4': (
        'Added the operations (ops) of profile types.',
        'Added operations (ops) on nodes and on clusters.',
        'Added user to the filters of receivers.',
        'Added destroy_after_deletion to deleting nodes from a cluster.',
    ),
    '1.5': (
        'Added support_status to profile types and policy types, listed and'
        ' shown.',
        'Added version to profile types and policy types that are listed;'
        ' names lack it now.',
    ),
    '1.6': (
        'Added profile_only to cluster update.',
        'Added check to node recover and cluster recover.',
    ),
    '1.7': (
        'Added config to clusters.',
        'Added check_capacity to cluster recover.',
        'Added POST /v1/nodes/adopt, and adopt-preview to look first.',
        'Added changing a receiver: PATCH /v1/receivers/{identity}.',
        'Added the list of services.',
    ),
    '1.8': ('Added force to cluster delete and node delete.',),
    '1.9': (
        'Added complete_lifecycle: delete a node that waits for a lifecycle'
        ' hook.',
    ),
    '1.10': (
        'The parameters of a webhook are in the body; before, in the query'
        ' or below params.',
    ),
    '1.11': (
        'Scaling a cluster while another action works on it, or within the'
        ' cooldown of a policy, answers 409. As in Senlin, it does so at'
        ' earlier versions, too.',
    ),
    '1.12': ('Added cancelling actions.',),
    '1.13': ('Added tainted to nodes.',),
    '1.14': ('Added cluster_id to actions, shown and as a filter.',),
}

MINIMUM = Version.parse(next(iter(HISTORY)))
MAXIMUM = Version.parse(list(HISTORY)[-1])

#: Version policy of the service: Senlin's, with the range of :data:`HISTORY`.
POLICY = dataclasses.replace(presets.SENLIN, minimum=MINIMUM, maximum=MAXIMUM)
