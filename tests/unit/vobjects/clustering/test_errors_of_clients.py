# SPDX-License-Identifier: Apache-2.0
"""Clients print the details of errors."""

import json

import pytest
import requests
from keystoneauth1.exceptions import http as keystone_http
from openstack import exceptions as sdk_exceptions
from senlinclient.common import exc as senlin_exceptions

from tests.unit.vobjects.microversions.test_errors import EVERY_ERROR
from vobjects.microversions import presets


@pytest.mark.parametrize('error', EVERY_ERROR, ids=lambda e: type(e).__name__)
def test_openstacksdk_prints_the_detail(error):
    with pytest.raises(sdk_exceptions.HttpException) as caught:
        sdk_exceptions.raise_from_response(response_of(error))

    assert caught.value.details == error.detail
    assert error.detail in str(caught.value)


@pytest.mark.parametrize('error', EVERY_ERROR, ids=lambda e: type(e).__name__)
def test_senlinclient_prints_the_detail(error):
    with pytest.raises(senlin_exceptions.HTTPException) as caught:
        senlin_exceptions.parse_exception(response_of(error).text)

    assert str(caught.value) == f'ERROR({error.status}): {error.detail}'


@pytest.mark.parametrize('error', EVERY_ERROR, ids=lambda e: type(e).__name__)
def test_keystoneauth_prints_the_detail(error):
    exception = keystone_http.from_response(response_of(error), 'GET', '/')

    assert exception.http_status == error.status
    assert error.detail in str(exception)


def response_of(error):
    """Return a response as requests would have read it."""
    response = requests.Response()
    response.status_code = error.status_for(presets.SENLIN)
    response.headers['Content-Type'] = 'application/json'
    response.url = 'http://localhost/v1/clusters'
    response.request = requests.Request('GET', response.url).prepare()
    response._content = json.dumps(error.document(presets.SENLIN)).encode()
    return response
