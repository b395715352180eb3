# SPDX-License-Identifier: Apache-2.0
"""Diagrams by Graphviz; on a machine without it, their source as text."""

from __future__ import annotations

import os
import shutil

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext import graphviz
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

LOG = logging.getLogger(__name__)


class DiagramText(SphinxDirective):
    """The directive ``graphviz`` without the program."""

    has_content = True
    option_spec = graphviz.Graphviz.option_spec

    def run(self) -> list[nodes.Node]:
        text = '\n'.join(self.content)
        return [nodes.literal_block(text, text)]


def setup(app: Sphinx) -> dict[str, bool]:
    if shutil.which('dot') or os.environ.get('CI'):
        app.setup_extension('sphinx.ext.graphviz')
    else:
        LOG.info('diagrams are text: there is no program "dot"')
        app.add_directive('graphviz', DiagramText)
        app.add_config_value('graphviz_output_format', 'svg', 'html')
        app.add_config_value('graphviz_dot_args', [], 'html')
    return {'parallel_read_safe': True}
