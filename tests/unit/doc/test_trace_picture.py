# SPDX-License-Identifier: Apache-2.0
"""The picture of a trace, and the recorded trace in the documentation."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

from tests.unit.doc import extensions

trace_picture = extensions.load('trace_picture')

RECORDED = json.loads((extensions.DOC / 'source/trace.json').read_text())

SVG = '{http://www.w3.org/2000/svg}'


def span(name: str, process: str, start: int, end: int, **more: Any) -> Any:
    return {
        'name': name,
        'process': process,
        'start': start,
        'end': end,
        'attributes': more,
    }


def drawn(spans: list[Any]) -> ElementTree.Element:
    return ElementTree.fromstring('\n'.join(trace_picture.picture(spans)))


def test_picture_has_a_bar_to_scale_for_each_span() -> None:
    svg = drawn(
        [
            span('GET /<b>', 'API', 0, 8000),
            span('call A', 'API', 2000, 8000),
            span('handle A', 'engine', 6000, 8000),
        ]
    )
    bars = svg.findall(f'{SVG}rect')
    whole, *others = [float(bar.attrib['width']) for bar in bars]
    assert [round(width / whole, 2) for width in others] == [0.75, 0.25]
    ends = [float(b.attrib['x']) + float(b.attrib['width']) for b in bars]
    assert max(ends) - min(ends) < 1
    labels = svg.findall(f'{SVG}text')
    assert [label.text for label in labels] == [
        'API: GET /<b>, 8.0 ms',
        'API: call A, 6.0 ms',
        'engine: handle A, 2.0 ms',
    ]
    # Text that begins at a late bar would leave the picture.
    assert [label.attrib['text-anchor'] for label in labels] == [
        'start',
        'start',
        'end',
    ]


def test_table_lists_what_the_picture_shows_and_the_attributes() -> None:
    lines = trace_picture.table(
        [
            span('GET /', 'API', 0, 8000),
            span('call A', 'API', 500, 8000, sent='1.0', lost=['b', 'c']),
            span('handle A', 'engine', 6000, 7900, lost=[]),
        ]
    )
    _, *rows = '\n'.join(lines).split('   * - ')[1:]
    assert [re.split(r'\s+(?:- ?\|?|\|) ?', row.strip()) for row in rows] == [
        ['API', '``GET /``', '0.0 to 8.0', ''],
        ['API', '``call A``', '0.5 to 8.0', '``lost``: b, c', '``sent``: 1.0'],
        ['engine', '``handle A``', '6.0 to 7.9', '``lost``: none'],
    ]


def test_recorded_trace_leads_from_the_api_to_an_engine() -> None:
    request, call, handler = RECORDED
    assert [each['process'] for each in RECORDED] == ['API', 'API', 'engine']
    assert call['name'] == 'call ClusterListRequest'
    assert handler['name'] == 'handle ClusterListRequest'
    assert request['start'] <= call['start'] <= handler['start']
    assert handler['end'] <= call['end'] <= request['end']
    names = {name for each in RECORDED for name in each['attributes']}
    page = (extensions.DOC / 'source/tracing.rst').read_text()
    assert 'trace-picture:: trace.json' in page
    assert {name for name in names if f'``{name}``' in page} >= {
        'vobjects.version.sent',
        'vobjects.downgraded_fields',
    }
