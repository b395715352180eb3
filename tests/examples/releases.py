# SPDX-License-Identifier: Apache-2.0
"""Build and install the releases of an example, as a third party does.

The directory of an example is its first release. Each patch in its directory
``releases`` makes the next one, and is named after its version. Nothing here
reads the history of git.

Each release gets a separate environment with the wheels of this repository and
that of the release. The distributions that both depend on are
installed once, in a base environment that all releases share; it is cached by
its requirements. An environment contains nothing of the running one, so that
an undeclared dependency or a file that is missing in a wheel fails a test.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import importlib.metadata
import os
import pathlib
import re
import shutil
import sys
import tomllib
import venv
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import installation, machine_speed
from tests.functional import fork_server
from tests.programs import run_program

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / 'examples'

#: Timeout of a command in seconds.
TIMEOUT = 600 * machine_speed.scale()

#: What examples install beside the library.
OTHERS = [
    *sorted(path.parent for path in ROOT.glob('transports/*/LICENSE')),
    *(
        ROOT / 'distributions' / name
        for name in ('contract', 'sql', 'testing')
    ),
]

#: Files from which a wheel of the library is built.
LIBRARY_FILES = ('pyproject.toml', 'README.md', 'LICENSE')

PIP = (sys.executable, '-m', 'pip', '--disable-pip-version-check')


def _document(source: pathlib.Path) -> dict[str, Any]:
    return tomllib.loads((source / 'pyproject.toml').read_text())


#: Build the wheels, in the base environment.
BUILD_REQUIREMENTS = sorted(
    {
        requirement
        for source in (ROOT, *OTHERS, *EXAMPLES.glob('*_*'))
        for requirement in _document(source)['build-system']['requires']
    }
)

_READY = 'ready'
_NOT_SOURCE = shutil.ignore_patterns(
    '__pycache__', '*.egg-info', 'build', 'dist'
)


@dataclasses.dataclass(frozen=True)
class Installation:
    """An installed release.

    :ivar version: version of the release
    :ivar directory: its virtual environment
    :ivar source: its source tree
    """

    version: str
    directory: pathlib.Path
    source: pathlib.Path

    def program(self, name: str) -> str:
        """Return the path of a program.

        ``python -m`` would search the working directory first.
        """
        return str(self.directory / 'bin' / name)

    def run(self, name: str, *arguments: object, **options: Any) -> str:
        """Run a program in the source tree and return its output.

        :raises AssertionError: it failed
        """
        options = {'cwd': self.source, **options}
        return run(self.program(name), *arguments, **options)


def run(*command: object, **options: Any) -> str:
    """Run a command and return its standard output.

    :raises AssertionError: it failed
    """
    words = [str(word) for word in command]
    completed = run_program(
        words, timeout=TIMEOUT, **{'env': environment(), **options}
    )
    assert completed.returncode == 0, (
        f'{words} failed:\n{completed.stdout}\n{completed.stderr}'
    )
    return completed.stdout


def environment() -> dict[str, str]:
    """Return this process's environment without what affects imports."""
    dropped = ('GIT_', 'PYTHONPATH', 'VIRTUAL_ENV', 'OS_')
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(dropped)
    }


def sources(example: str, directory: pathlib.Path) -> dict[str, pathlib.Path]:
    """Copy the source trees of all releases.

    :param example: name of a directory in ``examples``
    :param directory: an empty directory for the copies
    :returns: version -> source tree, oldest first
    """
    patches = EXAMPLES / example / 'releases'
    ignored = shutil.ignore_patterns('releases')

    def ignore(path: str, names: list[str]) -> set[str]:
        return {*_NOT_SOURCE(path, names), *ignored(path, names)}

    source = directory / 'first'
    shutil.copytree(EXAMPLES / example, source, ignore=ignore)
    trees = {version_of(source): source}
    for patch in sorted(patches.glob('*.patch'), key=_version_key):
        previous, source = source, directory / patch.stem
        shutil.copytree(previous, source)
        # In a subdirectory of a repository, git would skip the files.
        outside = {'GIT_CEILING_DIRECTORIES': str(source.parent.resolve())}
        run(
            *('git', 'apply', '--whitespace=nowarn', patch),
            cwd=source,
            env={**environment(), **outside},
        )
        version = version_of(source)
        assert version == patch.stem, f'{patch} makes release {version}'
        trees[version] = source
    return trees


def version_of(source: pathlib.Path) -> str:
    """Return the version of the distribution in a source tree."""
    return str(_project(source)['version'])


def install(
    example: str, directory: pathlib.Path, extras: Sequence[str] = ()
) -> dict[str, Installation]:
    """Build and install all releases of an example.

    :param example: name of a directory in ``examples``
    :param directory: an empty directory for sources, wheels and environments
    :param extras: extras of the example to install
    :returns: version -> installation, oldest first
    """
    trees = sources(example, directory / 'source')
    base = base_environment(
        sorted(
            {
                requirement
                for tree in trees.values()
                for requirement in third_party(tree, extras)
            }
        )
    )
    ours = [
        build(source, base, directory)
        for source in library_sources(directory / 'library')
    ]
    installed = {}
    for version, tree in trees.items():
        wheel = build(tree, base, directory)
        target = directory / version
        create(target, base)
        # All requirements are in the base, which uv does not see.
        _install(target, '--no-index', '--no-deps', *ours, wheel)
        missing = unmet_requirements(target, base)
        assert not missing, f'{example} {version}: {missing}'
        installed[version] = Installation(version, target, tree)
        # Each test that follows a README executes the scripts themselves.
        fork_server.offer(
            installed[version].program('python'),
            {
                installed[version].program(name): value.removesuffix(':main')
                for name, value in _project(tree)['scripts'].items()
            },
        )
    return installed


def unmet_requirements(
    directory: pathlib.Path, base: pathlib.Path
) -> list[str]:
    """Return what distributions of an environment require, but is missing.

    :param base: an environment that this one shares
    """
    own, shared = (
        list(importlib.metadata.distributions(path=[str(site)]))
        for site in map(_site_packages, (directory, base))
    )
    versions = {
        canonicalize_name(item.name): item.version for item in (*shared, *own)
    }

    def is_met(requirement: Requirement) -> bool:
        version = versions.get(canonicalize_name(requirement.name))
        return version is not None and requirement.specifier.contains(
            version, prereleases=True
        )

    return [
        f'{item.name} requires {requirement}'
        for item in own
        for requirement in map(Requirement, item.requires or ())
        if requirement.marker is None
        or requirement.marker.evaluate({'extra': ''})
        if not is_met(requirement)
    ]


def library_sources(directory: pathlib.Path) -> list[pathlib.Path]:
    """Copy the library and the others; return their directories.

    Building them leaves no files in the repository.
    """
    shutil.copytree(
        ROOT / 'vobjects', directory / 'vobjects', ignore=_NOT_SOURCE
    )
    for name in LIBRARY_FILES:
        shutil.copy(ROOT / name, directory / name)
    copies = [directory / path.relative_to(ROOT) for path in OTHERS]
    for path, copy in zip(OTHERS, copies, strict=True):
        shutil.copytree(path, copy, ignore=_NOT_SOURCE)
    return [directory, *copies]


def build(
    source: pathlib.Path, base: pathlib.Path, directory: pathlib.Path
) -> pathlib.Path:
    """Build a wheel with the base environment and return its path."""
    wheels = directory / 'wheels'
    wheels.mkdir(exist_ok=True)
    # As pip does; starting pip would take longer than building.
    backend = _document(source)['build-system']['build-backend']
    hook = f'import {backend} as backend, sys;'
    hook += 'print(backend.build_wheel(sys.argv[1]))'
    python = base / 'bin' / 'python'
    output = run(python, '-c', hook, wheels, cwd=source)
    return wheels / output.split()[-1]


def third_party(source: pathlib.Path, extras: Sequence[str]) -> set[str]:
    """Return the requirements of a release, the library and the others.

    :param source: source tree of the release
    :param extras: extras of the release
    :returns: requirements, without the distributions of this repository
    """
    projects = [_project(ROOT), *map(_project, OTHERS)]
    ours = {project['name']: project for project in projects}
    result: set[str] = set()
    pending = _requirements(_project(source), extras)
    for project in projects:
        pending += _requirements(project, [])
    for requirement in pending:
        match = re.match(r'([\w.-]+)(?:\[([\w, -]+)\])?', requirement)
        assert match is not None, requirement
        name, names = match.groups()
        if name not in ours:
            result.add(requirement)
            continue
        for extra in filter(None, re.split(r'[, ]+', names or '')):
            result |= set(ours[name]['optional-dependencies'][extra])
    return result


def _requirements(project: dict[str, Any], extras: Sequence[str]) -> list[str]:
    optional = project.get('optional-dependencies', {})
    return [
        *project['dependencies'],
        *(item for extra in extras for item in optional[extra]),
    ]


def base_environment(requirements: Sequence[str]) -> pathlib.Path:
    """Return a virtual environment with some distributions.

    The first call installs them; later ones reuse the environment.
    """

    def install(directory: pathlib.Path, packages: Sequence[str]) -> None:
        venv.create(directory, with_pip=False)
        _install(directory, *packages)

    return _cached('', requirements, install)


def wheelhouse(requirements: Sequence[str]) -> pathlib.Path:
    """Return a directory with the wheels of some distributions.

    It has what they depend on, too. The first call downloads them; later ones
    reuse the directory.
    """

    def download(directory: pathlib.Path, packages: Sequence[str]) -> None:
        directory.mkdir()
        run(*PIP, 'wheel', '--quiet', '--wheel-dir', directory, *packages)

    return _cached('wheels-', requirements, download)


def _cached(
    prefix: str,
    requirements: Sequence[str],
    fill: Callable[[pathlib.Path, Sequence[str]], None],
) -> pathlib.Path:
    """Return a directory of the cache, which the first call fills."""
    packages = [*requirements, *BUILD_REQUIREMENTS]
    identity = '\n'.join([sys.version, sys.base_prefix, *packages])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    cache = os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache'
    name = f'{prefix}{digest}'
    directory = pathlib.Path(cache) / 'vobjects' / 'examples' / name
    directory.parent.mkdir(parents=True, exist_ok=True)
    with _locked(directory.with_suffix('.lock')):
        if not (directory / _READY).exists():
            shutil.rmtree(directory, ignore_errors=True)
            fill(directory, packages)
            (directory / _READY).touch()
    return directory


def create(
    directory: pathlib.Path, base: pathlib.Path, *, with_pip: bool = False
) -> None:
    """Create an environment that also has the packages of another one."""
    venv.create(directory, with_pip=with_pip)
    shared = _site_packages(base)
    (_site_packages(directory) / 'base.pth').write_text(f'{shared}\n')


def _site_packages(directory: pathlib.Path) -> pathlib.Path:
    (path,) = directory.glob('lib/python*/site-packages')
    return path


def _install(directory: pathlib.Path, *arguments: object) -> None:
    """Install packages in an environment."""
    run(*installation.command(directory / 'bin' / 'python'), *arguments)


def _project(source: pathlib.Path) -> dict[str, Any]:
    document = _document(source)
    project: dict[str, Any] = document['project']
    if 'dependencies' in project.get('dynamic', ()):
        # Pins of the distributions of this repository name its version.
        hooks = document['tool']['hatch']['metadata']['hooks']
        project |= hooks['uv-dynamic-versioning']
    return project


def _version_key(path: pathlib.Path) -> list[int]:
    return [int(part) for part in path.stem.split('.')]


@contextlib.contextmanager
def _locked(path: pathlib.Path) -> Iterator[None]:
    """Hold an exclusive lock on a file during a block."""
    with path.open('ab') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
