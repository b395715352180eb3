# SPDX-License-Identifier: Apache-2.0
"""Hide the values of secret fields from ``repr`` and error messages.

Secret values are sent and stored like any others.
"""

from __future__ import annotations

import copy
import re
import urllib.parse
from typing import Any, TypeVar

from oslo_versionedobjects import fields as ovo_fields

AnyField = ovo_fields.Field[Any]
FieldT = TypeVar('FieldT', bound=AnyField)

#: Text that replaces a secret value.
HIDDEN = '***'

_ATTRIBUTE = '_vobjects_sensitive'


def sensitive(field: FieldT) -> FieldT:
    """Mark a field as secret; its ``repr`` and fingerprint do not change.

    ``SensitiveStringField`` needs no mark.
    """
    # Two types may share a field object, as in vobjects.objects.history.
    copied = copy.copy(field)
    setattr(copied, _ATTRIBUTE, True)
    return copied


def is_sensitive(field: AnyField) -> bool:
    """Tell whether the values of a field must be hidden."""
    if isinstance(field._type, ovo_fields.CompoundFieldType):
        inner: AnyField = field._type._element_type
        return hasattr(field, _ATTRIBUTE) or is_sensitive(inner)
    is_secret = isinstance(field._type, ovo_fields.SensitiveString)
    return is_secret or hasattr(field, _ATTRIBUTE)


#: Options in the query of a URL whose values are not secret.
_SHOWN_OPTIONS = frozenset(
    (
        'cache',
        'charset',
        'connect_timeout',
        'heartbeat_rate',
        'heartbeat_timeout_threshold',
        'host',
        'kombu_compression',
        'mode',
        'port',
        'rabbit_ha_queues',
        'rabbit_qos_prefetch_count',
        'rabbit_quorum_queue',
        'rabbit_transient_quorum_queue',
        'ssl',
        'ssl_ca',
        'ssl_ca_file',
        'ssl_version',
        'sslmode',
        'sslrootcert',
        'timeout',
        'uri',
        'user',
    )
)

#: Schemes whose URLs may name several hosts, each with a password.
_MESSAGING = frozenset(('amqp', 'kafka', 'kombu', 'pyamqp', 'rabbit'))

#: Characters at which the parsers of URLs and of configuration files divide a
#: text, so that an error may quote the part between two of them.
_DELIMITERS = re.compile(r'[:/?#@,&=;$\[\](){}]+')

# A host of a transport_url, with its user, in which all special characters
# are escaped.
_HOST = re.compile(r'(?:([^:@/?#]*)(:[^:@/?#]*)?@)?[^@/?#]*')


def mask_url(url: str) -> str:
    """Return the URL of a database or a message bus without its secrets.

    If a password contains special characters that are not escaped, more than
    the password is hidden, but never less. Options in the query are hidden
    unless they are known not to be secret.

    :param url: the URL; commas separate multiple hosts, as in
        ``transport_url``
    """
    scheme, separator, rest = url.partition('://')
    if not separator:
        return f'{HIDDEN}{url[url.rindex("@") :]}' if '@' in url else url
    base, mark, query = rest.partition('?')
    if '@' in query:  # the mark may be part of a password
        return f'{scheme}://{HIDDEN}@{rest.rpartition("@")[2].split("?")[0]}'
    if '@' in base:
        base = _mask_hosts(base, ',' if scheme in _MESSAGING else None)
    options = query.split('&')
    for number, option in enumerate(options):
        name, equals, _ = option.partition('=')
        if equals and name.lower() not in _SHOWN_OPTIONS:
            options[number] = f'{name}={HIDDEN}'
    return f'{scheme}://{base}{mark}{"&".join(options)}'


def mask_text(text: str, url: str) -> str:
    """Return an error's text without the secrets of a URL that it is about.

    The error of a parser or a driver may quote a part of the password: if the
    password contains special characters that are not escaped, such as ``:``,
    the part after it is taken for the port.

    :param text: the text of the error
    :param url: the URL, as for :func:`mask_url`
    """
    shown = mask_url(url)
    public = _parts(shown)
    text = text.replace(url, shown)
    for part in sorted(_parts(url) - public, key=len, reverse=True):
        text = re.sub(rf'(?<!\w){re.escape(part)}(?!\w)', HIDDEN, text)
    return text


def _parts(url: str) -> set[str]:
    """Return the parts of a URL that the text of an error may quote."""
    parts = {url, *_DELIMITERS.split(url)}
    parts |= {word for part in parts for word in re.findall(r'\w{3,}', part)}
    return {*parts, *map(urllib.parse.unquote, parts)} - {''}


def _mask_hosts(base: str, separator: str | None) -> str:
    """Mask the passwords in hosts and path, which contain an ``@``.

    :param separator: separates multiple hosts; None: there is one
    """
    hosts, slash, path = base.partition('/')
    parts = hosts.split(separator) if separator else [hosts]
    matches = [_HOST.fullmatch(host) for host in parts]
    # A part without a user may belong to a password with a comma.
    if '@' in path or not all(match and '@' in match[0] for match in matches):
        user, _, secret = base.partition(':')
        shown = f'{user}:' if '@' in secret and '@' not in user else ''
        return f'{shown}{HIDDEN}@{base.rpartition("@")[2]}'
    masked = [
        match[0]
        if match[2] is None
        else f'{match[1]}:{HIDDEN}{match[0][match.end(2) :]}'
        for match in matches
        if match
    ]
    return ','.join(masked) + slash + path
