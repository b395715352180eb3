# SPDX-License-Identifier: Apache-2.0
"""Find the configuration files of a command, and the options it requires.

:func:`add_options` adds the same options to each command that needs the
configuration, and :func:`locate` finds the files. If the user names none, it
takes the first of

1. the files that the environment variable :data:`FILES_VARIABLE` names
2. the state directory that the environment variable :data:`VARIABLE` names
3. the files of :data:`PROJECT` where oslo.config looks for them, such as
   ``/etc/vobjects/vobjects.conf``
4. ``.state`` in the working directory, which ``make up`` uses
5. the default state directory of ``vobjects up``
"""

from __future__ import annotations

import argparse
import os
import pathlib
import stat
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vobjects import exceptions
from vobjects.cli import special_files
from vobjects.cli.parser import width

if TYPE_CHECKING:
    from oslo_config import cfg

PROJECT = 'vobjects'

#: Environment variable that names files, separated by :data:`os.pathsep`.
FILES_VARIABLE = 'VOBJECTS_CONFIG_FILE'

#: Environment variable that names a state directory.
VARIABLE = 'VOBJECTS_STATE_DIR'

#: The state directory of ``make up``.
LOCAL_STATE = pathlib.Path('.state')

#: The configuration file in a state directory.
FILE = 'vobjects.conf'

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class NotConfigured(exceptions.VobjectsError):
    """A required option without a safe default is missing."""


class Sources(NamedTuple):
    """The files of a configuration; later ones win.

    :ivar files: paths of files
    :ivar directories: directories whose ``*.conf`` files are read afterwards
    :ivar is_chosen: whether the user named them
    """

    files: Sequence[str]
    directories: Sequence[str] = ()
    is_chosen: bool = True

    def all_files(self) -> list[str]:
        """Return the files, and those in the directories, in order."""
        return [*self.files, *_in(self.directories)]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that locate the configuration to a command."""
    # Without defaults, because those of a subcommand would replace the values
    # of options before the subcommand.
    group = parser.add_argument_group(
        'configuration',
        # argparse does not wrap this text.
        '\n'.join(
            textwrap.wrap(
                f'Default: the first of ${FILES_VARIABLE}; ${VARIABLE};'
                f' {FILE} in ~/.{PROJECT}, ~, /etc/{PROJECT} or /etc; the'
                f' state directory {LOCAL_STATE} of "make up", or'
                f' ~/.local/state/{PROJECT} of "vobjects up".',
                width() - 2,
            )
        ),
    )
    group.add_argument(
        '--config-file',
        metavar='FILE',
        action='append',
        default=argparse.SUPPRESS,
        help='configuration file; may be repeated, later files win',
    )
    group.add_argument(
        '--config-dir',
        metavar='DIR',
        action='append',
        default=argparse.SUPPRESS,
        help='directory of *.conf files, read after the configuration files;'
        ' may be repeated',
    )
    group.add_argument(
        '--state-dir',
        metavar='DIR',
        type=pathlib.Path,
        default=argparse.SUPPRESS,
        help='state directory of "vobjects up"; use the configuration in it',
    )


def locate(options: argparse.Namespace) -> Sources:
    """Return the configuration files for a command.

    :param options: the parsed arguments, with those of :func:`add_options`
    :returns: no files if the user names none, and there are none
    :raises vobjects.exceptions.VobjectsError: a file does not exist or is not
        text, or the options contradict one another
    """
    sources = _locate(options)
    for file in sources.all_files():
        _check_text(file)
    return sources


def _locate(options: argparse.Namespace) -> Sources:
    files: list[str] = getattr(options, 'config_file', [])
    directories: list[str] = getattr(options, 'config_dir', [])
    state: pathlib.Path | None = getattr(options, 'state_dir', None)
    if state and (files or directories):
        raise exceptions.VobjectsError(
            'use either --state-dir, or --config-file and --config-dir'
        )
    if state:
        return _state(state, '--state-dir')
    if files or directories:
        for file in files:
            _check(file, pathlib.Path(file).exists(), 'does not exist')
            _check_kind(file)
        for directory in directories:
            is_directory = pathlib.Path(directory).is_dir()
            _check(directory, is_directory, 'is not a directory')
        for file in _in(directories):
            _check_kind(file)
        return Sources(files, directories)
    if files := files_of_environment():
        return Sources(files)
    if named := os.environ.get(VARIABLE):
        return _state(pathlib.Path(named), f'${VARIABLE}')
    return _found()


def read(conf: cfg.ConfigOpts, options: argparse.Namespace) -> cfg.ConfigOpts:
    """Read the configuration of a command that uses a running service.

    Print the names of the files to standard error, unless the user has named
    them.

    :param options: the parsed arguments, with those of :func:`add_options`
    :returns: ``conf``
    :raises vobjects.exceptions.VobjectsError: see :func:`locate`
    :raises oslo_config.cfg.Error: a file cannot be read or parsed
    """
    sources = locate(options)
    conf(
        args=[],
        project=PROJECT,
        default_config_files=list(sources.files),
        default_config_dirs=list(sources.directories),
    )
    if not sources.is_chosen:
        print(f'Configuration: {", ".join(files(conf))}', file=sys.stderr)
    return conf


def files_of_environment() -> list[str]:
    """Return the files that :data:`FILES_VARIABLE` names.

    :raises vobjects.exceptions.VobjectsError: a path is not that of a file
    """
    named = os.environ.get(FILES_VARIABLE, '').split(os.pathsep)
    paths = [*filter(None, named)]
    for path in paths:
        _check_kind(path)
    return paths


def _found() -> Sources:
    # Imported here: the help of a command does not need it.
    from oslo_config import cfg

    files = [*dict.fromkeys(cfg.find_config_files(PROJECT))]
    directories = [*dict.fromkeys(cfg.find_config_dirs(PROJECT))]
    if files or directories:
        return Sources(files, directories, is_chosen=False)
    for state in (LOCAL_STATE.absolute(), default_state_directory()):
        file = state / FILE
        if file.is_file() and _is_private(file):
            return Sources([str(file)], is_chosen=False)
    return Sources([])


def _state(directory: pathlib.Path, source: str) -> Sources:
    file = directory.expanduser() / FILE
    _check(
        f'{source}: {file}',
        file.is_file(),
        'is not a file: no "vobjects up" has run there',
    )
    return Sources([str(file)])


def _check(subject: str, is_fine: bool, problem: str) -> None:
    if not is_fine:
        raise exceptions.VobjectsError(
            f'{subject} {problem}; name the state directory of a running'
            f' "vobjects up" with --state-dir or ${VARIABLE}, or a'
            ' configuration file with --config-file'
        )


def _check_kind(file: str) -> None:
    kind = special_files.kind_of(file)
    _check(file, not kind, f'is {kind}')


def _check_text(file: str) -> None:
    path = pathlib.Path(file)
    try:
        if path.is_file():  # a pipe can be read only once
            path.read_text()
    except UnicodeDecodeError as error:
        _check(file, False, f'is not text in {error.encoding}')
    except OSError:
        pass  # oslo.config reports it


def _is_private(file: pathlib.Path) -> bool:
    """Return whether only the user can have written a file.

    Otherwise, a user who may write to the working directory could configure
    the commands of other users.
    """
    return all(
        path.stat().st_uid == os.geteuid()
        and not path.stat().st_mode & _WRITABLE_BY_OTHERS
        for path in (file.parent, file)
    )


def files(conf: cfg.ConfigOpts) -> list[str]:
    """Return the files that a configuration was read from, in order.

    :param conf: configuration with its files read
    """
    return [*(conf.config_file or ()), *_in(conf.config_dir or ())]


def _in(directories: Iterable[str]) -> Iterator[str]:
    for directory in directories:
        yield from map(str, sorted(pathlib.Path(directory).glob('*.conf')))


def places() -> str:
    """Return where oslo.config looks for the files, as a clause."""
    return (
        f'~/.{PROJECT}, ~, /etc/{PROJECT} and /etc, for {PROJECT}.conf and'
        f' {PROJECT}.conf.d'
    )


def nothing_found() -> str:
    """Return that there is no configuration, and what to do, as a clause."""
    return (
        f'there is no configuration file (looked in {places()}, and in the'
        f' state directories {LOCAL_STATE} and {default_state_directory()});'
        ' name a file with --config-file, or the state directory of "vobjects'
        f' up" with --state-dir or ${VARIABLE}'
    )


def missing(conf: cfg.ConfigOpts, option: str, example: str) -> NotConfigured:
    """Return the error for an option that is not configured.

    :param conf: configuration with its files read
    :param option: name of the option, such as ``[database] connection``
    :param example: an example value
    """
    names = ', '.join(files(conf))
    if names:
        return NotConfigured(
            f'{option} is not set in {names}; set it, for example {example},'
            ' or name another file with --config-file'
        )
    return NotConfigured(f'{option} is not set and {nothing_found()}')


def require_bus(conf: cfg.ConfigOpts) -> str:
    """Return ``transport_url``, which must be configured.

    oslo.messaging's default is RabbitMQ on this host, which may belong to
    another service.

    :param conf: configuration with its files read
    :raises NotConfigured: ``transport_url`` is not set
    """
    # Imported here: "vobjects db" needs no message bus.
    from vobjects.rpc import transport

    url = transport.configured_url(conf)
    if url is None:
        raise missing(
            conf,
            '[DEFAULT] transport_url',
            'rabbit://USER:PASSWORD@HOST:5672/VHOST',
        )
    return url


def default_state_directory() -> pathlib.Path:
    """Return ``$XDG_STATE_HOME/vobjects``, or ``~/.local/state/vobjects``.

    Relative paths in the variable are ignored, as the XDG base directory
    specification requires.
    """
    home = pathlib.Path(os.environ.get('XDG_STATE_HOME', ''))
    if not home.is_absolute():
        home = pathlib.Path.home() / '.local' / 'state'
    return home / PROJECT
