# SPDX-License-Identifier: Apache-2.0
"""One side of a transfer between two releases of a service (a script).

The script runs in the virtual environment of a release. It uses
oslo.versionedobjects and nothing of this package, which need not be
installed there. Requests are lines of JSON on standard input, responses are
lines on standard output::

    transfer.py REGISTRIES SAMPLES SERVICE_QUIRKS IMPORT...

The first three arguments are the files of :mod:`vobjects.lock.registries`,
which finds the classes, of :mod:`vobjects.lock.samples`, which fills objects,
and of :mod:`vobjects.lock.service_quirks`, which converts them to primitives
as the services do.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any


class TransferEndpoint:
    """The methods that requests call.

    :param registries: the module that finds the classes
    :param samples: the module that fills objects
    :param service_quirks: the module that converts objects to primitives as
        the services do
    :param packages: top-level packages whose types are transferred
    """

    def __init__(
        self,
        registries: Any,
        samples: Any,
        service_quirks: Any,
        packages: set[str],
    ) -> None:
        self._registries = registries
        self._samples = samples
        self._service_quirks = service_quirks
        self._all_classes = {
            name: versions[0]
            for name, versions in registries.registered().items()
            if versions
        }
        self._classes = {
            name: cls
            for name, cls in sorted(self._all_classes.items())
            if registries.top_level_package(cls.__module__) in packages
        }

    def is_refusal(self, error: Exception) -> bool:
        """Return whether a service raised an error on purpose."""
        return bool(self._samples.is_refusal(error))

    def types(self) -> dict[str, Any]:
        """Return each type's version and fields, and if it can be read.

        ``fields`` maps the name of a field to the values of its enum, if it
        is one. ``names`` maps it to all names that it has had. ``optional``
        are the fields that a sender may leave out: they are nullable or have
        a default.
        """
        return {
            name: {
                'version': cls.VERSION,
                'fields': {
                    field: self._samples.enum_values(cls.fields[field]._type)
                    for field in sorted(cls.fields)
                },
                'names': {
                    field: sorted(cls.names_of(field))
                    if hasattr(cls, 'names_of')
                    else [field]
                    for field in cls.fields
                },
                'optional': sorted(
                    field
                    for field in cls.fields
                    if self._samples.is_optional(cls.fields[field])
                ),
                'readable': self._registries.is_readable(
                    cls, self._classes.get
                ),
            }
            for name, cls in self._classes.items()
        }

    def variants(self, name: str, peer: dict[str, Any]) -> int:
        """Return the number of variants of a filled object.

        :param name: name of the type
        :param peer: the fields of the peer's types
        """
        readers = self._samples.variants(peer)
        return sum(1 for reader in readers if self._filled(name, reader))

    def _filled(self, name: str, reader: Any) -> Any:
        return self._samples.fill(
            self._classes[name], 'full', self._all_classes.get, peer=reader
        )

    def send(
        self,
        name: str,
        version: str,
        manifest: dict[str, str] | None,
        peer: dict[str, Any],
        known_only: bool,
        variant: int,
    ) -> dict[str, Any]:
        """Return a filled object as a primitive for a peer.

        :param name: name of the type
        :param version: the peer's version of the type
        :param manifest: the peer's versions of all types; None: do not
            convert the object
        :param peer: the fields of the peer's types
        :param known_only: send only data that the peer knows
        :param variant: less than the number of :meth:`variants`
        """
        reader = self._samples.Peer(peer, known_only, variant)
        obj = self._filled(name, reader)
        filled = {}
        for field in obj.fields:
            if obj.obj_attr_is_set(field):
                filled[field] = self._field_repr(obj, field)
        primitive = (
            obj.obj_to_primitive()
            if manifest is None
            else self._primitive(obj, version, manifest)
        )
        return {
            'primitive': json.loads(json.dumps(primitive, default=str)),
            'filled': filled,
        }

    def _primitive(
        self, obj: Any, version: str, manifest: dict[str, str]
    ) -> Any:
        """Return the primitive that the service itself would send."""
        name = obj.obj_name()
        own = {
            inner: self._all_classes[inner].VERSION
            for inner in self._type_tree(name, set())
        }
        peer = {inner: manifest.get(inner, own[inner]) for inner in own}
        peer[name] = version
        # A service does not convert between equal versions.
        return self._service_quirks.to_primitive(
            obj, version, None if peer == own else peer
        )

    def _type_tree(self, name: str, seen: set[str]) -> set[str]:
        """Return the names of a type and of the types nested in it.

        Like ``obj_tree_get_versions``, which only knows the shared registry.
        """
        if name in self._all_classes and name not in seen:
            seen.add(name)
            for inner in self._registries.nested_types(
                self._all_classes[name]
            ):
                self._type_tree(inner, seen)
        return seen

    def receive(self, primitive: dict[str, Any]) -> dict[str, Any]:
        """Read a primitive from a peer, and return the fields that are set."""
        # Read it with its class: services use their own namespaces.
        name = next(
            value for key, value in primitive.items() if key.endswith('.name')
        )
        obj = self._classes[name].obj_from_primitive(primitive, None)
        return {
            'fields': {
                field: self._field_repr(obj, field)
                for field in obj.fields
                if obj.obj_attr_is_set(field)
            }
        }

    def _field_repr(self, obj: Any, field: str) -> Any:
        value = getattr(obj, field)
        return repr(obj.fields[field].to_primitive(obj, field, value))


def handle_requests(
    endpoint: TransferEndpoint, lines: Iterator[str]
) -> Iterator[dict[str, Any]]:
    """Yield a response to each request; errors are responses, too."""
    for line in lines:
        arguments = json.loads(line)
        method = arguments.pop('method')
        try:
            yield {'result': getattr(endpoint, method)(**arguments)}
        except Exception as error:  # noqa: BLE001 - any error is a result
            yield {
                'type_name': type(error).__name__,
                'error': str(error),
                'refusal': endpoint.is_refusal(error),
            }


def _load(name: str, path: str) -> Any:
    """Import a module from a file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def main(argv: list[str]) -> int:
    """Handle requests until the end of standard input.

    :param argv: the arguments, see the module docstring
    """
    warnings.simplefilter('ignore')
    stdout = sys.stdout
    # Standard output is for responses; a service may print during import.
    with contextlib.redirect_stdout(sys.stderr):
        registries = _load('registries', argv[0])
        samples = _load('samples', argv[1])
        service_quirks = _load('service_quirks', argv[2])
        imports = argv[3:]
        for name in imports:
            registries.load(name)
        packages = set(map(registries.top_level_package, imports))
        endpoint = TransferEndpoint(
            registries, samples, service_quirks, packages
        )
        for response in handle_requests(
            endpoint, iter(sys.stdin.readline, '')
        ):
            stdout.write(json.dumps(response) + '\n')
            stdout.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
