# SPDX-License-Identifier: Apache-2.0
"""Follow a page of the documentation: create its files, run its commands.

A block with a caption is a file; blocks with the same caption are its parts. A
line of a console block that begins with ``$`` is a command. The lines below it
are its output, in which ``...`` stands for any text within a line. A command
without output must succeed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import time
import uuid
from collections.abc import Iterator, Mapping

from docutils import core, nodes
from docutils.parsers.rst import Directive, directives, roles
from sphinx.config import Config
from sphinx.directives.code import LiteralInclude, LiteralIncludeReader

from tests import machine_speed
from tests.examples import releases
from tests.functional.processes import ProcessGroup, kill_with_parent

#: Timeout in seconds of a command, and of its repetitions. Some commands
#: install packages.
TIMEOUT = 300 * machine_speed.scale()

#: Commands that only read. Processes that a page starts need time, so these
#: commands are repeated until their output is the expected one.
READING = (
    'curl -s ',
    'curl -si ',
    'openstack cluster action list ',
    'openstack cluster node list ',
    'openstack cluster policy binding list ',
    'openstack cluster show ',
    'vobjects fleet ',
)

#: Roles of Sphinx in the pages.
ROLES = ('doc',)


@dataclasses.dataclass(frozen=True)
class Block:
    """A literal block.

    :ivar caption: name of the file; empty for a console block
    """

    caption: str
    text: str


class CodeBlock(Directive):
    """A code block, for docutils alone."""

    option_spec = {'caption': directives.unchanged}
    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        text = '\n'.join(self.content) + '\n'
        caption = self.options.get('caption', '')
        return [
            nodes.literal_block(
                text, text, language=self.arguments[0], caption=caption
            )
        ]


class Include(Directive):
    """A file or a part of it, as Sphinx includes it."""

    option_spec = LiteralInclude.option_spec
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        page = pathlib.Path(self.state.document.current_source or '')
        path = page.parent / self.arguments[0]
        options = dict(self.options)
        text, _ = LiteralIncludeReader(str(path), options, Config()).read()
        caption = options.get('caption', '')
        return [nodes.literal_block(text, text, language='', caption=caption)]


def rst_blocks(path: pathlib.Path) -> Iterator[Block]:
    """Yield the files and the console blocks of a page in order."""
    directives.register_directive('code-block', CodeBlock)
    directives.register_directive('literalinclude', Include)
    for role in ROLES:
        roles.register_generic_role(role, nodes.emphasis)
    document = core.publish_doctree(
        path.read_text(),
        source_path=str(path),
        settings_overrides={'halt_level': 2, 'report_level': 2},
    )
    for node in document.findall(nodes.literal_block):
        console = node['language'] == 'console'
        assert bool(node['caption']) != console, node.astext()
        yield Block(node['caption'], node.astext())


def markdown_blocks(path: pathlib.Path) -> Iterator[Block]:
    """Yield the console blocks of a page in order."""
    for match in re.finditer(
        r'^```console\n(.*?)^```$', path.read_text(), re.DOTALL | re.MULTILINE
    ):
        yield Block('', match[1])


def commands(console: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a block, and the lines of its output."""
    for part in f'\n{textwrap.dedent(console).rstrip()}'.split('\n$ ')[1:]:
        lines = part.split('\n')
        length = 1
        while lines[length - 1].endswith('\\'):
            length += 1
        yield '\n'.join(lines[:length]), lines[length:]


class Shell:
    """A shell that runs one command after the other.

    :param directory: the working directory and the home directory
    :param group: to which the processes belong
    :param replaced: text of a page -> its replacement, which the output of
        commands never shows
    """

    def __init__(
        self,
        directory: pathlib.Path,
        group: ProcessGroup,
        replaced: Mapping[str, str],
    ) -> None:
        self._replaced = replaced
        environment = {**releases.environment(), **group.environment()}
        for name in ('PYTHONDONTWRITEBYTECODE', 'PYTHONPATH', 'VIRTUAL_ENV'):
            environment.pop(name, None)
        home = pathlib.Path.home()
        defaults = {
            'XDG_CACHE_HOME': str(home / '.cache'),
            'XDG_CONFIG_HOME': str(home / '.config'),
        }
        # The commands of this environment must not be on the path.
        path = [f'{sys.base_prefix}/bin', '/usr/local/bin', '/usr/bin', '/bin']
        self._process = subprocess.Popen(
            kill_with_parent(['/bin/bash', '--noprofile', '--norc']),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=directory,
            env={
                **defaults,
                **environment,
                'HOME': str(directory),
                'PATH': os.pathsep.join(path),
            },
        )

    def close(self) -> None:
        """End the shell, but not the processes that it started."""
        self._process.kill()
        self._process.communicate()

    def run(self, command: str) -> tuple[list[str], int]:
        """Run a command; return the lines of its output and its exit code.

        :raises AssertionError: it takes longer than :data:`TIMEOUT`
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        marker = f'exit-code-{uuid.uuid4().hex}'
        for text, replacement in self._replaced.items():
            command = command.replace(text, replacement)
        self._process.stdin.write(
            f"{{ {command}\n}} < /dev/null\nprintf '\\n{marker} %s\\n' $?\n"
        )
        self._process.stdin.flush()
        timer = threading.Timer(TIMEOUT, self._process.kill)
        timer.start()
        output = ''
        try:
            for line in self._process.stdout:
                if line.startswith(marker):
                    lines = output.rstrip().splitlines()
                    return [line.rstrip() for line in lines], int(
                        line.split()[1]
                    )
                output += line
        finally:
            timer.cancel()
        raise AssertionError(
            f'{command}: the shell ended, or {TIMEOUT} s passed:\n{output}'
        )

    def follow(self, blocks: Iterator[Block]) -> int:
        """Create the files and run the commands of a page.

        :returns: the number of commands
        :raises AssertionError: a command fails, or its output differs
        """
        count = 0
        captions = set()
        for block in blocks:
            if block.caption:
                self._write(block, append=block.caption in captions)
                captions.add(block.caption)
                continue
            for command, expected in commands(block.text):
                self._check(command, expected)
                count += 1
        return count

    def _write(self, block: Block, *, append: bool) -> None:
        text = block.text
        for original, replacement in self._replaced.items():
            text = text.replace(original, replacement)
        (directory,), _ = self.run('pwd')
        path = pathlib.Path(directory, block.caption)
        assert append or not path.exists(), f'{path} exists'
        with path.open('a') as file:
            file.write(text)

    def _check(self, command: str, expected: list[str]) -> None:
        deadline = time.monotonic() + TIMEOUT
        while True:
            start = time.monotonic()
            output, code = self.run(command)
            if _matches(self._restore(output), code, expected):
                return
            repeatable = command.startswith(READING) and not re.search(
                ' (-d|-X) ', command
            )
            if not repeatable or time.monotonic() > deadline:
                raise AssertionError(
                    f'{command}: exit code {code}, output:\n'
                    + '\n'.join(output)
                    + '\nexpected:\n'
                    + '\n'.join(expected)
                )
            # Leave at least half of the time to the processes of the page.
            time.sleep(max(0.2, time.monotonic() - start))

    def _restore(self, output: list[str]) -> list[str]:
        text = '\n'.join(output)
        for original, replacement in self._replaced.items():
            text = text.replace(replacement, original)
        return text.split('\n')


@contextlib.contextmanager
def shell(
    directory: pathlib.Path, replaced: Mapping[str, str]
) -> Iterator[Shell]:
    """Run a shell; no process that it started may be left.

    pip works without an index, and compiles no module that nobody imports.

    :param directory: see :class:`Shell`
    :param replaced: see :class:`Shell`
    """
    group = ProcessGroup(directory, str(directory))
    opened = Shell(directory, group, replaced)
    opened.run('export PIP_NO_INDEX=1 PIP_NO_COMPILE=1')
    try:
        yield opened
    finally:
        opened.close()
        problems = group.close()
    assert problems == []


def _matches(output: list[str], code: int, expected: list[str]) -> bool:
    if not expected:
        return code == 0
    return len(output) == len(expected) and all(
        re.fullmatch(re.escape(line.rstrip()).replace(r'\.\.\.', '.*'), shown)
        for line, shown in zip(expected, output, strict=True)
    )
