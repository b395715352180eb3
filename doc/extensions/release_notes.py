# SPDX-License-Identifier: Apache-2.0
"""Sphinx directive that shows the release notes of reno.

``.. release-notes::`` renders the notes below ``releasenotes``. reno's own
directive titles the notes "0.0.0" until the repository has a tag, and fails
outside of a git repository.
"""

from __future__ import annotations

import logging
import pathlib
import re
from typing import Any

from docutils import nodes
from reno import config, formatter, loader
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

ROOT = pathlib.Path(__file__).parents[2]

#: reno's title of the notes that are older than all tags.
_NO_TAG = re.compile(r'^0\.0\.0\n=+$', re.MULTILINE)


def page(release: str) -> str:
    """Return the notes of all releases as reStructuredText.

    :param release: version of this build, for the notes without a tag
    """
    if not (ROOT / '.git').exists():
        return (
            'This documentation was built outside of a git repository, which'
            ' reno needs to assign the notes to releases.'
        )
    conf = config.Config(str(ROOT))
    with loader.Loader(conf) as notes:
        text: str = formatter.format_report(
            notes, conf, notes.versions, show_source=False
        )
    # reno has an anchor for each section of each release, which nothing uses.
    text = re.sub(r'^\.\. _.*:$', '', text, flags=re.MULTILINE)
    return _NO_TAG.sub(f'{release}\n{"=" * len(release)}', text)


class ReleaseNotes(SphinxDirective):
    """Insert the notes of all releases, newest first."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each release."""
        # The notes have no single file to depend on.
        self.env.note_reread()
        return self.parse_text_to_nodes(
            page(self.config.release), allow_section_headings=True
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive('release-notes', ReleaseNotes)
    # reno logs each note at INFO.
    logging.getLogger('reno').setLevel(logging.WARNING)
    return {'parallel_read_safe': True}
