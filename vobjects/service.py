# SPDX-License-Identifier: Apache-2.0
"""The declaration of a service that uses this library.

A service declares itself once, in a module that imports little::

    SERVICE = Service(
        name='keys',
        types=('keys.types',),
        history={'1.0': ['The first version.']},
        error_modules=('keys.errors',),
        lock='keys',
    )

and names that module in its ``pyproject.toml``, where the commands of this
library look for it::

    [project.entry-points."vobjects.services"]
    keys = "keys.service"
"""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from vobjects import exceptions
from vobjects.versions import Version

if TYPE_CHECKING:
    from vobjects import objects

#: Entry point group of the declarations.
GROUP = 'vobjects.services'


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """The declaration of a service.

    :ivar name: name of the service, the same as that of its entry point
    :ivar types: modules that register all types of the service when imported
    :ivar history: microversion of the API -> its changes, oldest first
    :ivar error_modules: modules whose errors a server may raise to its callers
    :ivar lock: package that contains the schema lock ``vobjects.lock``; empty:
        the service has none
    :ivar stored: module whose ``STORED`` lists the columns with objects, each
        a :class:`vobjects_sql.stored.scan.StoredColumn`; empty: there are none
    :ivar contract: module whose ``CONTRACT`` describes the API, a
        :class:`vobjects_contract.registry.Contract`; empty: there is none
    :ivar distribution: distribution whose version is the release; default: the
        name of the service
    :ivar exchange: exchange on the message bus; default: the name
    :ivar topic: topic of the servers; default: the name and ``-engine``
    :ivar client_topic: topic of the clients; default: the name and ``-api``
    """

    name: str
    types: Sequence[str]
    history: Mapping[str, Sequence[str]]
    error_modules: Sequence[str] = ()
    lock: str = ''
    stored: str = ''
    contract: str = ''
    distribution: str = ''
    exchange: str = ''
    topic: str = ''
    client_topic: str = ''

    def __post_init__(self) -> None:
        for attribute, default in (
            ('distribution', self.name),
            ('exchange', self.name),
            ('topic', f'{self.name}-engine'),
            ('client_topic', f'{self.name}-api'),
        ):
            if not getattr(self, attribute):
                object.__setattr__(self, attribute, default)

    @property
    def maximum(self) -> Version:
        """The newest microversion of this build."""
        return max(map(Version.parse, self.history))

    @property
    def release(self) -> str:
        """The installed release, or ``unknown`` if it is not installed."""
        try:
            return importlib.metadata.version(self.distribution)
        except importlib.metadata.PackageNotFoundError:
            return 'unknown'

    def load_types(self) -> None:
        """Import the modules that register the types."""
        for module in self.types:
            importlib.import_module(module)

    def registered_types(self) -> Iterator[type[objects.Object]]:
        """Import the types, and yield those in the packages of ``types``.

        The packages are those that contain the modules, such as ``keys`` for
        ``keys.types``.
        """
        from vobjects.objects import registration

        self.load_types()
        packages = {name.rpartition('.')[0] or name for name in self.types}
        for cls in registration.registered_types():
            if any(
                f'{cls.__module__}.'.startswith(f'{package}.')
                for package in packages
            ):
                yield cls


def installed() -> list[str]:
    """Return the names of the installed services."""
    points = importlib.metadata.entry_points(group=GROUP)
    return sorted({point.name for point in points})


def only() -> str:
    """Return the name of the only installed service.

    :raises vobjects.exceptions.VobjectsError: none or several are installed
    """
    names = installed()
    if len(names) == 1:
        return names[0]
    if not names:
        raise exceptions.VobjectsError(
            'no service is installed: no package has an entry point of the'
            f' group {GROUP}'
        )
    raise exceptions.VobjectsError(
        f'several services are installed: {", ".join(names)}; choose one with'
        ' --service NAME'
    )


def find(name: str) -> Service:
    """Return the declaration of an installed service.

    :raises vobjects.exceptions.VobjectsError: no such service is installed, or
        its entry point names a module without a declaration
    """
    for point in importlib.metadata.entry_points(group=GROUP):
        if point.name == name:
            declared = getattr(point.load(), 'SERVICE', None)
            if isinstance(declared, Service):
                return declared
            raise exceptions.VobjectsError(
                f'the entry point {name} = {point.value} of {GROUP} must name'
                ' a module whose SERVICE is a vobjects.Service'
            )
    raise exceptions.VobjectsError(
        f'no service {exceptions.cut(name)} is installed; installed services:'
        f' {", ".join(installed()) or "none"}'
    )


def of_types(modules: Collection[str]) -> list[Service]:
    """Return the installed services that load one of some modules.

    A module may have the name of a function after a colon, as in a lock.

    Services of other top-level packages are not imported.

    :raises vobjects.exceptions.VobjectsError: see :func:`find`
    """
    modules = {module.partition(':')[0] for module in modules}
    packages = {module.partition('.')[0] for module in modules}
    declared = [
        find(point.name)
        for point in importlib.metadata.entry_points(group=GROUP)
        if point.value.partition('.')[0] in packages
    ]
    return [
        service
        for service in declared
        if not modules.isdisjoint(service.types)
    ]
