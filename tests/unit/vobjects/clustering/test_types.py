# SPDX-License-Identifier: Apache-2.0
"""The service's own types: fingerprints, maps, conversions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fixture as ovo_fixture

from vobjects import exceptions, objects
from vobjects.clustering import history, resources, types
from vobjects.lock import installed_locks
from vobjects.objects import manifest
from vobjects.rpc import fleet_types as fleet_objects
from vobjects.versions import Version
from vobjects_testing import strategies

OURS = sorted(
    (
        cls
        for cls in objects.registered_types()
        if cls.__module__.startswith(('vobjects.clustering', 'vobjects.rpc'))
    ),
    key=lambda cls: cls.__name__,
)

#: Types with older versions; test_repository_invariants covers the others.
CHANGED = [cls for cls in OURS if cls.VERSION != '1.0']


def test_fingerprints_in_the_lock_are_those_of_ovo() -> None:
    assert types.resources is resources
    lock = installed_locks.of_service('clustering')
    locked = {
        name: f'{schemas[-1].version}-{schemas[-1].fingerprint}'
        for name, schemas in lock.types.items()
        if name in {cls.obj_name() for cls in OURS}
    }
    assert len(locked) == len(OURS), 'run "vobjects lock update"'
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    checker = ovo_fixture.ObjectVersionChecker(
        {cls.obj_name(): classes[cls.obj_name()] for cls in OURS}
    )
    expected, actual = checker.test_hashes(locked)
    assert actual == expected, 'run "vobjects lock update"'


def test_history_is_in_order_and_each_entry_has_a_sentence() -> None:
    versions = list(map(Version.parse, history.HISTORY))
    assert versions == sorted(set(versions))
    assert all(history.HISTORY.values())
    assert versions[-1] == history.MAXIMUM


#: Microversion of Senlin -> the types that it changes.
SENLIN = {
    '1.2': [
        'ClusterAttribute',
        'ClusterCollectRequest',
        'PolicyValidateRequest',
        'PolicyValidation',
        'ProfileValidateRequest',
        'ProfileValidation',
    ],
    '1.3': ['ClusterReplaceNodesRequest'],
    '1.4': [
        'ClusterDelNodesRequest',
        'ClusterOperationRequest',
        'NodeOperationRequest',
        'ProfileTypeOperations',
        'ProfileTypeOpsRequest',
        'ReceiverListRequest',
    ],
    '1.5': [
        'PolicyType',
        'PolicyTypeItem',
        'ProfileType',
        'ProfileTypeItem',
    ],
    '1.6': [
        'ClusterRecoverRequest',
        'ClusterUpdateRequest',
        'NodeRecoverRequest',
    ],
    '1.7': [
        'Cluster',
        'ClusterCreateRequest',
        'ClusterRecoverRequest',
        'ClusterUpdateRequest',
        'NodeAdoptPreviewRequest',
        'NodeAdoptRequest',
        'NodePreview',
        'ReceiverUpdateRequest',
        'Service',
        'ServiceListRequest',
    ],
    '1.8': ['ClusterDeleteRequest', 'NodeDeleteRequest'],
    '1.9': ['ClusterCompleteLifecycleRequest'],
    '1.10': ['WebhookTriggerRequest'],
    '1.11': ['ClusterScaleInRequest', 'ClusterScaleOutRequest'],
    '1.12': ['ActionUpdateRequest'],
    '1.13': ['Node', 'NodeUpdateRequest'],
    '1.14': ['Action', 'ActionListRequest'],
}


def test_types_change_at_the_microversions_of_senlin() -> None:
    ours = {cls.obj_name() for cls in OURS}
    changes: dict[str, list[str]] = {}
    before = manifest.at_microversion(history.MINIMUM)
    for text in list(history.HISTORY)[1:]:
        now = manifest.at_microversion(Version.parse(text))
        changed = sorted(n for n in ours if before.get(n) != now.get(n))
        if changed:
            changes[text] = changed
        before = now
    assert changes | SENLIN == changes


@pytest.mark.parametrize('cls', fleet_objects.BASE_TYPES)
def test_requests_of_the_fleet_stay_at_1_0(
    cls: type[objects.Object],
) -> None:
    # They are sent before the versions of the reader are known.
    if issubclass(cls, objects.Request):
        assert cls.VERSION == '1.0'
    assert Version.parse(cls.VERSION).major == 1


@pytest.mark.parametrize('cls', CHANGED, ids=lambda cls: cls.__name__)
@settings(
    max_examples=10,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_every_type_survives_every_older_version(
    cls: type[objects.Object], data: st.DataObject
) -> None:
    obj = data.draw(strategies.instances(cls))
    own = dict(manifest.local())
    for minor in range(Version.parse(cls.VERSION).minor, -1, -1):
        target = f'1.{minor}'
        try:
            primitive = obj.obj_to_primitive(
                version_manifest={**own, cls.obj_name(): target}
            )
        except exceptions.LossyDowngrade as error:
            refused = error
            assert cls.REFUSE_LOSS
        else:
            refused = None
        if refused is not None:
            assert Version.parse(refused.from_version) > Version(1, minor)
            continue
        shape = cls.fields_at(target)
        content: dict[str, Any] = primitive['versioned_object.data']
        assert content.keys() <= shape.keys()
        decoded = cls.obj_from_primitive(primitive)
        assert decoded.VERSION == cls.VERSION
        target_manifest = {**own, cls.obj_name(): target}
        before, after = (
            objects.to_json(obj, target_manifest),
            objects.to_json(decoded, target_manifest),
        )
        assert before == {name: after[name] for name in before}


def test_a_profile_type_up_to_1_4_has_its_version_in_its_name() -> None:
    item = resources.ProfileTypeItem(
        name='os.nova.server', version='1.0', support_status={}
    )
    shown = {
        text: objects.to_json(
            item, manifest.at_microversion(Version.parse(text))
        )
        for text in ('1.4', '1.5')
    }
    assert shown == {
        '1.4': {'name': 'os.nova.server-1.0'},
        '1.5': {
            'name': 'os.nova.server',
            'version': '1.0',
            'support_status': {},
        },
    }


def test_all_types_that_1_14_changes_go_to_capable_engines() -> None:
    """One that does not would make it wait for the last old engine."""
    routes = {
        cls.obj_name(): cls.ROUTE
        for cls in objects.registered_types()
        if '1.14' in cls.VERSION_MAP
    }
    assert routes == {'Action': 'capable', 'ActionListRequest': 'capable'}
