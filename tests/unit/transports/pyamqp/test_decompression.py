# SPDX-License-Identifier: Apache-2.0
"""The size of decompressed messages is limited."""

import bz2
import json
import lzma
import tracemalloc
import zlib

import pytest

from oslo_messaging_driverlib import encoding
from oslo_messaging_pyamqp import decompression, frames, message_format

COMPRESS = {
    'application/x-gzip': zlib.compress,
    'application/x-bz2': bz2.compress,
    'application/x-lzma': lzma.compress,
}


@pytest.fixture(autouse=True)
def small_limit(monkeypatch):
    monkeypatch.setattr(decompression, 'MAX_SIZE', 1 << 20)


every_method = pytest.mark.parametrize('method', COMPRESS)


def delivered(body, method):
    message = frames.Delivered(b'\0\0\0\0\1c' + bytes(9))
    message.body = body
    message.compression = method
    return message


def decode(body, method):
    return message_format.decode(delivered(body, method))


@every_method
def test_message_up_to_the_limit_is_decompressed(method):
    body = b'{"a":1}'.ljust(decompression.MAX_SIZE)

    assert decode(COMPRESS[method](body), method) == {'a': 1}


@every_method
def test_message_beyond_the_limit_takes_little_memory(method):
    limit = decompression.MAX_SIZE
    bomb = COMPRESS[method](bytes(16 * limit))

    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match='decompresses to more than'):
            decode(bomb, method)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    dictionary = 8 << 20  # of LZMA
    assert peak < 4 * limit + dictionary


@every_method
@pytest.mark.parametrize('part', [slice(-5), slice(3, None), slice(0)])
def test_message_that_cannot_be_decompressed_is_rejected(method, part):
    body = COMPRESS[method](b'{"a":1}' * 100)[part]

    with pytest.raises(ValueError, match='compressed'):
        decode(body, method)


def test_unlimited_method_is_rejected():
    with pytest.raises(ValueError, match='gzip, bz2 or lzma'):
        decode(b'', 'application/zstd')


@every_method
@pytest.mark.parametrize('value', ['0', '[]', '{}', '{"a":1}', '""'])
@pytest.mark.parametrize('is_inner', [False, True])
def test_message_with_many_short_values_takes_little_memory(
    method, value, is_inner, monkeypatch
):
    monkeypatch.setattr(encoding, 'MAX_VALUES', 1 << 10)
    text = f'{{"a":[{",".join([value] * (1 << 15))}]}}'
    if is_inner:
        text = json.dumps({'oslo.version': '2.0', 'oslo.message': text})
    bomb = COMPRESS[method](text.encode())

    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match='more than 1024 values'):
            decode(bomb, method)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    dictionary = 1 << 20 if method.endswith('lzma') else 0
    assert peak < 6 * len(text) + 8 * dictionary
