# SPDX-License-Identifier: Apache-2.0
"""Formats of reports, for people and machines.

Each format is a function ``(result, locate) -> str``.

::

    machine_reports  report findings as JSON, and as GitHub annotations
    text_report      report findings as text, in the style of rustc
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vobjects.lock.check import Result
from vobjects.lock.report import machine_reports, text_report
from vobjects.lock.report.text_report import Locate

FORMATS: Mapping[str, Callable[[Result, Locate], str]] = {
    'text': text_report.text,
    'json': machine_reports.as_json,
    'github': machine_reports.github,
}
