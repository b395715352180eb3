# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration, and four directives.

``.. microversions::`` lists what each microversion of the clustering API
brought, from the code that serves it; ``.. lock-rules::`` the rules of the
schema lock; ``.. api-reference::`` is the table of ``api_reference.yaml``;
``.. profile-type::`` is the schema of a type of profiles.
"""

from __future__ import annotations

import importlib.metadata
import json
import pathlib
import sys
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from api import contract
from engine import spec_schema
from engine.profiles import base
from vobjects.contract import history_check
from vobjects.lock import rules

project = 'vobjects'
project_copyright = 'The vobjects authors'
release = version = importlib.metadata.version('vobjects')

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'extensions'))

extensions = [
    'diagrams',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'sphinx.ext.autodoc',
    'state_of_objects',
    'sphinx_copybutton',
]
html_theme = 'furo'
html_title = 'vobjects'
copybutton_prompt_text = r'\$ |>>> |\.\.\. '
copybutton_prompt_is_regexp = True
html_copy_source = False
nitpicky = True
# Types of other packages in signatures: their documentation is elsewhere.
nitpick_ignore_regex = [
    ('py:(class|exc|data)', r'(?!vobjects\.).*'),
    # Type variables.
    ('py:class', r'vobjects\..*\.(Method|ObjectType|FieldT|T)'),
]
autodoc_member_order = 'bysource'


class Microversions(SphinxDirective):
    """Insert the history of the API and the changes of each microversion."""

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        page = history_check.page(contract.contract())
        return self.parse_text_to_nodes(page)


class LockRules(SphinxDirective):
    """The rules of the schema lock, grouped by scope."""

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


class ApiReference(SphinxDirective):
    """Every operation of Senlin's API reference, once each."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        path = pathlib.Path(__file__).with_name('api_reference.yaml')
        self.env.note_dependency(str(path))
        lines = ['.. list-table::', '   :header-rows: 1', '']
        seen: set[str] = set()
        rows = [
            ('Operation', 'Call', 'Since', 'Answer', 'Errors', 'What differs')
        ]
        for one in yaml.safe_load(path.read_text())['operations']:
            if one['operation'] in seen or 'refused' in one:
                continue
            seen.add(one['operation'])
            call = f'``{one["call"]}``' + (
                f' ``{one["does"]}``' if 'does' in one else ''
            )
            since, differs = one.get('since', '1.0'), one.get('differs', '')
            status = str(one['status'])
            fails = ', '.join(map(str, one['fails']))
            rows.append(
                (one['operation'], call, since, status, fails, differs)
            )
        for row in rows:
            lines += [
                f'   {"*" if not cell else " "} - {text}'
                for cell, text in enumerate(row)
            ]
        return self.parse_text_to_nodes('\n'.join(lines))


class ProfileType(SphinxDirective):
    """The properties and the operations of a profile type."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return two lists."""
        kind = base.Registry.load().get(self.arguments[0])
        lines = [
            'Properties; what is *updatable* can be changed in place:',
            '',
        ]
        lines += self._listed(kind.properties, '')
        lines += ['Operations:', '']
        for name, operation in kind.operations.items():
            lines += [f'``{name}``', f'    {operation.description}', '']
            lines += self._listed(operation.parameters, '', '    ')
        return self.parse_text_to_nodes('\n'.join(lines))

    def _listed(
        self, properties: spec_schema.Schema, path: str, indent: str = ''
    ) -> list[str]:
        lines = []
        for name, prop in properties.items():
            words = [prop.type]
            words += ['required'] if prop.required else []
            words += ['updatable'] if prop.updatable else []
            if prop.default not in (None, '', {}):
                words.append(f'by default ``{json.dumps(prop.default)}``')
            lines += [
                f'{indent}``{path}{name}`` (*{words[0]}*'
                + ''.join(f', {word}' for word in words[1:])
                + ')',
                f'{indent}    {prop.description}',
                '',
            ]
            keys = prop.keys or (prop.items and prop.items.keys) or {}
            step = '[].' if prop.items else '.'
            lines += self._listed(keys, f'{path}{name}{step}', indent)
        return lines


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive('microversions', Microversions)
    app.add_directive('lock-rules', LockRules)
    app.add_directive('api-reference', ApiReference)
    app.add_directive('profile-type', ProfileType)
    return {'parallel_read_safe': True}
