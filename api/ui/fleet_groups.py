# SPDX-License-Identifier: Apache-2.0
"""Data of the fleet view: live processes, grouped by manifest.

The matrix of the view has one column per group and one row per microversion,
so its size does not depend on the number of processes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from vobjects.clustering import history, topics
from vobjects.objects.manifest import Manifest
from vobjects.rpc.fleet import Member, View, group_members

#: Maximum number of hosts, and of releases, listed for a group.
MAX_NAMES = 8


def describe(fleet: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of the fleet view.

    :param fleet: from :func:`vobjects.rpc.fleet.to_json`
    :returns: the same data with ``microversions``, with the groups of this
        module, and without the manifests
    """
    return {
        **{key: fleet[key] for key in fleet if key != 'manifests'},
        'held': bool(fleet.get('held')),
        'newest': str(history.MAXIMUM),
        'microversions': [
            {'version': version, 'changes': changes}
            for version, changes in reversed(history.HISTORY.items())
        ],
        'groups': _groups(fleet),
        'members': [
            {key: member[key] for key in member if key != 'manifest'}
            for member in fleet.get('members', ())
        ],
    }


def _groups(fleet: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Merge the groups that differ only by state.

    The releases and hosts are those of the processes that are listed.
    """
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for counted in fleet.get('groups', ()):
        topic, digest = counted['topic'], counted['manifest']
        group = groups.setdefault(
            (topic, digest),
            {
                'topic': topic,
                'manifest': digest,
                'count': 0,
                'joining': 0,
                'draining': 0,
                'releases': [],
                'hosts': [],
                'serves': topic == topics.ENGINE,
            },
        )
        group['count'] += counted['count']
        if counted['state'] != 'up':
            group[counted['state']] += counted['count']
        listed = [
            *counted['examples'],
            *(
                member
                for member in fleet['members']
                if (member['topic'], member['manifest']) == (topic, digest)
            ),
        ]
        for key, name in (('hosts', 'host'), ('releases', 'release')):
            names = {*group[key], *(process[name] for process in listed)}
            group[key] = sorted(names)[:MAX_NAMES]
        if group['serves']:
            group |= _support(Manifest(fleet['manifests'][digest]))
    return sorted(
        groups.values(),
        key=lambda group: (
            not group['serves'],
            len(group.get('limits', ())),
            group['releases'],
        ),
    )


@functools.lru_cache(maxsize=64)
def _support(manifest: Manifest) -> dict[str, Any]:
    """Return the highest microversion of one manifest, and its limits."""
    member = Member('', '', '', topics.ENGINE, '', manifest)
    view = View(0, group_members([member]))
    return {
        'max_microversion': str(
            view.maximum(topics.ENGINE, history.MAXIMUM).version
        ),
        'limits': [
            {
                'microversion': str(limit.microversion),
                'type': limit.type_name,
                'needs': limit.required,
                'has': limit.supported,
            }
            for limit in view.limits(topics.ENGINE)
            if limit.microversion <= history.MAXIMUM
        ],
    }
