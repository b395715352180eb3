# SPDX-License-Identifier: Apache-2.0
import copy

import pytest

from tests import api_sig

LINK = {'rel': 'help', 'href': 'https://docs.example.org/'}
ITEM = {
    'code': 'compute.microversion-unsupported',
    'status': 406,
    'title': 'Requested microversion is unsupported',
    'detail': 'Version 5.3 is not supported.',
    'min_version': '2.1',
    'max_version': '2.104',
    'request_id': 'req-1',
    'links': [LINK],
}


def error_document(**changes):
    item = {**copy.deepcopy(ITEM), **changes}
    return {
        'errors': [{k: v for k, v in item.items() if v is not None}],
    }


def test_error_document_when_valid_passes():
    api_sig.assert_error_document(
        error_document(), 406, {'x-openstack-request-id': 'req-1'}
    )


@pytest.mark.parametrize(
    ('changes', 'words'),
    [
        ({'code': None}, 'code'),
        ({'code': 'Compute.X'}, 'does not match'),
        ({'code': 'unsupported'}, 'has no service'),
        ({'status': '406'}, 'integer'),
        ({'detail': None}, 'detail'),
        ({'links': []}, 'links'),
        ({'links': [{'rel': 'self', 'href': 'https://x.org'}]}, 'help'),
        ({'links': [{'rel': 'help', 'href': 'relative'}]}, 'href'),
        ({'max_version': None}, 'without min_version and max_version'),
        ({'max_version': '2.01'}, 'max_version'),
        ({'status': 400}, 'the body has status 400, the response 406'),
        ({'request_id': 'req-2'}, 'req-2'),
    ],
)
def test_error_document_when_invalid_names_the_problem(changes, words):
    with pytest.raises(AssertionError, match=words):
        api_sig.assert_error_document(
            error_document(**changes), 406, {'X-OpenStack-Request-ID': 'req-1'}
        )


@pytest.mark.parametrize(
    ('senlin', 'words'),
    [
        ({'code': 406, 'error': {'code': 406, 'type': 'X'}}, 'message'),
        (
            {'code': 400, 'error': {'code': 406, 'message': 'x', 'type': 'X'}},
            'not the status',
        ),
        (
            {'code': 406, 'error': {'code': 400, 'message': 'x', 'type': 'X'}},
            'not the status',
        ),
    ],
)
def test_error_document_when_senlin_keys_differ_fails(senlin, words):
    with pytest.raises(AssertionError, match=words):
        api_sig.assert_error_document({**error_document(), **senlin})


VERSION = {
    'id': 'v2.1',
    'status': 'CURRENT',
    'min_version': '2.1',
    'max_version': '2.104',
    'links': [{'rel': 'self', 'href': 'http://localhost:8774/v2.1/'}],
}


def test_discovery_document_when_valid_passes():
    api_sig.assert_versions_document({'versions': [VERSION]})
    api_sig.assert_version_document({'version': VERSION})


@pytest.mark.parametrize(
    'changes',
    [
        {'id': 'two'},
        {'status': 'stable'},
        {'min_version': ''},
        {'max_version': '2.1.1'},
        {'links': [{'rel': 'self', 'href': '/v2.1/'}]},
    ],
)
def test_discovery_document_when_invalid_fails(changes):
    with pytest.raises(AssertionError):
        api_sig.assert_versions_document(
            {'versions': [{**VERSION, **changes}]}
        )
    with pytest.raises(AssertionError):
        api_sig.assert_version_document({'version': {**VERSION, **changes}})
