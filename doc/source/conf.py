# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration and directives of the documentation.

- ``microversions``: the history of the clustering API, read from its code
- ``lock-rules``: the rules of the schema lock
- ``public-names``: the public names of the library
- ``api-reference``: the table of ``api_reference.yaml``
- ``profile-type``: properties and operations of a profile type
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import pathlib
import re
import sys
from typing import Any

import yaml
from docutils import nodes
from oslo_versionedobjects import fields as ovo_fields
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from api import contract
from engine import spec_schema
from engine.profiles import base
from vobjects.lock import rules
from vobjects_contract import history_check

project = 'vobjects'
project_copyright = 'The vobjects authors'
release = version = importlib.metadata.version('vobjects')

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'extensions'))

import module_maps  # noqa: E402 - found by the path above

extensions = [
    'command_line',
    'error_pages',
    'diagrams',
    'module_maps',
    'number_search',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'release_notes',
    'rest_reference',
    'sphinx.ext.autodoc',
    'state_of_objects',
    'sphinx_copybutton',
    'trace_picture',
]
html_theme = 'furo'
html_title = f'vobjects {release}'
html_static_path = ['_static']
html_logo = html_favicon = '_static/logo.svg'
html_search_scorer = str(
    pathlib.Path(__file__).with_name('_static') / 'search_scorer.js'
)
html_css_files = ['site.css']
html_js_files = [('site.js', {'defer': 'defer'})]
graphviz_output_format = 'svg'
graphviz_dot_args = [
    '-Gbgcolor=transparent',
    '-Gfontname=sans-serif',
    '-Nfontname=sans-serif',
    '-Nfontsize=12',
    '-Nshape=box',
    '-Nstyle=rounded',
]
copybutton_prompt_text = r'\$ |>>> |\.\.\. '
copybutton_prompt_is_regexp = True
html_copy_source = False
nitpicky = True
# Types of other packages in signatures: their documentation is elsewhere.
nitpick_ignore_regex = [
    ('py:(class|exc|data)', r'(?!vobjects(_sql|_testing)?\.).*'),
    # Type variables.
    (
        'py:class',
        r'vobjects(_sql)?\..*\.'
        '(Item|Method|ObjectType|FieldT|Http|Params|Resource|Result|T|Value)',
    ),
]
autodoc_member_order = 'bysource'
autodoc_preserve_defaults = True
# The heading of each section names the module.
add_module_names = False
python_maximum_signature_line_length = 72


class Microversions(SphinxDirective):
    """Insert the history of the API and the changes of each microversion."""

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the history."""
        page = history_check.page(contract.contract())
        return self.parse_text_to_nodes(page)


class PublicNames(SphinxDirective):
    """Insert the public names of packages, from their ``__all__``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return a definition list for each package or module."""
        documented = module_maps.documented_modules()
        lines = []
        for package in self.content:
            module = importlib.import_module(package)
            title = (module.__doc__ or '').partition('\n')[0].rstrip('.')
            lines += [f'.. rubric:: {package}', '', f'{title}.', '']
            for name in module.__all__:
                # The names of oslo.versionedobjects are documented there.
                if package == 'vobjects.fields' and hasattr(ovo_fields, name):
                    continue
                value = getattr(module, name)
                source = getattr(value, '__module__', package)
                summary = ''
                if callable(value):
                    summary = (inspect.getdoc(value) or '').partition('\n')[0]
                    summary = re.sub(r':\w+:(`[^`]+`)', r'`\1`', summary)
                original = getattr(value, '__name__', name)
                target = f'{source}.{original}'
                is_linked = callable(value) and source in documented
                lines += [
                    f':obj:`{name} <{target}>`'
                    if is_linked
                    else f'``{name}``',
                    f'    {summary or "A constant or a module."}',
                    '',
                ]
        return self.parse_text_to_nodes('\n'.join(lines))


class LockRules(SphinxDirective):
    """Insert the rules of the schema lock, grouped by scope."""

    TITLES = {
        'edit': 'One released version:',
        'step': 'A newer version, compared with the newest released one:',
        'type': 'A type as a whole:',
        'lock': 'The lock itself:',
    }

    def run(self) -> list[nodes.Node]:
        """Return a definition list for each scope."""
        lines = []
        for scope, title in self.TITLES.items():
            lines += [title, '']
            for rule in rules.RULES:
                if rule.scope == scope:
                    lines += [f'``{rule.id}``', f'    {rule.purpose}', '']
        return self.parse_text_to_nodes('\n'.join(lines))


class ApiReference(SphinxDirective):
    """Insert a table of the operations of Senlin's API reference."""

    def run(self) -> list[nodes.Node]:
        """Return the table; each operation has one row."""
        path = pathlib.Path(__file__).with_name('api_reference.yaml')
        self.env.note_dependency(str(path))
        lines = [
            '.. list-table::',
            '   :header-rows: 1',
            '   :widths: 20 24 7 8 13 28',
            '',
        ]
        names: set[str] = set()
        rows = [
            ('Operation', 'Call', 'Since', 'Status', 'Errors', 'Differences')
        ]
        for entry in yaml.safe_load(path.read_text())['operations']:
            name = entry['operation']
            if name in names or 'refused' in entry:
                continue
            names.add(name)
            action = f' ``{entry["does"]}``' if 'does' in entry else ''
            rows.append(
                (
                    name,
                    f'``{entry["call"]}``{action}',
                    entry.get('since', '1.0'),
                    str(entry['status']),
                    ', '.join(map(str, entry['fails'])),
                    entry.get('differs', ''),
                )
            )
        for row in rows:
            lines += [
                f'   {"*" if not cell else " "} - {text}'
                for cell, text in enumerate(row)
            ]
        return self.parse_text_to_nodes('\n'.join(lines))


class ProfileType(SphinxDirective):
    """Insert the properties and operations of a profile type."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a list of properties and a list of operations."""
        profile_type = base.Registry.load().get(self.arguments[0])
        lines = [
            'Properties (you can change *updatable* ones in place):',
            '',
        ]
        lines += self._property_lines(profile_type.properties, '')
        lines += ['Operations:', '']
        for name, operation in profile_type.operations.items():
            lines += [f'``{name}``', f'    {operation.description}', '']
            lines += self._property_lines(operation.parameters, '', '    ')
        return self.parse_text_to_nodes('\n'.join(lines))

    def _property_lines(
        self, properties: spec_schema.Schema, path: str, indent: str = ''
    ) -> list[str]:
        lines = []
        for name, prop in properties.items():
            traits = [f'*{prop.type}*']
            traits += ['required'] if prop.required else []
            traits += ['updatable'] if prop.updatable else []
            if prop.default not in (None, '', {}):
                traits.append(f'by default ``{json.dumps(prop.default)}``')
            lines += [
                f'{indent}``{path}{name}`` ({", ".join(traits)})',
                f'{indent}    {prop.description}',
                '',
            ]
            keys = prop.keys or (prop.items and prop.items.keys) or {}
            step = '[].' if prop.items else '.'
            lines += self._property_lines(keys, f'{path}{name}{step}', indent)
        return lines


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive('microversions', Microversions)
    app.add_directive('lock-rules', LockRules)
    app.add_directive('public-names', PublicNames)
    app.add_directive('api-reference', ApiReference)
    app.add_directive('profile-type', ProfileType)
    return {'parallel_read_safe': True}
