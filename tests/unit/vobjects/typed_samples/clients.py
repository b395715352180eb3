# SPDX-License-Identifier: Apache-2.0
"""Type checkers report exactly the lines that end with the word error."""

from __future__ import annotations

from typing import Any, assert_type

import httpx

import vobjects
from vobjects import UNSET, added
from vobjects.microversions import presets
from vobjects_client import Client, Http, Location, Operations, operation


@vobjects.register
class TubResource(vobjects.Resource):
    """A tub in a response."""

    name: str
    note: str | None = UNSET


@vobjects.register
class TubGetRequest(vobjects.Request):
    """Show a tub."""

    VERSION = '1.1'
    VERSION_MAP = {'1.4': '1.1'}

    identity: str
    full: bool = added('1.1', default=False)


class Tubs(Operations[Http]):
    """Operations on tubs."""

    delete = operation('DELETE', '/v1/tubs/{identity}', TubGetRequest)
    get = operation('GET', '/v1/tubs/{identity}', TubGetRequest, TubResource)
    list = operation('GET', '/v1/tubs', TubGetRequest, list[TubResource])
    raw = operation('GET', '/v1/tubs', TubGetRequest, dict[str, Any])
    fill = operation('POST', '/v1/tubs', TubGetRequest, Location, body='fill')


class TubClient(Client[Http]):
    """A client of the service."""

    POLICY = presets.SENLIN

    tubs: Tubs[Http]


client = TubClient(httpx.Client(base_url='http://tub'))
assert_type(client.tubs.get(identity='t'), TubResource)
assert_type(client.tubs.get(identity='t', full=True).note, str | None)
assert_type(client.tubs.list(identity='t'), list[TubResource])
assert_type(client.tubs.raw(identity='t'), dict[str, Any])
assert_type(client.tubs.fill(identity='t'), Location)
client.tubs.delete(identity='t', full=True)
client.tubs.delete()  # error
client.tubs.delete(identity=1)  # error
client.tubs.delete(identity='t', ful=True)  # error
repr(client.tubs.get(identity='t').nam)  # error
client.tubs.gett(identity='t')  # error
TubClient('http://tub')  # error


async def call() -> None:
    """Use the same client with asyncio."""
    async with httpx.AsyncClient(base_url='http://tub') as http:
        tubs = TubClient(http).tubs
        assert_type(await tubs.get(identity='t'), TubResource)
        assert_type(await tubs.list(identity='t'), list[TubResource])
        await tubs.delete(identity='t')
        await tubs.get(identity=1)  # error
        repr((await tubs.get(identity='t')).nam)  # error
        repr((await tubs.list(identity='t')).nam)  # error
