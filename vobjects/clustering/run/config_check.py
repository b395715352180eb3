# SPDX-License-Identifier: Apache-2.0
"""Check the configuration files of a service, and log them at start.

:func:`check` compares files with the options of this distribution and its
libraries, as listed by the entry point group ``oslo.config.opts``.
:func:`announce` logs the files that a process has read. A plug-in lists its
options in a namespace that begins with :data:`PREFIX`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import importlib.metadata
import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from vobjects import _threading  # isort: skip  # noqa: F401 - goes first

from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import loading
from oslo_config import cfg, types

from vobjects import exceptions, sensitive
from vobjects.cli import settings, special_files

GROUP = 'oslo.config.opts'

#: Prefix of the namespaces of the service and its plug-ins.
PREFIX = 'vobjects.'

#: Namespaces of the libraries whose options the service reads.
LIBRARIES = (
    'keystonemiddleware.auth_token',
    'oslo.config',
    'oslo.db',
    'oslo.log',
    'oslo.messaging',
    'oslo.messaging.embedded',
    'oslo.messaging.pyamqp',
    'oslo.middleware',
    'oslo.policy',
)

DEFAULT = 'DEFAULT'

#: Options of a section that describe an account of keystoneauth.
_AUTH_TYPE, _AUTH_SECTION = 'auth_type', 'auth_section'

#: Section -> name -> (section in which the option is registered, option).
Options = Mapping[str, Mapping[str, tuple[str, cfg.Opt]]]
MutableOptions = dict[str, dict[str, tuple[str, cfg.Opt]]]
Sections = Mapping[str, Mapping[str, list[str]]]


class BadValue(exceptions.VobjectsError):
    """An option has a value that it does not accept."""


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """One mistake in a configuration file.

    :ivar text: file, section, option, the problem and the fix
    :ivar group: the section, in lower case
    :ivar rejected: whether processes that use the option cannot start
    """

    text: str
    group: str
    rejected: bool = False


def announce(
    conf: cfg.ConfigOpts,
    log: Callable[[int, str], object],
    urls: Mapping[str, str],
) -> None:
    """Log the files and servers of a process, and unknown options.

    :param conf: configuration with its files read
    :param log: called with a level of :mod:`logging` and a line
    :param urls: name of a server -> its URL; passwords are masked
    :raises BadValue: an option of this process has a value that it does not
        accept
    """
    read = settings.files(conf)
    shown = ', '.join(read) or f'no file found in {settings.places()}'
    log(logging.INFO, f'Configuration: {shown}')
    for name, url in urls.items():
        log(logging.INFO, f'{name}: {sensitive.mask_url(url)}')
    for finding in check(read, lambda section: _reads(conf, section)):
        if finding.rejected:
            raise BadValue(finding.text)
        log(logging.WARNING, finding.text)


def _reads(conf: cfg.ConfigOpts, section: str) -> bool:
    """Return whether the process of a configuration reads a section.

    The options of a message bus count as read, because they are only
    registered later, with its driver.
    """
    return (
        section == DEFAULT
        or section in conf
        or section.startswith('oslo_messaging')
    )


def check(
    names: list[str], reads: Callable[[str], bool] = lambda section: True
) -> list[Finding]:
    """Return the mistakes in configuration files, as one process reads them.

    :param names: paths of the files; later files take precedence
    :param reads: returns whether to check the values of a section
    :raises oslo_config.cfg.Error: a file cannot be read or parsed
    """
    parsed = {name: _parse(name) for name in names}
    options = _options(parsed.values())
    findings = [
        finding
        for name, sections in parsed.items()
        for finding in _unknown(name, sections, options)
    ]
    return findings + list(_bad_values(parsed, options, reads))


def _parse(name: str) -> dict[str, dict[str, list[str]]]:
    """Return section -> option -> values; sections in lower case.

    :raises oslo_config.cfg.Error: the file cannot be read or parsed
    """
    sections: dict[str, dict[str, list[str]]] = {}
    try:
        cfg.ConfigParser(name, sections).parse()
    except OSError as error:
        raise cfg.ConfigFileParseError(name, error.strerror or '') from None
    merged: dict[str, dict[str, list[str]]] = {}
    for section, values in sections.items():
        merged.setdefault(_normal(section), {}).update(values)
    return merged


def _normal(section: str) -> str:
    return section if section == DEFAULT else section.lower()


def _options(files_: Iterable[Sections]) -> MutableOptions:
    """Return section -> name -> option, for all names that may be used."""
    options_by_section: MutableOptions = {}
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name.startswith(PREFIX) or point.name in LIBRARIES:
            for group, options in point.load()():
                section = _normal(
                    str(getattr(group, 'name', group or DEFAULT))
                )
                for option in options:
                    _add(options_by_section, section, option)
    for sections in files_:
        for section, values in sections.items():
            _add_account(options_by_section, section, values)
    return options_by_section


def _add(
    options_by_section: MutableOptions, section: str, option: cfg.Opt
) -> None:
    names = [(section, option.dest), (section, option.name)]
    for older in option.deprecated_opts:
        group, name = (
            _normal(older.group or section),
            older.name or option.name,
        )
        names += [(group, name), (group, name.replace('-', '_'))]
    for group, name in names:
        options_by_section.setdefault(group, {}).setdefault(
            name, (section, option)
        )


def _add_account(
    options_by_section: MutableOptions,
    section: str,
    values: Mapping[str, list[str]],
) -> None:
    """Add the options of the authentication plug-in of an account.

    They may be in another section, which ``auth_section`` names.
    """
    if _AUTH_SECTION in values and _AUTH_SECTION in options_by_section.get(
        section, {}
    ):
        other = _normal(values[_AUTH_SECTION][-1])
        for option in (
            *loading.get_auth_common_conf_options(),
            *loading.get_session_conf_options(),
        ):
            _add(options_by_section, other, option)
    if _AUTH_TYPE in values:
        try:
            options = loading.get_auth_plugin_conf_options(
                values[_AUTH_TYPE][-1]
            )
        except auth_exceptions.ClientException:
            return  # the process that uses the account reports the value
        for option in options:
            _add(options_by_section, section, option)


def _unknown(
    name: str, sections: Sections, options: Options
) -> Iterator[Finding]:
    for section, values in sections.items():
        if section not in options:
            yield Finding(
                f'{name}: [{section}]: unknown section, nothing reads it;'
                f' {_nearest(section, options)}',
                section,
            )
            continue
        for option in values:
            if option not in options[section]:
                yield Finding(
                    f'{name}: [{section}] {option}: unknown option, nothing'
                    f' reads it; {_nearest_option(section, option, options)}',
                    section,
                )


def _nearest(word: str, words: Any) -> str:
    near = difflib.get_close_matches(word, list(words), n=1)
    if near:
        return f'did you mean {near[0]!r}?'
    return 'remove it, or see "vobjects config check --help"'


def _nearest_option(section: str, option: str, options: Options) -> str:
    others = [name for name in options if option in options[name]]
    if others:
        return f'did you mean section [{others[0]}]?'
    return _nearest(option, options[section])


def _bad_values(
    parsed: Mapping[str, Sections],
    options: Options,
    reads: Callable[[str], bool],
) -> Iterator[Finding]:
    conf = cfg.ConfigOpts()
    conf([], default_config_files=list(parsed), default_config_dirs=[])
    # Register all options: a value may refer to another option, as in
    # $log_dir.
    for home, option in (
        o for names in options.values() for o in names.values()
    ):
        with contextlib.suppress(cfg.DuplicateOptError):
            conf.register_opt(option, None if home == DEFAULT else home)
    seen = set()
    for name, sections in reversed(list(parsed.items())):
        for section, values in sections.items():
            if not reads(section):
                continue
            for key, texts in values.items():
                if key not in options.get(section, {}):
                    continue
                home, option = options[section][key]
                if (home, option.dest) in seen:
                    continue
                seen.add((home, option.dest))
                if problem := _problem(conf, home, option):
                    shown = '***' if option.secret else ', '.join(texts)
                    yield Finding(
                        f'{name}: [{section}] {key} = {shown}: must be'
                        f' {problem}',
                        section,
                        rejected=True,
                    )


def _problem(conf: cfg.ConfigOpts, section: str, option: cfg.Opt) -> str:
    """Return the accepted values if an option's value is invalid."""
    try:
        value = (conf if section == DEFAULT else conf[section])[option.dest]
    except cfg.ConfigFileValueError as error:
        return accepted(option.type) or str(error).splitlines()[0]
    except (cfg.TemplateSubstitutionError, cfg.NoSuchOptError) as error:
        # The error may quote a part of the password.
        detail = '' if option.secret else f': {error}'
        return f'text in which "$" is written "$$"{detail}'
    if (
        isinstance(option.type, types.Number)
        and option.default is not None
        and not _is_number(value)
    ):
        return accepted(option.type)
    kind = special_files.kind_of_option(conf, option.dest, value)
    return f'a file, not {kind}' if kind else ''


def _is_number(value: Any) -> bool:
    """Tell whether a value is a finite number.

    oslo.config reads an empty value as None, and accepts NaN.
    """
    return isinstance(value, int | float) and math.isfinite(value)


def accepted(kind: Any) -> str:
    """Return the values that a type of an option accepts, in words.

    :param kind: a type of :mod:`oslo_config.types`
    :returns: empty if the type has no description here
    """
    if choices := getattr(kind, 'choices', None):
        return f'one of {", ".join(map(str, choices))}'
    if isinstance(kind, types.Boolean):
        return 'true or false'
    if isinstance(kind, types.Integer | types.Float):
        whole = 'whole ' if isinstance(kind, types.Integer) else ''
        return f'a {whole}number{_bounds(kind.min, kind.max)}'
    if isinstance(kind, types.HostAddress):
        return 'an IP address or a host name'
    if isinstance(kind, types.URI):
        schemes = kind.schemes or ()
        return f'a URL{" with " if schemes else ""}{" or ".join(schemes)}'
    if isinstance(kind, types.Dict):
        return 'pairs such as name:value,name:value'
    if isinstance(kind, types.List):
        return f'a list, each item {accepted(kind.item_type)}'.rstrip()
    return ''


def _bounds(lowest: float | None, highest: float | None) -> str:
    if lowest is None and highest is None:
        return ''
    if highest is None:
        return f' of at least {lowest}'
    if lowest is None:
        return f' of at most {highest}'
    return f' from {lowest} to {highest}'
