# SPDX-License-Identifier: Apache-2.0
"""Routes of an HTTP API between two releases."""

from __future__ import annotations

import pytest

from .conftest import Compare

ROUTES = """
from typing import Annotated
from fastapi import APIRouter, Depends, Header, Query, Request
router = APIRouter(prefix='/shops/{{shop}}')
root = APIRouter(tags=['orders'])

@root.get('/version')
def version(): pass

@{router}.{verb}('{path}')
async def cancel({parameters}): pass
"""

CLIENT = """
def cancel(shop, order):
    return post(f'/shops/{shop}/orders/{order}/cancel')
"""


def release(
    path: str = '/orders/{order}/cancel',
    parameters: str = 'order: str',
    router: str = 'router',
    verb: str = 'post',
) -> dict[str, str]:
    return {
        'routes.py': ROUTES.format(
            path=path, parameters=parameters, router=router, verb=verb
        ),
        'client.py': CLIENT,
    }


KEPT = {('ROUTE_KEPT', 'cancel', '')}


@pytest.mark.parametrize(
    ('after', 'expected'),
    [
        ({}, set()),
        ({'path': '/orders/{item}/cancel', 'parameters': ''}, set()),
        (
            {'path': '/shops/{shop}/orders/{order}/cancel', 'router': 'root'},
            set(),
        ),
        ({'path': '/orders/{order}/stop'}, KEPT),
        ({'verb': 'delete'}, set()),
        ({'router': 'root'}, KEPT),
        ({'verb': 'on_event'}, KEPT),
    ],
)
def test_compare_route_that_clients_call(
    compare: Compare,
    after: dict[str, str],
    expected: set[tuple[str, str, str]],
) -> None:
    assert compare(release(), release(**after)) == expected


@pytest.mark.parametrize(
    'before',
    [
        {'path': '/orders/{order}/other'},
        {'path': '/cancel', 'router': 'root'},
        {'path': '/{order}/all', 'router': 'root'},
    ],
)
def test_compare_route_that_no_client_calls(
    compare: Compare, before: dict[str, str]
) -> None:
    assert compare(release(**before), release()) == set()


def test_compare_release_without_routes_is_no_finding(
    compare: Compare,
) -> None:
    assert compare(release(), {'client.py': CLIENT}) == set()


@pytest.mark.parametrize(
    ('parameters', 'found'),
    [
        ('order: str, force: bool', True),
        ('order: str, *, force: bool', True),
        ('order: str, force: bool = Query(...)', True),
        ('order: str, force: str = Header(..., alias="x-force")', True),
        ('order: str, force: Annotated[bool, Query()]', True),
        ('order: str, force: bool = False', False),
        ('order: str, force: bool = Query(False)', False),
        ('order: str, force: bool = Depends(check)', False),
        ('order: str, force: Annotated[bool, Depends(check)]', False),
        ('order: str, force: bool | None', False),
        ('order: str, force: Request', False),
        ('order: str, shop: str', False),
        ('order', False),
    ],
)
def test_compare_new_parameter_of_a_route(
    compare: Compare, parameters: str, found: bool
) -> None:
    assert compare(release(), release(parameters=parameters)) == (
        {('ROUTE_REQUEST_ACCEPTED', 'cancel', 'force')} if found else set()
    )
