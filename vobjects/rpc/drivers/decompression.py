# SPDX-License-Identifier: Apache-2.0
"""Limit the size of decompressed messages.

A message of some hundred bytes can decompress to gigabytes. kombu has no limit
of its own, and it decompresses a message for any driver that uses it, before
the driver acknowledges the message. :func:`limit` replaces its decoders.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Any

from kombu import compression

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


def unsupported(body: bytes) -> bytes:
    """Reject a method that cannot be limited.

    :raises ValueError: always
    """
    raise ValueError('must be compressed with gzip, bz2 or lzma, or not')


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    'application/x-gzip': gunzip,
    'application/x-bz2': bunzip2,
    'application/x-lzma': unlzma,
}


def limit() -> None:
    """Make kombu limit the size of the messages that it decompresses."""
    for name in compression.encoders():  # type: ignore[no-untyped-call]
        encode, _ = compression.get_encoder(name)  # type: ignore[no-untyped-call]
        decode = _DECODERS.get(name, unsupported)
        compression.register(encode, decode, name)  # type: ignore[no-untyped-call]


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
