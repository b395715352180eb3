# SPDX-License-Identifier: Apache-2.0
"""Bodies of errors."""

import dataclasses
import http
import json

import pytest

from tests import api_sig
from vobjects import exceptions
from vobjects.microversions import (
    application_errors,
    error_formats,
    errors,
    presets,
    version_ranges,
)
from vobjects.versions import Maximum, Version

CAPPED = Maximum(Version(1, 7), 'engine-2 speaks no newer')
RANGES = (version_ranges.VersionRange(Version(1, 2), Version(1, 5)),)

EVERY_ERROR = [
    errors.MalformedVersion('x'),
    errors.UnsupportedVersion('1.8', Version(1, 0), CAPPED),
    errors.MethodNotAtVersion('show', Version(1, 1), RANGES),
    errors.MalformedBody('x'),
    errors.BodyTooLarge('x'),
    errors.MalformedQuery('x'),
    errors.ValidationError('body.name', 'is required'),
]


@pytest.mark.parametrize('error', EVERY_ERROR, ids=lambda e: type(e).__name__)
def test_document_of_every_error_conforms(error):
    body = error.document(presets.SENLIN, 'req-1')

    api_sig.assert_error_document(
        body,
        error.status_for(presets.SENLIN),
        {'X-OpenStack-Request-ID': 'req-1'},
    )
    assert json.loads(json.dumps(body)) == body
    assert body['errors'][0]['code'].startswith('clustering.')
    assert isinstance(error, exceptions.VobjectsError)


def test_codes_of_errors_are_distinct():
    codes = [error.code for error in EVERY_ERROR]

    assert len(set(codes)) == len(codes)


def test_document_of_unsupported_version_has_everything():
    error = errors.UnsupportedVersion('1.8', Version(1, 0), CAPPED)
    sentence = (
        "Version '1.8' is not supported by the API. Minimum is '1.0' and"
        " maximum is '1.7', because engine-2 speaks no newer."
    )

    assert error.document(presets.SENLIN, 'req-1') == {
        'errors': [
            {
                'request_id': 'req-1',
                'code': 'clustering.microversion-unsupported',
                'status': 406,
                'title': 'Requested microversion is unsupported',
                'detail': sentence,
                'min_version': '1.0',
                'max_version': '1.7',
                'links': [
                    {
                        'rel': 'help',
                        'href': 'https://docs.openstack.org/api-ref/'
                        'clustering/',
                    },
                    {
                        'rel': 'history',
                        'href': 'https://docs.openstack.org/senlin/latest/'
                        'contributor/api_microversion.html',
                    },
                ],
            }
        ],
        'code': 406,
        'title': 'Not Acceptable',
        'explanation': sentence,
        'error': {
            'code': 406,
            'message': sentence,
            'type': 'InvalidGlobalAPIVersion',
        },
    }


def test_document_without_request_id_has_no_such_key():
    body = errors.MalformedBody('x').document(presets.SENLIN)

    assert 'request_id' not in body['errors'][0]


@pytest.mark.parametrize('status', [*range(400, 432), 451, *range(500, 512)])
def test_document_for_any_status_conforms(status):
    error = application_errors.HttpError(status)

    body = error.document(presets.SENLIN)

    api_sig.assert_error_document(body, status)
    assert error.type_name.isalnum()


@pytest.mark.parametrize(
    ('status', 'title', 'detail'),
    [
        (404, 'Not Found', 'Nothing matches the given URI.'),
        (http.HTTPStatus.CONFLICT, 'Conflict', 'Request conflict.'),
        (423, 'Locked', 'Locked.'),
        (419, 'Status 419', 'Status 419.'),
    ],
)
def test_http_error_has_the_texts_of_its_status(status, title, detail):
    error = application_errors.HttpError(status)

    assert (error.title, error.detail) == (title, detail)
    assert error_formats.status_line(status) == f'{int(status)} {title}'


@pytest.mark.parametrize(
    ('status', 'is_error'),
    [(None, False), (399, False), (400, True), (599, True), (600, False)],
)
def test_error_of_a_server_is_expected_with_the_status_of_an_error(
    status, is_error
):
    cls = type('Failed', (exceptions.ServiceError,), {'status': status})

    assert application_errors.is_expected(cls('x')) is is_error


class Textless:
    def __str__(self):
        raise KeyError('text')

    __repr__ = __str__


@pytest.mark.parametrize(
    'detail',
    [Textless(), {Textless(): 1}, [Textless()]],
    ids=['value', 'key', 'item'],
)
def test_document_for_a_detail_without_text_has_that_of_the_status(detail):
    error = application_errors.HttpError(409, detail)

    assert error.detail == application_errors.HttpError(409).detail


def test_document_for_a_deep_detail_is_one():
    detail = []
    for _ in range(5000):
        detail = [detail]

    body = application_errors.HttpError(409, detail).document(presets.SENLIN)

    # Newer releases of Python write data that is this deep.
    api_sig.assert_error_document(body, 409)


def test_headers_of_an_applications_error_can_be_sent_with_the_document():
    headers = {
        'Content-Type': 'text/html',
        'content-length': '1',
        'Content-Encoding': 'gzip',
        'Retry-After': 5,
        'X-Reason': 'a\r\nb \u20ac\xe9\t',
    }
    error = application_errors.HttpError(409, 'busy', headers)

    assert error.headers == (
        ('Retry-After', '5'),
        ('X-Reason', 'a??b ?\xe9\t'),
    )


def test_document_for_an_applications_own_error_conforms():
    class ClusterNotFound(errors.ApiError):
        status = 404
        code = 'cluster-not-found'
        title = 'Cluster not found'
        type_name = 'ResourceNotFound'

    error = ClusterNotFound("The cluster 'c1' could not be found.")
    body = error.document(presets.SENLIN)

    api_sig.assert_error_document(body, 404)
    assert body['errors'][0]['code'] == 'clustering.cluster-not-found'
    assert body['error']['type'] == 'ResourceNotFound'


@pytest.mark.parametrize(
    ('option', 'error'),
    [
        ('malformed_status', errors.MalformedVersion('x')),
        ('other_service_status', errors.OtherService('x')),
        ('unsupported_status', EVERY_ERROR[1]),
        ('method_missing_status', EVERY_ERROR[2]),
    ],
)
@pytest.mark.parametrize('status', [404, 406, 400])
def test_status_of_a_negotiation_error_is_that_of_the_policy(
    option, error, status
):
    configured = dataclasses.replace(presets.SENLIN, **{option: status})

    api_sig.assert_error_document(error.document(configured), status)
