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
from vobjects_releases import comparison
from vobjects_releases.transfers import transfer_all


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a bug.

    :ivar found_by: findings for the parent that the fix does not have
    :ivar alarms: findings for the fix
    :ivar others: findings for the parent only, which concern other subjects
    :ivar problems: why trees or checks could not be used
    """

    bug: Bug
    found_by: tuple[Finding, ...] = ()
    alarms: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
    others: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, one for each rule, type and field."""
        return (*self.found_by, *self.alarms, *self.others)

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
    gone = [before[key] for key in sorted(before.keys() - after.keys())]
    return Outcome(
        bug,
        tuple(item for item in gone if _concerns(item, bug)),
        tuple(after[key] for key in sorted(after)),
        tuple(dict.fromkeys(problems)),
        tuple(item for item in gone if not _concerns(item, bug)),
    )


def _concerns(finding: Finding, bug: Bug) -> bool:
    """Return whether a finding, or a part of its name, is a subject.

    For example, ``orders._create`` concerns ``create``.
    """
    parts = {part.lstrip('_') for part in finding.type.split('.')}
    return not parts.isdisjoint(bug.subjects) or finding.type in bug.subjects


def _by_subject(findings: Iterable[Finding]) -> dict[tuple[str, ...], Finding]:
    """Return one finding for all releases that a tree was compared with."""
    return {
        (item.check, item.code, item.type, item.field): item
        for item in findings
        if item.severity != 'note'
    }


def measure(bug: Bug, trees: Trees, run_code: bool = True) -> Outcome:
    """Apply the checks to the trees of a bug.

    :param run_code: also apply the checks that import the code
    """
    problems: list[str] = []
    try:
        revisions = trees.commits(bug)
        source = _source_findings(bug, trees, revisions, problems)
    except (CommandFailed, exceptions.VobjectsError) as error:
        return Outcome(bug, problems=(_summary(error),))
    project = PROJECTS.get(bug.project)
    if project is not None and run_code:
        for found, more in zip(
            source,
            _run_findings(bug, trees, project, revisions, problems),
            strict=True,
        ):
            found += more
    return outcome(bug, source[0], source[1], problems)


def _source_findings(
    bug: Bug, trees: Trees, revisions: Iterable[str], problems: list[str]
) -> list[list[Finding]]:
    """Return the findings of ``vobjects releases`` for parent and fix.

    A bug without releases before it is compared with itself, which applies
    the rules that need one tree.
    """
    parent, fix = (
        comparison.Release(trees.code(bug, item)) for item in revisions
    )
    findings: list[list[Finding]] = [[], []]
    for tag in bug.before or ('',):
        try:
            older = comparison.Release(trees.code(bug, tag)) if tag else parent
        except (CommandFailed, exceptions.VobjectsError) as error:
            problems.append(f'{tag}: {_summary(error)}')
            continue
        for found, tree in zip(findings, (parent, fix), strict=True):
            found += [
                Finding(
                    'releases',
                    tag,
                    str(tree.tree.root),
                    item.rule.id,
                    item.severity,
                    item.subject,
                    item.field,
                    f'{item.description} ({item.location})',
                )
                for item in comparison.compare(older, tree)
            ]
    return findings


def _run_findings(
    bug: Bug,
    trees: Trees,
    project: Project,
    revisions: Iterable[str],
    problems: list[str],
) -> list[list[Finding]]:
    """Return the findings of the checks that import the types."""
    try:
        parent, fix = (
            trees.tree(bug, project, revision) for revision in revisions
        )
        write_lock(parent, project)
        write_lock(fix, project)
    except CommandFailed as error:
        problems.append(_summary(error))
        return [[], []]
    older = []
    for tag in bug.before:
        try:
            release = trees.tree(bug, project, tag)
            write_lock(release, project)
        except CommandFailed as error:
            problems.append(f'{tag}: {_summary(error)}')
        else:
            older.append(release)
    return [
        list(_findings(older, tree, project, problems))
        for tree in (parent, fix)
    ]


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
    transfers = transfer_all(
        old.directory, new.directory, project.imports, convert=convert
    )
    yield from state.transfer_findings(name, old, new, transfers)


def _summary(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1][:200]
