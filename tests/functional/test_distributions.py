# SPDX-License-Identifier: Apache-2.0
"""All distributions, built and installed as their users install them.

A local index serves them, so the commands are those of the documentation. In
``VOBJECTS_DISTRIBUTIONS``, ``tools/release`` names the folder that it checks.
"""

from __future__ import annotations

import email
import functools
import http.server
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import venv
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import requests
from readme_renderer import markdown

from tests import installation, machine_speed
from tests.functional import processes, test_pages
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]
SERVICE = ROOT / 'distributions' / 'clustering'

#: Distribution -> folder with its source.
SOURCES = {
    tomllib.loads(path.read_text())['project']['name']: path.parent
    for path in sorted(
        (
            ROOT / 'pyproject.toml',
            *ROOT.glob('distributions/*/pyproject.toml'),
            *ROOT.glob('transports/*/pyproject.toml'),
        )
    )
}
TRANSPORTS = [name for name in SOURCES if name.startswith('oslo-')]

#: Installs what a build needs. Without uv, pip does.
INSTALLER = 'uv' if importlib.util.find_spec('uv') else 'pip'

#: Prints the names of the distributions of an environment.
LIST = """
import importlib.metadata
for distribution in importlib.metadata.distributions():
    print(distribution.name)
"""

#: Distributions that the library may need beside oslo.versionedobjects.
MOST_MORE = 10


def run(*command: object, **options: Any) -> str:
    """Run a command in a folder without the source, and return its output."""
    result = run_program(
        [str(word) for word in command],
        timeout=600 * machine_speed.scale(),
        **options,
    )
    assert result.returncode == 0, (
        f'{command}\n{result.stdout}\n{result.stderr}'
    )
    return result.stdout


class Environment:
    """A new virtual environment without pip.

    :param index: URL of an index beside that of the configuration
    """

    def __init__(self, path: pathlib.Path, index: str) -> None:
        venv.create(path)
        self.path = path
        self.variables = {
            **os.environ,
            'PIP_EXTRA_INDEX_URL': index,
            'UV_INDEX': index,
        }

    def program(self, name: str) -> pathlib.Path:
        return self.path / 'bin' / name

    def install(self, *requirements: object) -> set[str]:
        """Install requirements; return the names of all distributions."""
        return self._install(
            installation.command(self.program('python')), requirements
        )

    def install_with_pip(self, *requirements: object) -> set[str]:
        """Do the same with pip, which takes several times as long."""
        python = self.program('python')
        pip = (sys.executable, '-m', 'pip', '--python', str(python))
        return self._install(
            (*pip, '--disable-pip-version-check', 'install', '--quiet'),
            requirements,
        )

    def _install(
        self, command: tuple[str, ...], requirements: Sequence[object]
    ) -> set[str]:
        run(*command, *requirements, env=self.variables)
        return set(run(self.program('python'), '-c', LIST).split())


def documented_installation(readme: pathlib.Path) -> list[str]:
    """Return the arguments of ``pip install`` in a README."""
    command = r'^\$ (?:\S*/)?pip install ([^#\n]+)'
    match = re.search(command, readme.read_text(), re.MULTILINE)
    assert match, f'{readme} does not say how to install the distribution'
    return match[1].split()


class Built:
    """A folder with the sdist and the wheel of all distributions."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def file(self, name: str, suffix: str) -> pathlib.Path:
        """Return the wheel or the sdist of a distribution."""
        (found,) = self.folder.glob(f'{name.replace("-", "_")}-*{suffix}')
        return found

    def contents(self, name: str) -> set[str]:
        """Return the names of the files that a wheel installs."""
        with zipfile.ZipFile(self.file(name, '.whl')) as archive:
            return {
                path
                for path in archive.namelist()
                if '.dist-info/' not in path
            }

    def metadata(self, name: str) -> email.message.Message:
        """Return the metadata of a wheel."""
        with zipfile.ZipFile(self.file(name, '.whl')) as archive:
            (path,) = (
                path
                for path in archive.namelist()
                if path.endswith('.dist-info/METADATA')
            )
            return email.message_from_bytes(archive.read(path))


@pytest.fixture(scope='module')
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The distributions of this source, or those of a release."""
    if given := os.environ.get('VOBJECTS_DISTRIBUTIONS'):
        return Built(pathlib.Path(given))
    folder = tmp_path_factory.mktemp('dist')
    for source in SOURCES.values():
        # The wheel is built from the sdist, so both are tested.
        build = (sys.executable, '-m', 'build', '--installer', INSTALLER)
        run(*build, '--outdir', folder, source)
    return Built(folder)


@pytest.fixture(scope='module')
def index(
    built: Built, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of an index of packages (PEP 503) with the distributions."""
    root = tmp_path_factory.mktemp('index')
    for name in SOURCES:
        (root / name).mkdir()
        for suffix in ('.whl', '.tar.gz'):
            path = built.file(name, suffix)
            (root / name / path.name).symlink_to(path)
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=root
    )
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{server.server_port}/'
        server.shutdown()


@pytest.fixture(scope='module')
def library(
    index: str, tmp_path_factory: pytest.TempPathFactory
) -> Environment:
    """An environment with the library, installed as its README says."""
    environment = Environment(tmp_path_factory.mktemp('library'), index)
    alone = environment.install('oslo.versionedobjects')
    wanted = documented_installation(ROOT / 'README.md')
    assert wanted == ['vobjects']
    more = environment.install_with_pip(*wanted) - alone
    assert len(more - {'vobjects'}) <= MOST_MORE, more
    assert not more & {'alembic', 'SQLAlchemy', 'vobjects-sql'}
    return environment


def test_distributions_when_built_then_twine_accepts_them(
    built: Built,
) -> None:
    files = [
        built.file(name, suffix)
        for name in SOURCES
        for suffix in ('.whl', '.tar.gz')
    ]
    run(sys.executable, '-m', 'twine', 'check', '--strict', *files)


def test_distributions_when_built_then_have_one_version_and_need_it(
    built: Built,
) -> None:
    versions = {built.metadata(name)['Version'] for name in SOURCES}
    assert len(versions) == 1
    ours = [
        requirement.partition(';')
        for name in SOURCES
        for requirement in built.metadata(name).get_all('Requires-Dist')
        if re.match(r'[\w-]+', requirement)[0] in {*SOURCES} - {name}
    ]
    pins = [pin for pin, _, marker in ours if 'extra ==' not in marker]
    assert len(pins) == 15
    assert {pin.partition('==')[2] for pin in pins} == versions
    # An extra would have the version of the release in which it was written.
    extras = [name for name, _, marker in ours if 'extra ==' in marker]
    assert extras
    assert [name for name in extras if '=' in name] == []


@pytest.mark.parametrize('name', SOURCES)
def test_description_on_the_index_has_no_relative_link(
    built: Built, name: str
) -> None:
    text = built.metadata(name).get_payload()
    assert isinstance(text, str)
    html = markdown.render(text)
    assert html is not None
    links = re.findall(r'(?:href|src)="([^"]*)"', html)
    assert [link for link in links if not re.match('https://|#', link)] == []


@pytest.mark.parametrize('name', SOURCES)
def test_source_distribution_has_the_licence_and_no_links(
    built: Built, name: str
) -> None:
    path = built.file(name, '.tar.gz')
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        assert all(member.isfile() for member in members)
        licence = archive.extractfile(
            f'{path.name.removesuffix(".tar.gz")}/LICENSE'
        )
        assert licence is not None
        assert licence.read() == (ROOT / 'LICENSE').read_bytes()


def test_distributions_when_built_then_share_no_file_and_have_all_packages(
    built: Built,
) -> None:
    library = built.contents('vobjects')
    service = built.contents('vobjects-clustering')
    assert not library & service
    assert {name.split('/')[0] for name in library} == {'vobjects'}
    others = {*SOURCES} - {'vobjects', 'vobjects-clustering'}
    for name in others:
        package = name.replace('-clustering', '').replace('-', '_')
        contents = built.contents(name)
        assert {path.split('/')[0] for path in contents} == {package}
        assert f'{package}/py.typed' in contents
    for package in ('vobjects', 'api', 'engine'):
        sources = {
            str(path.relative_to(ROOT))
            for path in (ROOT / package).rglob('*.py')
        }
        assert sources <= library | service
    installed = {
        path.partition('/data/share/vobjects-clustering/')[2]
        for path in service
    }
    for name in (
        *('grafana', 'haproxy', 'helm', 'prometheus', 'systemd'),
        *('vobjects.conf.example', 'vobjects.conf.sample'),
    ):
        source = ROOT / 'etc' / name
        files = [p for p in source.rglob('*') if p.is_file()] or [source]
        assert {str(p.relative_to(ROOT / 'etc')) for p in files} <= installed
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


@pytest.mark.parametrize('name', TRANSPORTS)
def test_transport_when_installed_then_needs_neither_library_nor_service(
    name: str, index: str, tmp_path: pathlib.Path
) -> None:
    environment = Environment(tmp_path / 'transport', index)
    installed = environment.install(name)
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
    others = ('clustering', 'up'), ('contract',) * 2, ('testing', 'matrix')
    for name, command in others:
        assert f'\n  {command} ' not in printed
        with pytest.raises(AssertionError, match=f'install vobjects-{name}"'):
            run(library.program('vobjects'), command, cwd=tmp_path)
    python = library.program('python')
    for module in ('api', 'vobjects_testing', 'hypothesis', 'pytest'):
        with pytest.raises(AssertionError, match='ModuleNotFoundError'):
            run(python, '-c', f'import {module}', cwd=tmp_path)


def test_library_when_installed_alone_then_names_what_reads_a_database(
    library: Environment, tmp_path: pathlib.Path
) -> None:
    command = (library.program('vobjects'), 'fleet', 'can-roll-back', '1.0')
    with pytest.raises(AssertionError, match='pip install vobjects-sql'):
        run(*command, cwd=tmp_path)


@pytest.mark.parametrize('wanted', ['vobjects-sql', 'vobjects[ledger]'])
def test_ledger_when_installed_without_the_service_then_works(
    index: str, tmp_path: pathlib.Path, wanted: str
) -> None:
    environment = Environment(tmp_path / 'ledger', index)
    environment.install(wanted)
    code = (
        'import sqlalchemy; from vobjects_sql import ledger;'
        ' engine = sqlalchemy.create_engine("sqlite://");'
        ' ledger.create_tables(engine);'
        ' print(ledger.SqlLedger(engine).get().generation)'
    )
    python = environment.program('python')
    assert run(python, '-c', code, cwd=tmp_path) == '0\n'
    program = environment.program('vobjects')
    assert 'scan' in run(program, 'stored', '--help', cwd=tmp_path)


@pytest.mark.parametrize('by_extra', [False, True])
def test_fixtures_when_installed_as_documented_then_work_as_documented(
    by_extra: bool, index: str, tmp_path: pathlib.Path
) -> None:
    environment = Environment(tmp_path / 'testing', index)
    wanted = documented_installation(SOURCES['vobjects-testing'] / 'README.md')
    assert wanted == ['vobjects-testing']
    environment.install(*(['vobjects[testing]'] if by_extra else wanted))
    service = tmp_path / 'service'
    service.mkdir()
    test_pages.follow(
        'adopt-lock',
        service,
        lambda program: [str(environment.program(program))],
    )


@pytest.mark.long
def test_service_when_installed_as_documented_then_up_serves(
    index: str, tmp_path: pathlib.Path
) -> None:
    environment = Environment(tmp_path / 'service', index)
    wanted = documented_installation(SERVICE / 'README.md')
    assert wanted == ['vobjects-clustering']
    environment.install(*wanted)
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
