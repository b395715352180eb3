# SPDX-License-Identifier: Apache-2.0
"""Make numbers, such as 406, words of the search of the documentation.

Sphinx indexes no words of digits, and its page skips them in queries. With the
prefix ``n``, both treat them as other words.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

PREFIX = 'n'


class NumberSearch(SearchEnglish):
    """English words, and numbers."""

    js_splitter_code = f"""
var splitQuery = (query) =>
  query
    .split(/[^\\p{{Letter}}\\p{{Number}}_]+/gu)
    .filter((term) => term)
    .map((term) => (/^\\d+$/.test(term) ? `{PREFIX}${{term}}` : term));
"""

    def split(self, input: str) -> list[str]:  # noqa: A002 - of the base class
        """Return the words of a text."""
        return [
            f'{PREFIX}{word}' if word.isdecimal() else word
            for word in super().split(input)
        ]


def setup(app: Sphinx) -> dict[str, Any]:
    """Replace the search for English."""
    app.add_search_language(NumberSearch)
    return {'parallel_read_safe': True}
