# SPDX-License-Identifier: Apache-2.0
"""Texts of HTTP statuses."""

import http

import pytest

from vobjects.microversions import statuses


@pytest.mark.parametrize(
    ('status', 'phrase', 'description'),
    [
        (404, 'Not Found', 'Nothing matches the given URI'),
        (http.HTTPStatus.CONFLICT, 'Conflict', 'Request conflict'),
        (423, 'Locked', 'Locked'),
        (419, 'Status 419', 'Status 419'),
    ],
)
def test_texts_of_a_status(status, phrase, description):
    assert statuses.phrase(status) == phrase
    assert statuses.line(status) == f'{int(status)} {phrase}'
    assert statuses.description(status) == description


@pytest.mark.parametrize(
    ('status', 'is_error'),
    [(None, False), (399, False), (400, True), (599, True), (600, False)],
)
def test_statuses_of_errors(status, is_error):
    assert statuses.is_error(status) is is_error
