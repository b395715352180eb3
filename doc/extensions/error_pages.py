# SPDX-License-Identifier: Apache-2.0
"""Write a page for each error code of the API, from ``errors.yaml``.

The pages, ``errors/CODE.rst``, exist only in builds of the documentation. The
status and the title of an error come from the code of the API.
"""

from __future__ import annotations

import collections
import itertools
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import yaml
from sphinx.application import Sphinx

from api import errors as api_errors
from vobjects.clustering import errors as clustering_errors
from vobjects.microversions import application_errors, errors

Known = Mapping[str, tuple[list[int], str]]
Error = TypeVar('Error', bound=Exception)

#: The import defines the errors of the API itself.
API_ERRORS = api_errors


def known() -> Known:
    """Return code -> (HTTP statuses, title) of all errors of the API."""
    statuses: dict[str, set[int]] = collections.defaultdict(set)
    titles: dict[str, str] = {}
    of_engines = (
        application_errors.ReportedError(cls(''))
        for cls in _subclasses(clustering_errors.ClusteringError)
        if cls.status
    )
    for kind in itertools.chain(_subclasses(errors.ApiError), of_engines):
        # A base class has the code of ApiError, but another status.
        if isinstance(kind, type) and 'code' not in vars(kind):
            continue
        statuses[kind.code].add(kind.status)
        titles.setdefault(kind.code, kind.title)
    return {
        code: (sorted(statuses[code]), titles[code])
        for code in sorted(statuses)
    }


def _subclasses(cls: type[Error]) -> Iterator[type[Error]]:
    yield cls
    for subclass in cls.__subclasses__():
        # Not those of an application, or of a test.
        if subclass.__module__.startswith(('vobjects.', 'api.')):
            yield from _subclasses(subclass)


def page(code: str, entry: Mapping[str, str], found: Known) -> str:
    """Return the page about a code as reStructuredText."""
    statuses, title = found[code]
    heading = f'{" or ".join(map(str, statuses))} {code}'
    return '\n'.join(
        [
            heading,
            '=' * len(heading),
            '',
            f'**{title}.**',
            '',
            'Cause',
            f'    {entry["cause"]}',
            '',
            'Remedy',
            f'    {entry["remedy"]}',
            '',
            f'The response has the code ``clustering.{code}`` and a request'
            ' ID, which the logs of all processes contain. See also'
            ' :doc:`/troubleshoot`.',
            '',
        ]
    )


def write(app: Sphinx) -> None:
    """Write the pages that changed, and remove those of former codes."""
    source = pathlib.Path(app.srcdir)
    entries = yaml.safe_load((source / 'errors.yaml').read_text())
    folder = source / 'errors'
    pages = {
        folder / f'{code}.rst': page(code, entry, known())
        for code, entry in entries.items()
    }
    for path, text in pages.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for path in {*folder.glob('*.rst')} - {folder / 'index.rst', *pages}:
        path.unlink()


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx reads the sources."""
    app.connect('builder-inited', write)
    return {'parallel_read_safe': True}
