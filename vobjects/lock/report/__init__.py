# SPDX-License-Identifier: Apache-2.0
"""Formats of reports, for people and machines.

Each format is a function ``(result, placed) -> str``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vobjects.lock.check import Finding, Result
from vobjects.lock.report import machine_reports, text_report
from vobjects.lock.source_location import SourceLocation

#: Returns the location of a finding in the source; None: unknown.
Placed = Callable[[Finding], SourceLocation | None]

FORMATS: Mapping[str, Callable[[Result, Placed], str]] = {
    'text': text_report.text,
    'json': machine_reports.as_json,
    'sarif': machine_reports.sarif,
    'github': machine_reports.github,
    'junit': machine_reports.junit,
}
