# SPDX-License-Identifier: Apache-2.0
"""Check the certificates and keys that options name, before their first use.

The libraries that read them do so with the first connection, and their errors
name neither the option nor the file.
"""

from __future__ import annotations

import errno
import functools
import os
import ssl
from collections.abc import Mapping
from typing import Any

from vobjects import exceptions

#: Names of the options of a section: certificates of authorities, own
#: certificate, its key.
NAMES = (
    ('cafile', 'certfile', 'keyfile'),
    ('ssl_ca_file', 'ssl_cert_file', 'ssl_key_file'),
    ('tls_ca_file', 'tls_cert_file', 'tls_key_file'),
)

#: May name a folder with a file for each authority: Keystone's client uses
#: requests, which permits that.
FILE_OR_FOLDER = 'cafile'

#: OpenSSL's reason for a key that belongs to another certificate.
_MISMATCH = 'KEY_VALUES_MISMATCH'


def check(where: str, options: Mapping[str, Any]) -> None:
    """Check the files of a section of a configuration.

    :param where: the section for errors, such as ``[provider_docker]``
    :param options: option -> value; each triple of :data:`NAMES` is optional
    :raises vobjects.exceptions.TlsConfigError: names section, option, file,
        problem and fix
    """
    for names in NAMES:
        if names[0] in options:
            _check(where, names, {name: options[name] for name in names})


def _check(
    where: str, names: tuple[str, str, str], paths: Mapping[str, Any]
) -> None:
    ca_name, certificate_name, key_name = names
    context = functools.partial(ssl.SSLContext, ssl.PROTOCOL_TLS_CLIENT)

    def fail(name: str, problem: str) -> exceptions.TlsConfigError:
        return exceptions.TlsConfigError(
            f'{where} {name} = {paths[name]}: {problem}'
        )

    files = [
        name
        for name in names
        if paths[name]
        and not (name == FILE_OR_FOLDER and os.path.isdir(paths[name]))
    ]
    for name in files:
        try:
            _read(paths[name])
        except OSError as error:
            raise fail(
                name,
                f'{error.strerror}; name a PEM file that this process can'
                ' read',
            ) from None
    for name in (ca_name, certificate_name):
        if name not in files:
            continue
        try:
            context().load_verify_locations(paths[name])
        except ssl.SSLError:
            raise fail(
                name,
                'it contains no certificate; name a file with "BEGIN'
                ' CERTIFICATE"',
            ) from None
    certificate, key = paths[certificate_name], paths[key_name]
    if not certificate:
        if key:
            raise fail(key_name, f'set {certificate_name}, too')
        return
    try:
        # With an empty password, OpenSSL does not ask on the terminal.
        context().load_cert_chain(certificate, key or None, password='')
    except ssl.SSLError as error:
        if error.reason == _MISMATCH:
            raise fail(
                key_name if key else certificate_name,
                f'the key does not belong to the certificate in {certificate};'
                ' name the key with which it was requested',
            ) from None
        if not key:
            raise fail(certificate_name, f'set {key_name}, too') from None
        raise fail(
            key_name,
            'it contains no private key without a password; name a file with'
            ' "BEGIN PRIVATE KEY"',
        ) from None


def _read(path: str) -> None:
    """Read a file.

    :raises OSError: it cannot be read, or is not a file
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(errno.EISDIR, 'it is not a file')
    with open(path, 'rb') as file:
        file.read(1)
