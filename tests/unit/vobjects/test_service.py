# SPDX-License-Identifier: Apache-2.0
"""Declarations of services, and the releases of each."""

from __future__ import annotations

import importlib
import pathlib

import pytest
from oslo_config import cfg

from tests.releases import lock_with_releases
from vobjects import Service, exceptions, service
from vobjects.lock import installed_locks, text
from vobjects.objects.manifest import Manifest
from vobjects.rpc import conf as rpc_conf
from vobjects.versions import Version

#: A release that the clustering service has, too.
RELEASE = '0.1.0'

DECLARATION = """
from vobjects import Service
SERVICE = Service(name='other', types=(), history={'1.0': []}, lock='other')
"""


#: Types of a service in two modules, and of a neighbour.
TYPES = """
import vobjects
@vobjects.register
class {name}(vobjects.Resource):
    VERSION = '1.1'
    VERSION_MAP = {{'1.3': '1.1'}}
    EARLY_VERSION_MAP = {{'1.1': '1.1'}}
    fields = {{
        'x': vobjects.added('1.1', vobjects.fields.StringField(default='')),
    }}
"""


@pytest.fixture
def other(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install another service before all others in the Python path."""
    package = tmp_path / 'other'
    package.mkdir()
    (package / '__init__.py').write_text(DECLARATION)
    (package / installed_locks.FILE_NAME).write_text(
        text.dump(lock_with_releases({RELEASE: Version(1, 6)}))
    )
    about = tmp_path / 'other-1.dist-info'
    about.mkdir()
    (about / 'METADATA').write_text('Name: other\nVersion: 1\n')
    (about / 'entry_points.txt').write_text(
        f'[{service.GROUP}]\nother = other\nbroken = other.broken\n'
        'lockless = other.lockless\n'
    )
    (package / 'broken.py').touch()
    (package / 'lockless.py').write_text(
        DECLARATION.replace("lock='other'", "lock=''")
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()


def pinned(name: str) -> Manifest:
    """Return the manifest to which a release pins the requests."""
    conf = cfg.ConfigOpts()
    rpc_conf.register(conf)
    conf(args=[], default_config_files=[])
    conf.set_override('engine', RELEASE, 'upgrade_levels')
    manifest = rpc_conf.pinned_manifest(conf, name)
    assert manifest is not None
    return manifest


@pytest.mark.usefixtures('other')
def test_release_in_upgrade_levels_is_one_of_the_called_service() -> None:
    assert pinned('other')['ClusterDeleteRequest'] == '1.0'
    assert pinned('clustering')['ClusterDeleteRequest'] == '1.1'


@pytest.mark.usefixtures('other')
def test_find_returns_the_declaration_of_each_service() -> None:
    assert service.find('other').lock == 'other'
    assert service.find('clustering').topic == 'vobjects-engine'
    with pytest.raises(exceptions.VobjectsError, match='broken, clustering'):
        service.find('none')
    with pytest.raises(exceptions.VobjectsError, match='SERVICE'):
        service.find('broken')


@pytest.mark.usefixtures('other')
def test_service_without_a_lock_has_no_releases() -> None:
    with pytest.raises(exceptions.VobjectsError, match='declares no lock'):
        pinned('lockless')


def test_defaults_of_a_declaration_follow_from_its_name() -> None:
    keys = Service(
        name='keys', types=(), history={'1.2': (), '1.10': (), '1.9': ()}
    )
    assert (keys.exchange, keys.topic, keys.client_topic) == (
        'keys',
        'keys-engine',
        'keys-api',
    )
    assert keys.maximum == Version(1, 10)
    assert keys.release == 'unknown'


def test_load_types_imports_the_modules() -> None:
    keys = Service(name='keys', types=('no.such',), history={'1.0': ()})
    with pytest.raises(ModuleNotFoundError, match='no'):
        keys.load_types()


@pytest.mark.usefixtures('registry')
def test_registered_types_are_those_of_the_packages_of_the_service(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, imports in (
        ('keys/__init__', 'InPackage', ''),
        ('keys/types', 'InModule', 'import keys2'),
        ('keys2', 'OfAnother', ''),
    ):
        path = tmp_path / f'{module}.py'
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{imports}\n{TYPES.format(name=name)}')
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()

    keys = Service(name='keys', types=('keys.types',), history={'1.0': ()})

    names = [cls.__name__ for cls in keys.registered_types()]
    assert names == ['InModule', 'InPackage']


@pytest.mark.usefixtures('other')
def test_services_of_types_are_those_that_load_them() -> None:
    assert [s.name for s in service.of_types(['vobjects.rpc.fleet'])] == []
    assert [
        s.name for s in service.of_types(['vobjects.clustering.types', 'x'])
    ] == ['clustering']
