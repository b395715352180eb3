# SPDX-License-Identifier: Apache-2.0
"""What the comparison of two releases reports."""

from __future__ import annotations

import dataclasses
from typing import Literal

#: A note does not make the comparison fail.
Severity = Literal['error', 'note']


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table of rules.

    :ivar purpose: one sentence for the documentation
    """

    id: str
    purpose: str


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A message or row that one of the two releases reads wrongly.

    :ivar subject: type, method or module
    :ivar field: field or argument; empty: all
    :ivar description: what happens, as a sentence
    :ivar location: file and line in the newer release
    :ivar severity: a note is a difference that may harm no process
    """

    rule: Rule
    subject: str
    field: str
    description: str
    location: str
    severity: Severity = 'error'
