# SPDX-License-Identifier: Apache-2.0
"""Read the bodies of updates, in the format JSON Patch (RFC 6902)."""

from vobjects.microversions import ValidationError, load_json

OPERATIONS = ('add', 'remove', 'replace')

#: JSON schema of a body. The schema of a value depends on its property.
SCHEMA = {
    'type': 'array',
    'items': {
        'type': 'object',
        'properties': {
            'op': {'type': 'string', 'enum': list(OPERATIONS)},
            'path': {'type': 'string', 'pattern': '^/[a-z_]+$'},
            'value': {'description': 'The new value of the property'},
        },
        'required': ['op', 'path'],
        'additionalProperties': False,
    },
}


def values_of(raw):
    """Return the new values of properties; null stands for a removal.

    :param raw: the body
    """
    document = load_json(raw)
    if not isinstance(document, list):
        raise ValidationError('body', 'must be a list of operations')
    values = {}
    for index, operation in enumerate(document):
        place = f'body[{index}]'
        if not isinstance(operation, dict):
            raise ValidationError(place, 'must be an object')
        unknown = operation.keys() - {'op', 'path', 'value'}
        if unknown:
            raise ValidationError(place, f'has an unknown key {min(unknown)}')
        if operation.get('op') not in OPERATIONS:
            accepted = ', '.join(OPERATIONS)
            raise ValidationError(f'{place}.op', f'must be one of {accepted}')
        path = operation.get('path')
        if not isinstance(path, str) or not path.startswith('/'):
            raise ValidationError(f'{place}.path', "must begin with '/'")
        if operation['op'] == 'remove':
            values[path[1:]] = None
        elif 'value' in operation:
            values[path[1:]] = operation['value']
        else:
            raise ValidationError(place, "'value' is required")
    return values
