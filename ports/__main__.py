# SPDX-License-Identifier: Apache-2.0
"""Apply the edits of a port to an installed service, and run its tests.

``python -m ports magnum`` installs the release from PyPI, once, copies its
package, edits the copy, and runs the service's own tests and ours against it.
``--original`` runs the service's tests without the edits. ``--compare`` only
compares the responses to version headers before and after.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
from collections.abc import Iterable, Iterator, Sequence

from ports import comparison, editing
from ports.port import Port, search_path

NAMES = ('magnum', 'barbican', 'senlin', 'nova')

_REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

_PRINT_SITE_PACKAGES = 'import sysconfig; print(sysconfig.get_path("purelib"))'

#: Arguments of Python that run pytest.
PYTEST = (
    '-m',
    'pytest',
    # Not that of this repository.
    f'--config-file={os.devnull}',
    '-q',
    '-p',
    'no:cacheprovider',
    '-p',
    'no:warnings',
    '--tb=short',
)

_TEST_REQUIREMENTS = (
    'ddt',
    'fixtures',
    'oslotest',
    'pytest',
    'pytest-xdist',
    'python-subunit',
    'requests-mock',
    'stestr',
    'testscenarios',
    'testtools',
    'WebTest',
)


DEFAULT_CACHE = (
    pathlib.Path(os.environ.get('XDG_CACHE_HOME') or '~/.cache').expanduser()
    / 'vobjects'
    / 'ports'
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ports; return 1 if a test fails."""
    parser = argparse.ArgumentParser(prog='ports', description=__doc__)
    parser.add_argument(
        'names', nargs='*', metavar='NAME', help=f'of {", ".join(NAMES)}'
    )
    parts = parser.add_mutually_exclusive_group()
    parts.add_argument(
        '--original', action='store_true', help='do not edit the service'
    )
    parts.add_argument(
        '--compare',
        action='store_true',
        help='compare the responses with NAME/differences.csv; run no tests',
    )
    parts.add_argument(
        '--record',
        action='store_true',
        help='write NAME/differences.csv; run no tests',
    )
    parser.add_argument(
        '--cache',
        type=pathlib.Path,
        default=DEFAULT_CACHE,
        help='folder of the virtual environments',
    )
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in NAMES:
            parser.error(f'{name!r} is not one of {", ".join(NAMES)}')
    failed = False
    for name in options.names or NAMES:
        port = importlib.import_module(f'ports.{name}').PORT
        if not (options.compare or options.record):
            failed |= run(port, options.cache, edit=not options.original)
        if not options.original:
            failed |= differs(port, options.cache, record=options.record)
    return int(failed)


def run(port: Port, cache: pathlib.Path, *, edit: bool) -> bool:
    """Run the tests of a service; return whether one failed.

    :param edit: whether to apply the edits of the port
    """
    with tempfile.TemporaryDirectory(prefix=f'port-{port.name}-') as folder:
        root = pathlib.Path(folder)
        python = prepare(port, cache, root, edit=edit)
        add_sources(port, cache, root)
        omitted = (
            *port.broken_tests,
            *(port.replaced_tests if edit else ()),
        )
        own = [str(_REPOSITORY / 'ports' / port.name / 'tests')] * edit
        commands = [
            stestr(port, root, omitted)
            if port.stestr_folder
            else [python, *PYTEST, *_pytest(port, root, omitted)]
        ]
        # Apart, because tests of a service leave some of their mocks behind.
        commands += [[python, *PYTEST, f'--rootdir={root}', *own]] * edit
        results = [
            subprocess.call(command, cwd=root, env=environment(python, root))
            for command in commands
        ]
        return any(results)


def differs(port: Port, cache: pathlib.Path, *, record: bool) -> bool:
    """Compare a port with its service; return whether a difference is new."""
    lines = comparison.compare(
        port,
        lambda root, edit: prepare(port, cache, root, edit=edit),
        record=record,
    )
    print(f'{port.name}: {len(lines)} unlisted differences', *lines, sep='\n')
    return bool(lines)


def prepare(
    port: Port, cache: pathlib.Path, root: pathlib.Path, *, edit: bool
) -> str:
    """Copy the package of a service to a folder, and edit it.

    :returns: the Python that has the requirements of the service
    """
    python = _environment(port, cache)
    # Not only the package: services find their etc beside it.
    for name in (port.name, *port.empty_folders):
        (root / name).mkdir(parents=True)
    site = subprocess.check_output(
        [python, '-c', _PRINT_SITE_PACKAGES], text=True
    ).strip()
    package = root / port.name
    shutil.copytree(
        pathlib.Path(site) / port.name,
        package,
        dirs_exist_ok=True,
        ignore=shutil.ignore_patterns('__pycache__'),
    )
    if edit:
        difference = editing.apply(package, port.edits)
        print(
            f'{port.name} {port.release}: {difference.removed} lines'
            f' removed, {difference.inserted} inserted;'
            f' {difference.removed_modules} lines of modules replaced by'
            f' {difference.inserted_modules}',
            flush=True,
        )
    return python


def environment(python: str, root: pathlib.Path) -> dict[str, str]:
    """Return the environment of processes that import a prepared package."""
    return {
        **os.environ,
        'PYTHONPATH': search_path(root),
        'PATH': f'{pathlib.Path(python).parent}:{os.environ["PATH"]}',
    }


def add_sources(port: Port, cache: pathlib.Path, root: pathlib.Path) -> None:
    """Copy what the tests need of the source distribution to a folder."""
    for name in port.source_folders:
        shutil.copytree(source(port, cache) / name, root / name)


def source(port: Port, cache: pathlib.Path) -> pathlib.Path:
    """Return the folder of the source distribution of a release.

    It has tests and samples that the package lacks.
    """
    folder = cache / f'{port.name}-{port.release}-source'
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=_made(cache)) as name:
            subprocess.check_call(
                [
                    *(sys.executable, '-m', 'pip', 'download', '--quiet'),
                    *('--no-deps', '--no-binary', ':all:', '--dest', name),
                    f'{port.name}=={port.release}',
                ]
            )
            (archive,) = pathlib.Path(name).glob('*.tar.gz')
            with tarfile.open(archive) as content:
                content.extractall(name, filter='data')
            (extracted,) = (
                path for path in pathlib.Path(name).iterdir() if path.is_dir()
            )
            extracted.rename(folder)
    return folder


def _made(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _pytest(
    port: Port, root: pathlib.Path, omitted: Sequence[str]
) -> Iterator[str]:
    """Yield arguments of pytest for the tests of a service."""
    yield f'--rootdir={root}'
    yield f'--numprocesses={port.processes}'
    for test in omitted:
        # Of the two, pytest takes a path only relative to the root.
        yield (
            f'--deselect={test}' if '::' in test else f'--ignore={root / test}'
        )
    for path in port.tests:
        yield str(root / path)


def stestr(
    port: Port, root: pathlib.Path, omitted: Sequence[str] = ()
) -> list[str]:
    """Configure stestr; return its command for the tests of a service.

    :param omitted: tests that do not run, ``PATH`` or ``PATH::CLASS``
    """
    (root / '.stestr.conf').write_text(
        f'[DEFAULT]\ntest_path=./{port.stestr_folder}\ntop_dir=./\n'
    )
    for test in omitted:
        if '::' not in test:
            # stestr would import the module, although it excludes its tests.
            (root / test).unlink()
    excluded = [f'--exclude-regex={_names(omitted)}'] if omitted else []
    return [
        'stestr',
        'run',
        '--concurrency=2',
        *excluded,
        _names(port.tests),
    ]


def _names(paths: Iterable[str]) -> str:
    """Return a regular expression for the names of tests in some files."""
    return '|'.join(
        path.removesuffix('.py').replace('.py::', '.').translate(_DOTS) + r'\b'
        for path in paths
    )


_DOTS = str.maketrans({'/': r'\.', '.': r'\.', ':': '.'})


def _library_requirements() -> list[str]:
    text = (_REPOSITORY / 'pyproject.toml').read_text()
    requirements: list[str] = tomllib.loads(text)['project']['dependencies']
    return requirements


def _environment(port: Port, cache: pathlib.Path) -> str:
    """Return the Python of a virtual environment with the service."""
    requirements = (
        f'{port.name}=={port.release}',
        *port.requirements,
        *_TEST_REQUIREMENTS,
    )
    identity = repr((requirements, _library_requirements()))
    key = hashlib.sha256(identity.encode()).hexdigest()[:12]
    folder = cache / f'{port.name}-{port.release}-{key}'
    python = folder / 'bin' / 'python'
    stamp = folder / '.installed'
    if not stamp.exists():
        print(
            f'installing {port.name} {port.release} (a minute, once)',
            flush=True,
        )
        venv.create(folder, clear=True, with_pip=False)
        install = (_REPOSITORY / 'tools' / 'install-packages', sys.executable)
        # The dependencies of the library, and not the library: the tests use
        # that of this working tree.
        subprocess.check_call(
            [*install, python, *requirements, *_library_requirements()]
        )
        stamp.touch()
    return str(python)


if __name__ == '__main__':
    sys.exit(main())
