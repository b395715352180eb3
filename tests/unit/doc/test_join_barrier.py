# SPDX-License-Identifier: Apache-2.0
"""Exhaustive search of the model of leases and the join barrier.

``spin`` generates a program that visits every reachable state of
``doc/model/join_barrier.pml``.
"""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from tests import requirements

MODEL = pathlib.Path(__file__).parents[3] / 'doc/model/join_barrier.pml'

#: Options of the compiler and of the search, for each property.
SAFETY = ('-DSAFETY', '-DNOCLAIM'), ('-E',)
#: With weak fairness: a process that can always take a step takes one.
LIVENESS = ('-DNFAIR=4',), ('-a', '-f')

#: Limit of the depth of the search. A search that reaches it is incomplete.
DEPTH = 100_000

#: One sender suffices: in the model, senders do not affect each other.
SMALL = ('SENDERS=1', 'JOINERS=1')
TWO_SERVERS = ('SENDERS=1', 'JOINERS=2')


@pytest.fixture(autouse=True, scope='module')
def _spin() -> None:
    requirements.programs('spin', 'gcc')


@pytest.mark.parametrize(
    'size',
    [
        pytest.param(
            ('SENDERS=2', 'JOINERS=1', 'LEASE=2'), marks=pytest.mark.long
        ),
        pytest.param(TWO_SERVERS, marks=pytest.mark.long),
        SMALL,
    ],
    ids=' '.join,
)
def test_model_all_schedules_no_sender_exceeds_an_up_server(
    size: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    assert errors(tmp_path, SAFETY, *size) == 0


@pytest.mark.parametrize(
    'size',
    [
        SMALL,
        pytest.param((*TWO_SERVERS, 'LEASE=2'), marks=pytest.mark.long),
    ],
    ids=' '.join,
)
def test_model_all_fair_schedules_every_barrier_ends(
    size: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    assert errors(tmp_path, LIVENESS, *size) == 0


@pytest.mark.parametrize(
    'variant',
    [
        (*SMALL, 'NO_BARRIER'),
        (*SMALL, 'BARRIER=2'),
        (*SMALL, 'DEAD_AFTER=2'),
        (*SMALL, 'REAPER_LOOKS_ONCE'),
        (*SMALL, 'LEASE_FROM_ANSWER'),
        (*SMALL, 'CAP_FROM_UP_SERVERS'),
        pytest.param(
            (*TWO_SERVERS, 'TRUST_JOINING_SERVERS'), marks=pytest.mark.long
        ),
    ],
    ids=lambda variant: variant[-1],
)
def test_model_weaker_protocol_has_a_counterexample(
    variant: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    assert errors(tmp_path, SAFETY, *variant) == 1


def test_model_barrier_without_a_limit_has_an_endless_schedule(
    tmp_path: pathlib.Path,
) -> None:
    assert errors(tmp_path, LIVENESS, *SMALL, 'ENDLESS_BARRIER') == 1


def errors(
    directory: pathlib.Path,
    search: tuple[tuple[str, ...], tuple[str, ...]],
    *macros: str,
    model: pathlib.Path = MODEL,
) -> int:
    """Search all states, and return the number of counterexamples, 0 or 1.

    :param macros: variant of the model
    """
    compile_options, options = search

    def run(*command: str) -> str:
        return subprocess.run(
            command,
            cwd=directory,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ).stdout

    run('spin', '-a', *(f'-D{macro}' for macro in macros), str(model))
    # To optimize takes longer than to search a small model.
    is_large = {'SENDERS=2', 'JOINERS=2'} & set(macros)
    level = '-O2' if is_large else '-O0'
    run('gcc', level, '-w', '-DCOLLAPSE', *compile_options, 'pan.c', '-o', 'p')
    report = run('./p', f'-m{DEPTH}', *options)
    assert 'search depth too small' not in report, report
    found = re.search(r'errors: (\d+)', report)
    assert found, report
    return int(found[1])
