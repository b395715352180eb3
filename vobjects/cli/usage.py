# SPDX-License-Identifier: Apache-2.0
"""`vobjects api who-uses`: who still asks at a version.

The answer is read from ``/metrics`` of each API; what they count is told in
:mod:`vobjects.microversions.usage`.
"""

from __future__ import annotations

import argparse
import collections
import configparser
import datetime
import http.client
import json
import os
import pathlib
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from vobjects import exceptions
from vobjects.cli import state
from vobjects.versions import Version

_PATH = '/metrics'
_TIMEOUT = 30.0  # seconds

#: Bytes of an answer that are read: a hundred times what a busy API has.
_MAX_BYTES = 1 << 26

#: A token for an API that shows its metrics to admins only; as elsewhere in
#: OpenStack.
_TOKEN = 'OS_TOKEN'  # noqa: S105 - the name of a variable

_SAMPLE = 'vobjects_api_uses_total'
_SINCE = 'vobjects_api_counting_since_seconds'

_COLUMNS = ('AGENT', 'VERSION', 'METHOD', 'ROUTE', 'REQUESTS')

#: Agent, version, method and route of requests.
Use = tuple[str, Version, str, str]


def add(commands: Any) -> None:
    """Add the command to argparse's.

    :param commands: what ``ArgumentParser.add_subparsers`` returned
    """
    command = commands.add_parser(
        'who-uses',
        help='list the clients that ask at a microversion',
        description='List the clients that have asked at a microversion, the'
        ' routes they asked for, and how often, as far back as the APIs have'
        f' counted. A token for {_PATH} is taken from ${_TOKEN}.',
    )
    command.set_defaults(run=run)
    command.add_argument(
        'versions', metavar='VERSION', help='such as 1.2, or 1.0-1.4'
    )
    place = command.add_mutually_exclusive_group()
    place.add_argument(
        '--url',
        action='append',
        metavar='URL',
        help='root of an API; may be repeated, for all that serve',
    )
    place.add_argument(
        '--state-dir',
        type=pathlib.Path,
        metavar='DIR',
        help='of a running `vobjects up` (default: its own default)',
    )
    command.add_argument('--json', action='store_true', help='for programs')


def run(options: argparse.Namespace) -> int:
    """Run the command.

    :returns: 0, also when nobody uses the version
    :raises vobjects.exceptions.OutOfReach: an API does not answer
    :raises vobjects.exceptions.VobjectsError: what the caller can mend
    """
    first, last = _range(options.versions)
    urls = options.url or [_url_of(options.state_dir or state.default())]
    counts: collections.Counter[Use] = collections.Counter()
    since: list[float] = []
    for url in urls:
        found, began = _counted(url)
        since.append(began)
        for use, number in found:
            if first <= use[1] <= last:
                counts[use] += number
    print_ = _print_json if options.json else _print_table
    # Who has counted for the shortest time limits what all of them know.
    print_(options.versions, counts, max(since))
    return 0


def _print_table(
    versions: str, counts: collections.Counter[Use], since: float
) -> None:
    began = datetime.datetime.fromtimestamp(since, datetime.UTC)
    moment = began.strftime('%Y-%m-%d %H:%M:%S UTC')
    if not counts:
        print(f'Nobody has asked at {versions} since {moment}.')
        return
    print(f'{counts.total()} requests at {versions} since {moment}:')
    print()
    rows = [
        (agent, str(version), method, route, str(number))
        for (agent, version, method, route), number in _ordered(counts)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = list(map(max, widths, map(len, _COLUMNS)))
    for row in (_COLUMNS, *rows):
        *texts, number = map(str.ljust, row, widths)
        print('  '.join([*texts, number.strip().rjust(widths[-1])]))


def _print_json(
    versions: str, counts: collections.Counter[Use], since: float
) -> None:
    uses = [
        {
            'agent': agent,
            'version': str(version),
            'method': method,
            'route': route,
            'requests': number,
        }
        for (agent, version, method, route), number in _ordered(counts)
    ]
    print(
        json.dumps(
            {'versions': versions, 'since': since, 'uses': uses}, indent=2
        )
    )


def _ordered(
    counts: collections.Counter[Use],
) -> Sequence[tuple[Use, int]]:
    """Return the uses, the agent that asks most first."""
    totals: collections.Counter[str] = collections.Counter()
    for (agent, *_rest), number in counts.items():
        totals[agent] += number
    return sorted(
        counts.items(),
        key=lambda item: (-totals[item[0][0]], item[0][0], -item[1], item[0]),
    )


def _range(text: str) -> tuple[Version, Version]:
    first, hyphen, last = text.partition('-')
    begins = Version.parse(first)
    ends = Version.parse(last) if hyphen else begins
    if ends < begins:
        raise exceptions.VobjectsError(
            f'{text} is no range: {ends} is before {begins}'
        )
    return begins, ends


def _url_of(directory: pathlib.Path) -> str:
    """Return where the API of a `vobjects up` is.

    :raises vobjects.cli.state.StateError: none ever ran there
    """
    file = directory / 'vobjects.conf'
    parser = configparser.RawConfigParser()
    if not parser.read(file):
        raise state.StateError(
            f'{file} is not there: no `vobjects up` has run in {directory};'
            ' name its --state-dir, or the --url of an API'
        )
    host, port = parser['api']['host'], parser['api']['port']
    return (
        f'http://[{host}]:{port}' if ':' in host else f'http://{host}:{port}'
    )


def _counted(url: str) -> tuple[list[tuple[Use, int]], float]:
    """Return what an API has counted, and since when (Unix time)."""
    # Here, as only this command needs it.
    from prometheus_client import parser

    found: list[tuple[Use, int]] = []
    since: float | None = None
    try:
        for family in parser.text_string_to_metric_families(_read(url)):
            for sample in family.samples:
                if sample.name == _SINCE:
                    since = sample.value
                elif sample.name == _SAMPLE:
                    found.append((_use(sample.labels), int(sample.value)))
    except (IndexError, KeyError, ValueError) as error:
        raise exceptions.VobjectsError(
            f'{url}: what {_PATH} shows cannot be read: {error}'
        ) from None
    if since is None:
        raise exceptions.VobjectsError(
            f'{url}: {_PATH} shows the metrics of another service'
        )
    return found, since


def _use(labels: Mapping[str, str]) -> Use:
    return (
        labels['agent'],
        Version.parse(labels['version']),
        labels['method'],
        labels['route'],
    )


def _read(url: str) -> str:
    if urllib.parse.urlsplit(url).scheme not in ('http', 'https'):
        raise exceptions.VobjectsError(
            f'{exceptions.cut(url)} is no http(s) URL'
        )
    headers = {'User-Agent': 'vobjects-who-uses'}
    if token := os.environ.get(_TOKEN):
        headers['X-Auth-Token'] = token
    address = url.rstrip('/').removesuffix(_PATH) + _PATH
    request = urllib.request.Request(address, headers=headers)  # noqa: S310
    # No proxy: it would be one that passes the request on, see api.metrics.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=_TIMEOUT) as response:
            content: bytes = response.read(_MAX_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            raise exceptions.VobjectsError(
                f'{address}: {error.code} {error.reason}; see [api] metrics'
                ' in the configuration of the API'
            ) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise exceptions.OutOfReach(f'{address}: {error}') from None
    if len(content) > _MAX_BYTES:
        raise exceptions.VobjectsError(
            f'{address}: more than {_MAX_BYTES} bytes'
        )
    return content.decode(errors='replace')
