# SPDX-License-Identifier: Apache-2.0
"""The command ``vobjects queue``, which posts and shows messages."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine import cli
from vobjects import exceptions
from vobjects.cli import output, settings
from vobjects.cli.parser import Command, Parser

if TYPE_CHECKING:
    from engine.queues import base


def _parser() -> Parser:
    parser = Parser(
        prog='vobjects queue',
        description='Post and show messages of the queue service that'
        ' [queues] driver selects.',
        notes='Exit codes: 0 success; 1 a server does not respond; 2 invalid'
        ' arguments or configuration, or the queue service rejects the'
        ' request.',
    )
    parser.add_commands(
        {
            'post': ('add a message to a queue', _configure_post),
            'show': (
                'print the messages that no consumer has claimed',
                _configure_show,
            ),
        }
    )
    return parser


#: The command ``vobjects queue``.
main = Command(_parser)


def _configure_post(parser: Parser) -> None:
    parser.describe(
        examples=['vobjects queue post events \'{"event": "scale_out"}\'']
    )
    _add_queue(parser)
    parser.add_argument(
        'message',
        metavar='MESSAGE',
        type=_object,
        help='body of the message: a JSON object',
    )
    _add_common(parser, _post)


def _configure_show(parser: Parser) -> None:
    parser.describe(
        'A table has the body of one message in each line, as JSON.',
        examples=['vobjects queue show events -o yaml'],
    )
    _add_queue(parser)
    output.add_option(parser)
    _add_common(parser, _show)


def _add_queue(parser: Parser) -> None:
    parser.add_argument(
        'queue', metavar='QUEUE', type=_name, help='name of the queue'
    )


def _add_common(
    parser: Parser, command: Callable[[base.Queues, argparse.Namespace], None]
) -> None:
    parser.add_argument(
        '--project',
        metavar='ID',
        help='project that owns the queue, such as the project of a receiver'
        ' (default: none; zaqar: the project of its account)',
    )
    settings.add_options(parser)
    parser.set_defaults(run=lambda options: _run(command, options))


def _run(
    command: Callable[[base.Queues, argparse.Namespace], None],
    options: argparse.Namespace,
) -> int:
    from engine.db import database
    from engine.queues import base

    sources = settings.locate(options)
    conf = cli.configuration(sources.files, sources.directories)
    cli.announce(conf)
    target = database.Database(conf, create=False)
    try:
        command(base.load(conf, target), options)
    except base.QueueError as error:
        raise exceptions.VobjectsError(str(error)) from error
    finally:
        target.close()
    return 0


def _post(service: base.Queues, options: argparse.Namespace) -> None:
    service.post(options.project, options.queue, options.message)


def _show(service: base.Queues, options: argparse.Namespace) -> None:
    claim = service.claim(options.project, options.queue)
    bodies = [message.body for message in claim.messages]
    output.show(options, bodies, map(json.dumps, bodies))
    if claim.messages:
        service.release(options.project, options.queue, claim.id)


def _name(text: str) -> str:
    from engine.queues import base

    if not re.fullmatch(base.NAME, text):
        raise argparse.ArgumentTypeError(
            f'{exceptions.cut(text)} is not a name of up to 64 letters,'
            ' digits, - and _'
        )
    return text


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('not a JSON object')
    return value
