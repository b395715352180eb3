# SPDX-License-Identifier: Apache-2.0
"""The command ``vobjects queue``, which posts and shows messages."""

from __future__ import annotations

import argparse
import json
from typing import Any

from engine import cli, cli_options
from engine.db import database
from engine.queues import base
from vobjects import exceptions


def main(argv: list[str]) -> int:
    """Run ``vobjects queue``.

    :param argv: the arguments after ``queue``
    :returns: 0
    :raises vobjects.exceptions.VobjectsError: the queue service fails
    :raises oslo_config.cfg.Error: the configuration is invalid
    :raises SystemExit: raised by argparse
    """
    options = _parser().parse_args(argv)
    conf = cli.configuration(options.config_file)
    cli.announce(conf)
    target = database.Database(conf, create=False)
    try:
        options.run(base.load(conf, target), options)
    except base.QueueError as error:
        raise exceptions.VobjectsError(str(error)) from error
    finally:
        target.close()
    return 0


def _post(service: base.Queues, options: argparse.Namespace) -> None:
    service.post(options.project, options.queue, options.message)


def _show(service: base.Queues, options: argparse.Namespace) -> None:
    claim = service.claim(options.project, options.queue)
    for message in claim.messages:
        print(json.dumps(message.body))  # noqa: T201 - a command
    if claim.messages:
        service.release(options.project, options.queue, claim.id)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='vobjects queue',
        description='Post and show messages of the queue service that'
        ' [queues] driver selects.',
    )
    commands = parser.add_subparsers(
        title='commands', metavar='COMMAND', required=True
    )
    for name, run, summary in (
        ('post', _post, 'add a message to a queue'),
        (
            'show',
            _show,
            'print the messages that no consumer has claimed, as JSON',
        ),
    ):
        command = commands.add_parser(
            name,
            help=summary,
            description=cli_options.sentence(summary),
        )
        command.add_argument(
            'queue', metavar='QUEUE', help='name of the queue'
        )
        if run is _post:
            command.add_argument(
                'message',
                metavar='MESSAGE',
                type=_object,
                help='body of the message, as JSON',
            )
        command.add_argument(
            '--project',
            metavar='ID',
            help='project that owns the queue, such as the project of a'
            ' receiver (default: none; zaqar: the project of its account)',
        )
        cli_options.add_config_file(command)
        command.set_defaults(run=run)
    return parser


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('not a JSON object')
    return value
