# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration, and two directives.

``.. microversions::`` lists what each microversion of the clustering API
brought, from the code that serves it; ``.. lock-rules::`` the rules of the
schema lock.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from vobjects import base, versions
from vobjects.clustering import history, types
from vobjects.lock import rules

project = 'vobjects'
project_copyright = 'The vobjects authors'
release = version = importlib.metadata.version('vobjects')

extensions = ['sphinx.ext.autodoc']
html_theme = 'alabaster'
html_theme_options = {
    'description': 'API microversions and versioned RPC objects'
    ' from one declaration',
    'fixed_sidebar': True,
}
html_copy_source = False
nitpicky = False

assert types  # importing it registers the types that are walked below


class Microversions(SphinxDirective):
    """Every microversion: its note, and the types that changed with it."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        lines = []
        for number, notes in history.HISTORY.items():
            lines += [f'**{number}**', '']
            said = notes or ('No change of the requests served here.',)
            lines += [f'    {" ".join(said)}', '']
            if changed := _changed(versions.Version.parse(number)):
                lines += [f'    Types: {changed}.', '']
        return self.parse_text_to_nodes('\n'.join(lines))


class LockRules(SphinxDirective):
    """Every rule of the schema lock, by what it is about."""

    TITLES = {
        'edit': 'One released version:',
        'step': 'A newer version, compared with the newest released one:',
        'type': 'A type as a whole:',
        'lock': 'The lock itself:',
    }

    def run(self) -> list[nodes.Node]:
        """Return the lists."""
        lines = []
        for scope, title in self.TITLES.items():
            lines += [title, '']
            for rule in rules.RULES:
                if rule.scope == scope:
                    lines += [f'``{rule.id}``', f'    {rule.purpose}', '']
        return self.parse_text_to_nodes('\n'.join(lines))


def _changed(microversion: versions.Version) -> str:
    return ', '.join(
        f'``{cls.obj_name()}`` {mapped}'
        for cls in base.registered_types()
        if (mapped := cls.VERSION_MAP.get(str(microversion)))
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive('microversions', Microversions)
    app.add_directive('lock-rules', LockRules)
    return {'parallel_read_safe': True}
