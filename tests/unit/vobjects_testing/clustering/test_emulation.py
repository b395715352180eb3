# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import pathlib

import pytest
from oslo_config import cfg
from oslo_versionedobjects import exception as ovo_exception

import vobjects.clustering.types  # noqa: F401 - registers all types
from tests.releases import lock_with_releases
from vobjects import exceptions
from vobjects.clustering.requests.clusters import ClusterDeleteRequest
from vobjects.clustering.requests.services import ServiceListRequest
from vobjects.clustering.resources import Node
from vobjects.lock.model import LockError
from vobjects.objects import manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.rpc import serializer
from vobjects.versions import Version
from vobjects_testing import emulate

pytestmark = pytest.mark.usefixtures('service_types')

OLD = lock_with_releases({'0.0.9': Version(1, 6)})


def test_emulate_sends_and_accepts_versions_of_the_release() -> None:
    new = serializer.to_wire(
        ClusterDeleteRequest(identity='c', force=True), None
    )
    before = manifest.local()
    with emulate('0.0.9', OLD) as peer:
        assert manifest.local()['ClusterDeleteRequest'] == '1.0'
        assert 'ServiceListRequest' not in manifest.local()
        wire = serializer.to_wire(
            ClusterDeleteRequest(identity='c', force=False), None
        )
        assert wire['versioned_object.version'] == '1.0'
        assert peer.read(wire).identity == 'c'
        with pytest.raises(exceptions.LossyDowngrade):
            serializer.to_wire(
                ClusterDeleteRequest(identity='c', force=True), None
            )
        with pytest.raises(exceptions.UnsupportedType):
            serializer.to_wire(ServiceListRequest(), None)
        for read in (serializer.from_wire, peer.read):
            with pytest.raises(ovo_exception.IncompatibleObjectVersion):
                read(new)
        with pytest.raises(ovo_exception.IncompatibleObjectVersion):
            serializer.from_bytes(json.dumps(new).encode())
    assert manifest.local() == before
    assert serializer.from_wire(new).force is True


def test_peer_reads_and_rejects_like_the_release() -> None:
    with emulate('0.0.9', OLD) as peer:
        node = peer.class_of('Node')
        assert node.VERSION == '1.0'
        assert 'tainted' not in node.fields
        sent = node(id='n', name='x', profile_id='p', index=1, status='INIT')
        received = serializer.from_wire(sent.obj_to_primitive())
        assert isinstance(received, Node)
        assert received.status == 'INIT'
        primitive = sent.obj_to_primitive()
        primitive['versioned_object.data']['status'] = 'MELTED'
        with pytest.raises(ValueError, match='MELTED'):
            peer.read(primitive)
        primitive['versioned_object.data'] = {'tainted': True}
        with pytest.raises(exceptions.UnknownField):
            peer.read(primitive)
        primitive['versioned_object.name'] = 'ServiceListRequest'
        with pytest.raises(ovo_exception.UnsupportedObjectError):
            peer.read(primitive)
        with pytest.raises(exceptions.ConversionError):
            peer.read({})


def test_emulate_when_release_is_unknown_raises(
    tmp_path: pathlib.Path,
) -> None:
    with (
        pytest.raises(LockError, match='no release'),
        emulate('7', OLD),
    ):
        pass
    missing = tmp_path / 'x.lock'
    with (
        pytest.raises(LockError, match='does not exist'),
        emulate('7', missing),
    ):
        pass


def pinned(level: str) -> manifest.Manifest | None:
    conf = cfg.ConfigOpts()
    rpc_conf.register(conf)
    conf(args=[], default_config_files=[])
    conf.set_override('engine', level, 'upgrade_levels')
    return rpc_conf.pinned_manifest(conf, 'clustering')


def test_pinned_manifest_when_configured_is_that_of_the_release(
    tmp_path: pathlib.Path,
) -> None:
    assert pinned('auto') is None
    pinned_manifest = pinned('0.1.0')
    assert pinned_manifest is not None
    assert pinned_manifest['ClusterDeleteRequest'] == '1.1'
    with pytest.raises(
        exceptions.VobjectsError, match='the service clustering has no release'
    ):
        pinned('0.0.0')
    with pytest.raises(exceptions.VobjectsError, match='Is a directory'):
        pinned(str(tmp_path))
    # An emulated older build announces only its own types.
    with emulate('0.0.9', OLD):
        for level in ('auto', '0.1.0'):
            limited = pinned(level)
            assert limited is not None
            assert limited['ClusterDeleteRequest'] == '1.0'
