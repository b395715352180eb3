# SPDX-License-Identifier: Apache-2.0
"""Limit the size of decompressed messages.

A message of some hundred bytes can decompress to gigabytes, and kombu has no
limit.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

#: Maximum size of a decompressed message, in bytes. RabbitMQ 4 accepts
#: messages of at most 16 MiB by default.
MAX_SIZE = 32 << 20

#: Maximum memory of the dictionary of LZMA, in bytes.
_MAX_LZMA_MEMORY = 128 << 20


def gunzip(body: bytes) -> bytes:
    """Decompress the format of zlib, which kombu calls ``gzip``.

    :raises ValueError: the data is not valid, or exceeds :data:`MAX_SIZE`
    """
    decoder = zlib.decompressobj()
    return _decompress(
        lambda: decoder.decompress(body, MAX_SIZE + 1), decoder, zlib.error
    )


def bunzip2(body: bytes) -> bytes:
    """Decompress the format of bzip2; see :func:`gunzip`."""
    decoder = bz2.BZ2Decompressor()
    return _decompress(
        lambda: decoder.decompress(body, MAX_SIZE + 1), decoder, OSError
    )


def unlzma(body: bytes) -> bytes:
    """Decompress the formats of LZMA; see :func:`gunzip`."""
    decoder = lzma.LZMADecompressor(memlimit=_MAX_LZMA_MEMORY)
    return _decompress(
        lambda: decoder.decompress(body, MAX_SIZE + 1),
        decoder,
        lzma.LZMAError,
    )


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    'application/x-gzip': gunzip,
    'application/x-bz2': bunzip2,
    'application/x-lzma': unlzma,
}


def decompress(body: bytes, content_type: str) -> bytes:
    """Return the content of a compressed message.

    :param content_type: method of the compression, as kombu's header names it
    :raises ValueError: the data is not valid, exceeds :data:`MAX_SIZE`, or the
        method cannot be limited
    """
    decoder = _DECODERS.get(content_type)
    if decoder is None:
        raise ValueError('must be compressed with gzip, bz2 or lzma, or not')
    return decoder(body)


def _decompress(
    read: Callable[[], bytes], decoder: Any, error_class: type[Exception]
) -> bytes:
    try:
        content = read()
    except (EOFError, error_class) as error:
        raise ValueError(f'cannot be decompressed: {error}') from None
    if len(content) > MAX_SIZE:
        raise ValueError(f'decompresses to more than {MAX_SIZE} bytes')
    if not decoder.eof:
        raise ValueError('the compressed data is not complete')
    return content
