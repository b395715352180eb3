# SPDX-License-Identifier: Apache-2.0
"""Parameters of a webhook call, from its query and body.

============  ================================================================
up to 1.9     the query has parameters; so has the body, below ``params``
              if ``V`` is 1
since 1.10    the body has the parameters; of the query only ``V`` is read,
              and other parameters, as in the URL of a receiver, are ignored
============  ================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from api import request_body
from vobjects import exceptions, phrases
from vobjects.microversions import errors

#: Query parameter for the format of the body: 1 or 2.
VERSION = 'V'
VERSIONS = ('1', '2')


def collect(
    pairs: Iterable[tuple[str, str]], content: Any, *, only_body: bool
) -> dict[str, Any]:
    """Return the fields ``params`` and ``body`` of a webhook request.

    :param pairs: query parameters
    :param content: a JSON object, or ``request_body.NO_BODY``
    :param only_body: whether to ignore the query's parameters
    :raises vobjects.microversions.errors.ValidationError: the call is
        malformed
    """
    params: dict[str, str] = {}
    for name, value in pairs:
        if name in params:
            raise errors.ValidationError(
                phrases.format_path('query', [name]), 'is given more than once'
            )
        params[name] = value
    format_ = params.pop(VERSION, None)
    if format_ is None:
        raise errors.ValidationError(
            f'query.{VERSION}',
            'V query parameter is required in webhook trigger URL',
        )
    if format_ not in VERSIONS:
        raise errors.ValidationError(
            f'query.{VERSION}',
            f'must be one of {", ".join(VERSIONS)}, not'
            f' {exceptions.cut(format_)}',
        )
    body = {} if content is request_body.NO_BODY else dict(content)
    if only_body:
        return {'params': {}, 'body': body}
    if format_ == '1':
        body_params = body.get('params')
        if body_params is None:
            body_params = {}
        if not isinstance(body_params, dict):
            raise errors.ValidationError(
                'body.params', 'must be a JSON object'
            )
        return {'params': {**params, **body_params}, 'body': {}}
    return {'params': params, 'body': body}
