# SPDX-License-Identifier: Apache-2.0
"""Apply the checks to the trees of a bug."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterator

from recall.adapters import PROJECTS, Project
from recall.bugs import Bug
from recall.trees import CommandFailed, Environment, Trees
from vobjects import exceptions
from vobjects.lock import check, parse
from vobjects.testing import cross_release


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A problem that a check reports.

    :ivar check: ``lock``, ``matrix``, ``unconverted`` or ``invariants``
    :ivar code: the rule, the outcome and direction, or the invariant
    :ivar before: the release that a tree was compared with
    """

    check: str
    code: str
    type: str
    field: str
    before: str = dataclasses.field(compare=False)
    detail: str = dataclasses.field(compare=False)

    def __str__(self) -> str:
        subject = '.'.join(filter(None, (self.type, self.field)))
        return f'{self.check} {self.code} {subject} (from {self.before})'


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
    parent: frozenset[Finding],
    fix: frozenset[Finding],
    problems: tuple[str, ...] = (),
) -> Outcome:
    """Compare the findings for the parent with those for the fix."""
    gone = (item for item in parent - fix if item.type in bug.subjects)
    return Outcome(bug, tuple(sorted(gone)), tuple(sorted(fix)), problems)


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
    found = [
        frozenset(_findings(older, tree, project, problems))
        for tree in (parent, fix)
    ]
    return outcome(bug, found[0], found[1], tuple(dict.fromkeys(problems)))


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
    if project.models:
        for release in older:
            yield from _model_findings(release, tree)
        return
    checks = [_lock_findings(older, tree, project)]
    for release in older:
        for convert in (True, False)[: 1 if project.converts else 2]:
            checks.append(_transfer_findings(release, tree, project, convert))
    for findings in checks:
        try:
            for finding in findings:
                if finding.check == 'error':
                    problems.append(str(finding))
                else:
                    yield finding
        except (CommandFailed, exceptions.VobjectsError) as error:
            problems.append(f'{tree.release[:12]}: {_summary(error)}')


def _model_findings(old: Environment, new: Environment) -> Iterator[Finding]:
    result = check.diff(parse.load(lock_of(old)), parse.load(lock_of(new)))
    for item in result.failing:
        yield Finding(
            'lock',
            item.rule.id,
            item.type_name,
            item.field,
            old.release,
            item.description,
        )


def _lock_findings(
    older: list[Environment], new: Environment, project: Project
) -> Iterator[Finding]:
    """Yield what the lock check and the invariants report in the new tree."""
    if not older:
        return
    releases = {str(lock_of(item)): item.release for item in older}
    output = new.run(
        *('-m', 'recall.inside_checks', *releases, '--', *project.imports),
        cwd=new.directory,
    )
    for item in json.loads(output):
        yield Finding(**{**item, 'before': releases[item['before']]})


def _transfer_findings(
    old: Environment, new: Environment, project: Project, convert: bool
) -> Iterator[Finding]:
    for item in cross_release.transfer_all(
        old.directory, new.directory, project.imports, convert=convert
    ):
        if item.outcome == 'fine' or item.severity == 'note':
            continue
        fields = ['']
        if item.outcome in ('lost', 'mislabelled'):
            fields = item.detail.split(', ')
        for field in fields:
            yield Finding(
                'matrix' if convert else 'unconverted',
                f'{item.outcome} {item.direction}',
                item.type_name,
                field,
                old.release,
                f'{item.detail}; {item.reason}',
            )


def _summary(error: Exception) -> str:
    return str(error).strip().splitlines()[-1][:200]
