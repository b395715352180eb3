# SPDX-License-Identifier: Apache-2.0
"""No text can forge a log line."""

import io
import logging

import pytest

from vobjects import log_lines

FORGED = '2026-01-01 ERROR root: forged'


@pytest.fixture
def log():
    factory = logging.getLogRecordFactory()
    stream = io.StringIO()
    logger = logging.getLogger('tests.log_lines')
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter('%(levelname)s %(message)s'))
    logger.addHandler(handler)
    formatters = {
        handler: handler.formatter for handler in logging.root.handlers
    }
    log_lines.protect()
    log_lines.protect()
    yield logger, stream
    logger.removeHandler(handler)
    logging.setLogRecordFactory(factory)
    for handler, formatter in formatters.items():
        handler.setFormatter(formatter)


@pytest.mark.parametrize(
    'character',
    [
        *(
            '\n',
            '\r',
            '\r\n',
            '\x0b',
            '\x0c',
            '\x1b[2K',
            '\x85',
            '\u2028',
            '\0',
        ),
        # Right-to-left overrides, isolates and marks.
        *('\u202e', '\u2066', '\u200f', '\u061c'),
    ],
)
@pytest.mark.parametrize('place', ['message', 'argument', 'exception'])
def test_control_character_is_escaped(log, character, place):
    logger, stream = log
    text = f'a{character}{FORGED}'
    if place == 'message':
        logger.error(text)
    elif place == 'argument':
        logger.error('%s', text)
    else:
        try:
            raise ValueError(text)
        except ValueError:
            logger.exception('failed')

    lines = stream.getvalue().splitlines()
    assert not [line for line in lines if line.startswith(FORGED)]
    assert all(line.isprintable() for line in lines)
    assert lines[0].startswith('ERROR ')
    assert all(line.startswith('| ') for line in lines[1:])
    assert (len(lines) > 1) == (place == 'exception')


def test_ordinary_text_does_not_change(log):
    logger, stream = log
    logger.warning('caf\u00e9: %s\t%d', "it's \\n", 3)

    assert stream.getvalue() == "WARNING caf\u00e9: it's \\n\t3\n"


@pytest.mark.parametrize('place', ['message', 'exception'])
def test_long_text_keeps_its_ends(log, place):
    logger, stream = log
    text = f'first{"x" * 3 * log_lines.MAX_LENGTH}last'
    if place == 'message':
        logger.error(text)
    else:
        try:
            raise ValueError(text)
        except ValueError:
            logger.exception('failed')

    written = stream.getvalue()
    assert len(written) < 2 * log_lines.MAX_LENGTH
    assert written.startswith('ERROR ')
    assert 'first' in written
    assert 'characters omitted' in written
    assert written.endswith('last\n')
