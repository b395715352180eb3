# SPDX-License-Identifier: Apache-2.0
"""Implement `vobjects api who-uses`: list the clients of a microversion.

The counts come from ``/metrics`` of each API;
:mod:`vobjects.microversions.usage_metrics` describes them. Functions import
what the help of `vobjects api` does not need.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import os
from collections.abc import Iterator, Mapping, Sequence

from vobjects import exceptions
from vobjects.cli import output, settings
from vobjects.cli.parser import Parser
from vobjects.clustering.run import DEFAULT_PORT
from vobjects.versions import Version

_PATH = '/metrics'
_TIMEOUT = 30.0  # seconds

#: Maximum number of bytes read from a response: a hundred times the metrics of
#: a busy API.
_MAX_BYTES = 1 << 26

#: Environment variable with a token, for APIs that restrict their metrics to
#: admins; the same name as in other OpenStack clients.
_TOKEN = 'OS_TOKEN'  # noqa: S105 - the name of a variable

_SAMPLE = 'vobjects_api_uses_total'
_SINCE = 'vobjects_api_counting_since_seconds'

_COLUMNS = ('AGENT', 'VERSION', 'METHOD', 'ROUTE', 'REQUESTS')

#: Agent, version, method and route of a request.
Use = tuple[str, Version, str, str]


def _configure(parser: Parser) -> None:
    parser.describe(
        'It shows their routes and numbers of requests, since the APIs started'
        f' to count. A token for {_PATH} is read from ${_TOKEN}.',
        examples=[
            'vobjects api who-uses 1.0-1.4',
            'vobjects api who-uses 1.2 --url http://api-1:8777 -o json',
        ],
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        'versions',
        metavar='VERSION',
        help='microversion or range, such as 1.2 or 1.0-1.4',
    )
    parser.add_argument(
        '--url',
        action='append',
        metavar='URL',
        help='root URL of an API; repeat it for each API host (default: the'
        ' host and port of [api] in the configuration)',
    )
    output.add_option(parser)
    settings.add_options(parser)


#: The command, for :meth:`vobjects.cli.parser.Parser.add_commands`.
DEFINITION = ('list the clients that use a microversion', _configure)


def run(options: argparse.Namespace) -> int:
    """Run the command.

    :returns: 0, even if no client uses the version
    :raises vobjects.exceptions.Unreachable: an API does not answer
    :raises vobjects.exceptions.VobjectsError: an error that the user can fix
    """
    first, last = _range(options.versions)
    urls = options.url or [_configured_url(options)]
    counts: collections.Counter[Use] = collections.Counter()
    since: list[float] = []
    for url in urls:
        uses, began = _counted(url)
        since.append(began)
        for use, number in uses:
            if first <= use[1] <= last:
                counts[use] += number
    # All APIs have counts only since the latest of their start times.
    began_all = max(since)
    data = {
        'versions': options.versions,
        'since': began_all,
        'uses': [
            {
                'agent': agent,
                'version': str(version),
                'method': method,
                'route': route,
                'requests': number,
            }
            for (agent, version, method, route), number in _ordered(counts)
        ],
    }
    output.show(options, data, _lines(options.versions, counts, began_all))
    return 0


def _lines(
    versions: str, counts: collections.Counter[Use], since: float
) -> Iterator[str]:
    began = datetime.datetime.fromtimestamp(since, datetime.UTC)
    moment = began.strftime('%Y-%m-%d %H:%M:%S UTC')
    if not counts:
        yield f'No client has used {versions} since {moment}.'
        return
    yield f'{counts.total()} requests at {versions} since {moment}:'
    yield ''
    rows = [(*use, number) for use, number in _ordered(counts)]
    yield from output.table(_COLUMNS, rows, right=['REQUESTS'])


def _ordered(
    counts: collections.Counter[Use],
) -> Sequence[tuple[Use, int]]:
    """Return the uses, sorted by the number of requests of their agent."""
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


def _configured_url(options: argparse.Namespace) -> str:
    """Return the URL of the API that the configuration describes.

    :raises vobjects.exceptions.VobjectsError: there is no configuration
    """
    from oslo_config import cfg

    conf = settings.read(cfg.ConfigOpts(), options)
    if not settings.files(conf):
        raise exceptions.VobjectsError(
            f'name the --url of an API: {settings.nothing_found()}'
        )
    conf.register_opts(
        [
            cfg.StrOpt('host', default='127.0.0.1'),
            cfg.PortOpt('port', default=DEFAULT_PORT),
        ],
        'api',
    )
    host, port = conf.api.host, conf.api.port
    return (
        f'http://[{host}]:{port}' if ':' in host else f'http://{host}:{port}'
    )


def _counted(url: str) -> tuple[list[tuple[Use, int]], float]:
    """Return the counts of an API, and their start as Unix time."""
    from prometheus_client import parser

    counts: list[tuple[Use, int]] = []
    since: float | None = None
    try:
        for family in parser.text_string_to_metric_families(_read(url)):
            for sample in family.samples:
                if sample.name == _SINCE:
                    since = sample.value
                elif sample.name == _SAMPLE:
                    counts.append((_use(sample.labels), int(sample.value)))
    except (IndexError, KeyError, ValueError) as error:
        raise exceptions.VobjectsError(
            f'{url}: what {_PATH} shows cannot be read: {error}'
        ) from None
    if since is None:
        raise exceptions.VobjectsError(
            f'{url}: {_PATH} shows the metrics of another service'
        )
    return counts, since


def _use(labels: Mapping[str, str]) -> Use:
    return (
        labels['agent'],
        Version.parse(labels['version']),
        labels['method'],
        labels['route'],
    )


def _read(url: str) -> str:
    import http.client
    import urllib.error
    import urllib.parse
    import urllib.request

    if urllib.parse.urlsplit(url).scheme not in ('http', 'https'):
        raise exceptions.VobjectsError(
            f'{exceptions.cut(url)} is no http(s) URL'
        )
    headers = {'User-Agent': 'vobjects-who-uses'}
    if token := os.environ.get(_TOKEN):
        headers['X-Auth-Token'] = token
    address = url.rstrip('/').removesuffix(_PATH) + _PATH
    request = urllib.request.Request(address, headers=headers)  # noqa: S310
    # Without a proxy: it would be one that passes the request on, see
    # api.metrics_page.
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
        raise exceptions.Unreachable(f'{address}: {error}') from None
    if len(content) > _MAX_BYTES:
        raise exceptions.VobjectsError(
            f'{address}: more than {_MAX_BYTES} bytes'
        )
    return content.decode(errors='replace')
