# SPDX-License-Identifier: Apache-2.0
"""Apply the checks to the trees of a bug."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterable, Iterator

from recall.adapters import PROJECTS, Project
from recall.bugs import Bug
from recall.trees import CommandFailed, Environment, Trees
from tests.adoption import state
from tests.adoption.state import Finding
from vobjects import exceptions
from vobjects.lock import check, parse
from vobjects.testing import cross_release


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a bug.

    :ivar found_by: findings for the parent that the fix does not have
    :ivar alarms: findings for the fix
    :ivar problems: why trees or checks could not be used
    """

    bug: Bug
    found_by: tuple[Finding, ...] = ()
    alarms: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether a finding that the fix does not have names the bug."""
        return bool(self.found_by)


def outcome(
    bug: Bug,
    parent: Iterable[Finding],
    fix: Iterable[Finding],
    problems: Iterable[str] = (),
) -> Outcome:
    """Compare the findings for the parent with those for the fix."""
    before, after = _by_subject(parent), _by_subject(fix)
    return Outcome(
        bug,
        tuple(
            before[key]
            for key in sorted(before.keys() - after.keys())
            if before[key].type in bug.subjects
        ),
        tuple(after[key] for key in sorted(after)),
        tuple(dict.fromkeys(problems)),
    )


def _by_subject(findings: Iterable[Finding]) -> dict[tuple[str, ...], Finding]:
    """Return one finding for all releases that a tree was compared with."""
    return {
        (item.check, item.code, item.type, item.field): item
        for item in findings
        if item.severity != 'note'
    }


def measure(bug: Bug, trees: Trees) -> Outcome:
    """Apply the checks to the trees of a bug."""
    project = PROJECTS.get(bug.project)
    if project is None:
        return Outcome(bug, problems=('no adapter: no versioned types',))
    try:
        parent, fix = (
            trees.tree(bug, project, revision)
            for revision in trees.commits(bug)
        )
        write_lock(parent, project)
        write_lock(fix, project)
    except CommandFailed as error:
        return Outcome(bug, problems=(_summary(error),))
    problems: list[str] = []
    older = []
    for tag in bug.before:
        try:
            release = trees.tree(bug, project, tag)
            write_lock(release, project)
        except CommandFailed as error:
            problems.append(f'{tag}: {_summary(error)}')
        else:
            older.append(release)
    if not older:
        problems.append('no release before the fix can be read')
    findings = [
        list(_findings(older, tree, project, problems))
        for tree in (parent, fix)
    ]
    return outcome(bug, findings[0], findings[1], problems)


def lock_of(tree: Environment) -> pathlib.Path:
    """Return the path of a tree's lock."""
    return tree.directory / 'vobjects.lock'


def write_lock(tree: Environment, project: Project) -> None:
    """Write the lock of a tree once.

    :raises CommandFailed: its types cannot be imported
    """
    if lock_of(tree).exists():
        return
    tree.run(
        *('-m', 'recall.inside', str(lock_of(tree))),
        *project.imports,
        *(('--models',) if project.models else ()),
        cwd=tree.directory,
    )


def _findings(
    older: list[Environment],
    tree: Environment,
    project: Project,
    problems: list[str],
) -> Iterator[Finding]:
    """Yield the findings for a tree, compared with each older release."""
    for release in older:
        checks = [_model_findings(release, tree)]
        if not project.models:
            locks = {each.release: lock_of(each) for each in (release, tree)}
            checks = [
                state.lock_findings(release, tree, locks),
                _invariant_findings(release, tree),
                *(
                    _transfer_findings(release, tree, project, convert)
                    for convert in (True, False)
                    if convert or not project.converts
                ),
            ]
        for findings in checks:
            try:
                yield from findings
            except (CommandFailed, exceptions.VobjectsError) as error:
                problems.append(f'{tree.release[:12]}: {_summary(error)}')


def _model_findings(old: Environment, new: Environment) -> Iterator[Finding]:
    result = check.diff(parse.load(lock_of(old)), parse.load(lock_of(new)))
    for item in result.failing:
        subject = (item.rule.id, 'error', item.type_name, item.field)
        yield Finding(
            'lock', old.release, new.release, *subject, item.description
        )


def _invariant_findings(
    old: Environment, new: Environment
) -> Iterator[Finding]:
    yield from state.invariant_findings(old, new, lock_of(old))[1]


def _transfer_findings(
    old: Environment, new: Environment, project: Project, convert: bool
) -> Iterator[Finding]:
    name = 'matrix' if convert else 'unconverted'
    transfers = cross_release.transfer_all(
        old.directory, new.directory, project.imports, convert=convert
    )
    yield from state.transfer_findings(name, old, new, transfers)


def _summary(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][:200]
