# SPDX-License-Identifier: Apache-2.0
"""All distributions, built and installed as their users install them."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from typing import Any

import pytest
import requests

from tests.functional import processes

ROOT = pathlib.Path(__file__).parents[2]
SERVICE = ROOT / 'distributions' / 'clustering'
TRANSPORTS = sorted(path.parent for path in ROOT.glob('transports/*/LICENSE'))
TRANSPORT_NAMES = [f'oslo-messaging-{path.name}' for path in TRANSPORTS]

#: Distributions that the library may need beside oslo.versionedobjects.
MOST_MORE = 10


def run(*command: object, **options: Any) -> str:
    """Run a command in a folder without the source, and return its output."""
    result = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        **options,
    )
    assert result.returncode == 0, (
        f'{command}\n{result.stdout}\n{result.stderr}'
    )
    return result.stdout


class Environment:
    """A new virtual environment."""

    def __init__(self, path: pathlib.Path) -> None:
        venv.create(path, with_pip=True)
        self.path = path

    def program(self, name: str) -> pathlib.Path:
        return self.path / 'bin' / name

    def install(self, *requirements: object) -> set[str]:
        """Install requirements; return the names of all distributions."""
        python = self.program('python')
        pip = (python, '-m', 'pip', '--disable-pip-version-check')
        run(*pip, 'install', '--quiet', *requirements)
        listed = run(*pip, 'list', '--format=json')
        return {item['name'] for item in json.loads(listed)}


@pytest.fixture(scope='module')
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """Return distribution -> folder with its sdist and its wheel."""
    folders = {}
    for source in (ROOT, SERVICE, *TRANSPORTS):
        metadata = tomllib.loads((source / 'pyproject.toml').read_text())
        folder = tmp_path_factory.mktemp('dist')
        # The wheel is built from the sdist, so both are tested.
        run(sys.executable, '-m', 'build', '--outdir', folder, source)
        folders[metadata['project']['name']] = folder
    return folders


@pytest.fixture(scope='module')
def library(
    built: dict[str, pathlib.Path], tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    environment = Environment(tmp_path_factory.mktemp('library'))
    alone = environment.install('oslo.versionedobjects')
    more = environment.install(*built['vobjects'].glob('*.whl')) - alone
    assert len(more - {'vobjects'}) <= MOST_MORE, more
    return environment


def test_distributions_when_built_then_twine_accepts_them(
    built: dict[str, pathlib.Path],
) -> None:
    for folder in built.values():
        files = sorted(folder.iterdir())
        assert [path.suffix for path in files] == ['.whl', '.gz']
        run(sys.executable, '-m', 'twine', 'check', '--strict', *files)


def test_distributions_when_built_then_share_no_file_and_have_all_packages(
    built: dict[str, pathlib.Path],
) -> None:
    names = {}
    for distribution, folder in built.items():
        (wheel,) = folder.glob('*.whl')
        with zipfile.ZipFile(wheel) as archive:
            names[distribution] = {
                name
                for name in archive.namelist()
                if '.dist-info/' not in name
            }
    library, service = names['vobjects'], names['vobjects-clustering']
    assert not library & service
    assert {name.split('/')[0] for name in library} == {'vobjects'}
    for name in TRANSPORT_NAMES:
        package = name.replace('-', '_')
        assert {path.split('/')[0] for path in names[name]} == {package}
        assert f'{package}/py.typed' in names[name]
    for package in ('vobjects', 'api', 'engine'):
        sources = {
            str(path.relative_to(ROOT))
            for path in (ROOT / package).rglob('*.py')
        }
        assert sources <= library | service
    assert {
        'vobjects/py.typed',
        'vobjects/clustering/vobjects.lock',
        'api/ui/static/index.html',
        'api/ui/static/preact-htm.LICENSE.txt',
    } <= library | service


def test_library_when_installed_alone_then_runs_its_quick_start(
    library: Environment, tmp_path: pathlib.Path
) -> None:
    readme = (ROOT / 'README.md').read_text()
    example = readme.partition('```python\n')[2].partition('```')[0]
    (tmp_path / 'example.py').write_text(
        example
        + "print(ClusterDeleteRequest(identity='c').obj_to_primitive())\n"
    )
    printed = run(library.program('python'), 'example.py', cwd=tmp_path)
    assert "'identity': 'c'" in printed


@pytest.mark.parametrize('name', TRANSPORT_NAMES)
def test_transport_when_installed_then_needs_neither_library_nor_service(
    name: str, built: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    environment = Environment(tmp_path / 'transport')
    wheels = {n: [*built[n].glob('*.whl')] for n in TRANSPORT_NAMES}
    needed = {*wheels[name], *wheels['oslo-messaging-driverlib']}
    installed = environment.install(*needed)
    assert not any(other.startswith('vobjects') for other in installed)
    package = name.replace('-', '_')
    code = (
        f'import importlib, pkgutil, {package} as top;'
        ' [importlib.import_module(f"{top.__name__}.{found.name}")'
        ' for found in pkgutil.iter_modules(top.__path__)]'
    )
    run(environment.program('python'), '-c', code, cwd=tmp_path)


@pytest.mark.parametrize(
    'module',
    [
        'vobjects.contract.openapi',
        'vobjects.controllers.actions',
        'vobjects.lock.rules',
        'vobjects.microversions.middleware',
        'vobjects.rpc.client',
        'vobjects.rpc.server_process',
    ],
)
def test_library_when_installed_alone_then_imports_its_public_modules(
    library: Environment, tmp_path: pathlib.Path, module: str
) -> None:
    run(library.program('python'), '-c', f'import {module}', cwd=tmp_path)


def test_library_when_installed_alone_then_its_command_lists_its_commands(
    library: Environment, tmp_path: pathlib.Path
) -> None:
    printed = run(library.program('vobjects'), '--help', cwd=tmp_path)
    assert '\n  lock ' in printed
    assert '\n  up ' not in printed
    code = 'import api'
    with pytest.raises(AssertionError, match='ModuleNotFoundError'):
        run(library.program('python'), '-c', code, cwd=tmp_path)


def test_library_when_installed_with_pytest_alone_then_pytest_runs(
    library: Environment, tmp_path: pathlib.Path
) -> None:
    library.install('pytest')
    (tmp_path / 'test_nothing.py').write_text('def test_it():\n    pass\n')
    python = library.program('python')
    assert '1 passed' in run(python, '-m', 'pytest', '-q', cwd=tmp_path)


@pytest.mark.long
def test_service_when_installed_then_up_serves(
    built: dict[str, pathlib.Path], tmp_path: pathlib.Path
) -> None:
    environment = Environment(tmp_path / 'service')
    environment.install(
        *(wheel for folder in built.values() for wheel in folder.glob('*.whl'))
    )
    log = tmp_path / 'up.log'
    # Sockets are in the state directory, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix='vobjects-') as state:
        command = [
            *(str(environment.program('vobjects')), 'up', '--port=0'),
            f'--state-dir={state}',
        ]
        with log.open('wb') as output:
            up = subprocess.Popen(
                processes.kill_with_parent(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=tmp_path,
            )
        try:
            match = processes.wait_for(
                'the address of the API',
                lambda: re.search(r'is at (http://\S+)', log.read_text()),
            )
            clusters = requests.get(f'{match[1]}/v1/clusters', timeout=60)
            assert clusters.json() == {'clusters': []}
            up.terminate()
            assert up.wait(processes.TIMEOUT) == 0, log.read_text()
        finally:
            up.kill()
            up.wait()
