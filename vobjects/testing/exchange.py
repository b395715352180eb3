# SPDX-License-Identifier: Apache-2.0
"""One side of an exchange between two releases of a service (a script).

It runs in the virtual environment of a release, with what is installed
there: it may use oslo.versionedobjects and nothing of this package, so that
the release needs nothing of ours. Requests are lines of JSON on standard
input, answers lines on standard output::

    exchange.py SAMPLES MODULE[:CALLABLE]...

``SAMPLES`` is the file of :mod:`vobjects.lock.samples`, which fills objects.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any


class Side:
    """Answers requests.

    :param samples: the module that fills objects
    :param roots: top packages whose types count
    """

    def __init__(self, samples: Any, roots: set[str]) -> None:
        from oslo_versionedobjects import base

        self._base = base
        self._samples = samples
        self._classes: dict[str, Any] = {
            name: found[0]
            for name, found in sorted(
                base.VersionedObjectRegistry.obj_classes().items()
            )
            if found and found[0].__module__.partition('.')[0] in roots
        }

    def types(self) -> dict[str, Any]:
        """Return each type's version and fields, and if it is ever read."""
        return {
            name: {
                'version': cls.VERSION,
                'fields': sorted(cls.fields),
                'read': self._can_be_read(name, set()),
            }
            for name, cls in self._classes.items()
        }

    def _can_be_read(self, name: str, seen: set[str]) -> bool:
        """Tell whether oslo.versionedobjects can make the type.

        Ironic's notifications hold objects whose class wants arguments:
        they are only ever sent.
        """
        if name in seen or name not in self._classes:
            return True
        seen.add(name)
        try:
            self._classes[name]()
        except TypeError:
            return False
        inner = {
            getattr(field._type, '_obj_name', '')
            for field in self._classes[name].fields.values()
        }
        return all(self._can_be_read(one, seen) for one in inner - {''})

    def send(
        self, name: str, version: str, manifest: dict[str, str]
    ) -> dict[str, Any]:
        """Return a filled object for a peer.

        :param version: that the peer has of the type
        :param manifest: that it has of all types
        """
        obj = self._samples.fill(self._classes[name], 'full')
        filled = {}
        for field in obj.fields:
            if obj.obj_attr_is_set(field):
                filled[field] = self._shown(obj, field)
        known = dict(self._base.obj_tree_get_versions(name))
        spoken = {
            inner: manifest.get(inner, ours) for inner, ours in known.items()
        }
        spoken[name] = version
        if hasattr(obj, 'convert_to_version'):
            # Ironic has conversions of its own, which its serializer calls
            # for the release that is pinned.
            obj.convert_to_version(version)
            primitive = obj.obj_to_primitive()
        else:
            primitive = obj.obj_to_primitive(
                target_version=version, version_manifest=spoken
            )
        return {
            'primitive': json.loads(json.dumps(primitive, default=str)),
            'filled': filled,
        }

    def receive(self, primitive: dict[str, Any]) -> dict[str, Any]:
        """Return what an object has that a peer has sent."""
        # By its own class: services have namespaces of their own.
        name = next(
            value for key, value in primitive.items() if key.endswith('.name')
        )
        obj = self._classes[name].obj_from_primitive(primitive)
        return {
            'has': {
                field: self._shown(obj, field)
                for field in obj.fields
                if obj.obj_attr_is_set(field)
            }
        }

    def _shown(self, obj: Any, field: str) -> Any:
        value = getattr(obj, field)
        return repr(obj.fields[field].to_primitive(obj, field, value))


def answers(side: Side, lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield an answer for each request; an error is one, too."""
    for line in lines:
        asked = json.loads(line)
        method = asked.pop('do')
        try:
            yield {'answer': getattr(side, method)(**asked)}
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            yield {'error': f'{type(error).__name__}: {error}'}


def main(argv: list[str]) -> int:
    """Serve until standard input ends."""
    warnings.simplefilter('ignore')
    spec = importlib.util.spec_from_file_location('samples', argv[0])
    assert spec is not None
    assert spec.loader is not None
    samples = importlib.util.module_from_spec(spec)
    sys.modules['samples'] = samples
    told = sys.stdout
    # What a service prints at import must not be taken for an answer.
    with contextlib.redirect_stdout(sys.stderr):
        spec.loader.exec_module(samples)
        for name in argv[1:]:
            module, _, attribute = name.partition(':')
            found = importlib.import_module(module)
            if attribute:
                getattr(found, attribute)()
        side = Side(samples, {name.partition('.')[0] for name in argv[1:]})
        for answer in answers(side, iter(sys.stdin.readline, '')):
            told.write(json.dumps(answer) + '\n')
            told.flush()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
