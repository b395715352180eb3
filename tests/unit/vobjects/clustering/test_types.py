# SPDX-License-Identifier: Apache-2.0
"""The service's own types: fingerprints, maps, conversions.

A fingerprint that changed here means that the wire changed: raise VERSION,
declare what happened, add the microversion that shows it, and only then
record the new fingerprint.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fixture as ovo_fixture

from vobjects import exceptions, objects
from vobjects.clustering import history, resources, types
from vobjects.objects import manifest
from vobjects.rpc import fleet_types as fleet_objects
from vobjects.testing import strategies
from vobjects.versions import Version

#: What oslo.versionedobjects' ObjectVersionChecker computes for each type.
FINGERPRINTS: dict[str, str] = {
    'Accepted': '1.0-4b44f9004cb32418bcf76a7cf3853b78',
    'Action': '1.1-93b7b030dbb4970a40352180bc0a32c7',
    'ActionGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ActionListRequest': '1.1-82252ffff0ff3cafe4f55bf840836d0e',
    'ActionUpdateRequest': '1.0-91844c3ebd213275b600afd4a2cd11d9',
    'Answered': '1.0-4d8da1817e0e80226a9349acf0944649',
    'BuildInfo': '1.0-527734061aa3c68fee482acaff0b6ee1',
    'BuildInfoRequest': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'Cluster': '1.1-ac20e47563909d322f02ee8199ec2b2c',
    'ClusterAddNodesRequest': '1.0-ad1e2b247b978e31979d35d3ed9e014f',
    'ClusterAttachPolicyRequest': '1.0-dfe9e58b824b891124d509ec6791a646',
    'ClusterAttribute': '1.0-455fe92a2446bea6110df5e4afff39ba',
    'ClusterCheckRequest': '1.0-e3e7b8afb0569bce58d6a26bb3f632a7',
    'ClusterCollectRequest': '1.0-7b70b489ae8a7be74e00d0d6c2fd26b6',
    'ClusterCompleteLifecycleRequest': '1.0-e2f48ad9b3cf9b2e34e722c30d6cce21',
    'ClusterCreateRequest': '1.1-d602c91220b85263df59e6e599854115',
    'ClusterDelNodesRequest': '1.1-6b5712ab78c0cb6640ef342a219724cb',
    'ClusterDeleteRequest': '1.1-ebc0e72062d3745df36dc17b03f2b1af',
    'ClusterDetachPolicyRequest': '1.0-f9e794dcbebbefb4be56a0f5256f54c4',
    'ClusterGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ClusterListRequest': '1.0-fab51414c3d69f1571f1a808c8b03480',
    'ClusterOperationRequest': '1.0-ca97bacfac926cbb75c58783716d30cd',
    'ClusterPolicy': '1.0-65c27064048bcb4d55bac93fd7a8a9cf',
    'ClusterPolicyGetRequest': '1.0-f9e794dcbebbefb4be56a0f5256f54c4',
    'ClusterPolicyListRequest': '1.0-2500da951b88b45d7ef1213a03914957',
    'ClusterRecoverRequest': '1.2-ae449f350b66722c0e43f63b62a3b3c9',
    'ClusterReplaceNodesRequest': '1.0-4832d1bb57556e3892d3d38b2bed9c1b',
    'ClusterResizeRequest': '1.0-9d5ff6de03ec2b5104ea8020fa970253',
    'ClusterScaleInRequest': '1.1-50f2d3f2072fb09837edba021761cb0a',
    'ClusterScaleOutRequest': '1.1-50f2d3f2072fb09837edba021761cb0a',
    'ClusterUpdatePolicyRequest': '1.0-924a390a05ff68594b3d9881da27dae9',
    'ClusterUpdateRequest': '1.2-908a4d7834c86805ae697b01ce453973',
    'Event': '1.0-c4c82c8f9b4db94ab442c2ad5f19107e',
    'EventGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'EventListRequest': '1.0-cf3e5f38ccc68b1152e0fc2d4dbb052b',
    'FleetClock': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'FleetFinalize': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'FleetGet': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'FleetHold': '1.0-457052b9de8582a6e900a749f4664a53',
    'FleetLeave': '1.0-ab7b68336f0e4847fd941e988b20b39a',
    'FleetMember': '1.0-aa975e7320de6707f1041ada3f2dc118',
    'FleetReport': '1.0-82dd4d0aa76905020c845b6eb6db1413',
    'FleetTime': '1.0-7710cdd28a022dd314c0648a03c67701',
    'FleetView': '1.0-527016076e6c00d8e455138d1b4767ad',
    'Node': '1.1-72f20021f77340055b72ee02a9ff3271',
    'NodeAdoptPreviewRequest': '1.0-44ed2cd97af2edfa3bc4678d37358949',
    'NodeAdoptRequest': '1.0-4d7b1d0696206a3ed2473455e6ea1683',
    'NodeCheckRequest': '1.0-e3e7b8afb0569bce58d6a26bb3f632a7',
    'NodeCreateRequest': '1.0-d045517a41bc9ac537ee10dcb5cf200e',
    'NodeDeleteRequest': '1.1-ebc0e72062d3745df36dc17b03f2b1af',
    'NodeGetRequest': '1.0-64e76fee1174c96492461b38c068b139',
    'NodeJoinRequest': '1.0-1072e319b7db345be419906c045e1aec',
    'NodeLeaveRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'NodeListRequest': '1.0-c60a64f9701fa8e947eaee0eb529b6bf',
    'NodeOperationRequest': '1.0-acbdcbba03d0a6c2f2c7272c6ac089f6',
    'NodePreview': '1.0-0a26382fa96157f88898bacae7274e57',
    'NodeRecoverRequest': '1.1-e7f992298e8b6d3541ca2eec9f863150',
    'NodeUpdateRequest': '1.1-35c89d649cbe05c1df1fe5ea885be411',
    'Policy': '1.0-bf37fff99e2e8f0e0f45db83718bdc29',
    'PolicyCreateRequest': '1.0-9b874039b0b458cc83288a820170341c',
    'PolicyDeleteRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'PolicyGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'PolicyListRequest': '1.0-f32d154e397d6e0841ab9da6eaa9993b',
    'PolicyType': '1.1-43c591818a837d9ec92bb78d25094e3f',
    'PolicyTypeGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'PolicyTypeItem': '1.1-30e696d5aaf684ca9c8c6726908c3a94',
    'PolicyTypeListRequest': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'PolicyUpdateRequest': '1.0-cbdbedd5ced1ca76e35fa9a0a55cd621',
    'PolicyValidateRequest': '1.0-fcf6d72f086d4e57715d89a22408241d',
    'PolicyValidation': '1.0-4eec53e41d4d8c62606fea25a27d53c0',
    'Profile': '1.0-a2800eb8ba0dceb5a2220513779ab56d',
    'ProfileCreateRequest': '1.0-74dd5d6c4efa5f7837971ece2f81ce93',
    'ProfileDeleteRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ProfileGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ProfileListRequest': '1.0-f32d154e397d6e0841ab9da6eaa9993b',
    'ProfileType': '1.1-43c591818a837d9ec92bb78d25094e3f',
    'ProfileTypeGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ProfileTypeItem': '1.1-30e696d5aaf684ca9c8c6726908c3a94',
    'ProfileTypeListRequest': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'ProfileTypeOperations': '1.0-f97c1b9192fe8300260fc0fcef69b275',
    'ProfileTypeOpsRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ProfileUpdateRequest': '1.0-6e8011219abae54599c7e39a34c35c4f',
    'ProfileValidateRequest': '1.0-fcf6d72f086d4e57715d89a22408241d',
    'ProfileValidation': '1.0-3bcf05ff1187b69a2459465f6ceb474d',
    'Receiver': '1.0-f4e8c31eb0d315670aaf5b8c2b09777b',
    'ReceiverCreateRequest': '1.0-dc30961ffd1617a3f7f4b2d40e16262f',
    'ReceiverDeleteRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ReceiverGetRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ReceiverListRequest': '1.1-146fe647cdf701462fad4c4577d01660',
    'ReceiverNotifyRequest': '1.0-fec8eb94bf751460d2dcb5bf892235e9',
    'ReceiverUpdateRequest': '1.0-2ae02008710ac516e87dcc1cde54dc1d',
    'Service': '1.0-a0edf4869b060fe85b44da7db73fe026',
    'ServiceListRequest': '1.0-77509ea1ea0dd750d5864b9bd87d3f9d',
    'WebhookTriggerRequest': '1.1-db14358d19cbeff6d94ab698b113ff53',
}

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


def test_fingerprints_are_those_recorded() -> None:
    assert types.resources is resources
    classes = ovo_base.VersionedObjectRegistry.obj_classes()
    checker = ovo_fixture.ObjectVersionChecker(
        {cls.obj_name(): classes[cls.obj_name()] for cls in OURS}
    )
    expected, actual = checker.test_hashes(FINGERPRINTS)
    assert actual == expected


def test_every_mapped_microversion_is_in_the_history() -> None:
    listed = {Version.parse(text) for text in history.HISTORY}
    mapped = {Version.parse(text) for cls in OURS for text in cls.VERSION_MAP}
    assert mapped <= listed
    assert list(map(Version.parse, history.HISTORY)) == sorted(listed)
    assert Version(1, 14) == history.MAXIMUM
    for microversion in mapped:
        assert history.HISTORY[str(microversion)]


def test_what_changes_between_microversions_is_what_the_seed_says() -> None:
    ours = {cls.obj_name() for cls in OURS}
    changes: dict[str, list[str]] = {}
    before = manifest.at_microversion(history.MINIMUM)
    for text in list(history.HISTORY)[1:]:
        now = manifest.at_microversion(Version.parse(text))
        changed = sorted(n for n in ours if before.get(n) != now.get(n))
        if changed:
            changes[text] = changed
        before = now
    assert changes == {
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


@pytest.mark.parametrize('cls', fleet_objects.BASE_TYPES)
def test_what_the_fleet_says_of_itself_stays_at_1_0(
    cls: type[objects.Object],
) -> None:
    assert cls.VERSION == '1.0'


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
        again = cls.obj_from_primitive(primitive)
        assert again.VERSION == cls.VERSION
        shown = {**own, cls.obj_name(): target}
        said, repeated = (
            objects.to_json(obj, shown),
            objects.to_json(again, shown),
        )
        assert said == {name: repeated[name] for name in said}


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
