# SPDX-License-Identifier: Apache-2.0
"""Heat: stacks that are made of nothing."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

KEPT = (
    'template',
    'template_url',
    'parameters',
    'files',
    'environment',
    'timeout_mins',
    'disable_rollback',
)


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API."""

    @app.get('/heat/v1')
    def heat_version() -> Any:
        return '', 300

    @app.get('/heat/v1/stacks')
    def stacks() -> Any:
        tags = set(flask.request.args.get('tags', '').split(',')) - {''}
        with cloud.lock:
            found = [
                shown(stack)
                for stack in cloud.stacks.values()
                if tags <= set(stack['tags'])
            ]
        return {'stacks': found}

    @app.post('/heat/v1/stacks')
    def create_stack() -> Any:
        sent = flask.request.get_json()
        with cloud.lock:
            names = [one['stack_name'] for one in cloud.stacks.values()]
            if sent['stack_name'] in names:
                fake.abort(409, 'The Stack already exists.')
            stack = {
                'id': fake.new_id(),
                'stack_name': sent['stack_name'],
                'tags': (sent.get('tags') or '').split(','),
                **{key: sent.get(key) for key in KEPT},
            }
            cloud.stacks[stack['id']] = stack
            begin(cloud, stack, 'CREATE')
        return {'stack': {'id': stack['id'], 'links': []}}, 201

    @app.get('/heat/v1/stacks/<id_>')
    def find_stack(id_: str) -> Any:
        found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
        path = f'/heat/v1/stacks/{found["stack_name"]}/{id_}'
        return '', 302, {'Location': cloud.url + path}

    @app.get('/heat/v1/stacks/<name>/<id_>')
    def stack(name: str, id_: str) -> Any:
        with cloud.lock:
            found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            step(cloud, found)
            fake.get_or_404(cloud.stacks, id_, 'The Stack')
            return {'stack': shown(found)}

    @app.put('/heat/v1/stacks/<name>/<id_>')
    def update_stack(name: str, id_: str) -> Any:
        sent = flask.request.get_json()
        with cloud.lock:
            found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            if found['left']:
                fake.abort(409, f'Stack {name} already has an action.')
            found.update({key: sent.get(key) for key in KEPT})
            begin(cloud, found, 'UPDATE')
        return '', 202

    @app.delete('/heat/v1/stacks/<name>/<id_>')
    def delete_stack(name: str, id_: str) -> Any:
        with cloud.lock:
            found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            begin(cloud, found, 'DELETE')
        return '', 204

    @app.post('/heat/v1/stacks/<name>/<id_>/actions')
    def check_stack(name: str, id_: str) -> Any:
        if 'check' not in flask.request.get_json():
            fake.abort(400, 'no such action')
        with cloud.lock:
            found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            begin(cloud, found, 'CHECK')
        return '', 201

    @app.delete('/heat/v1/stacks/<name>/<id_>/abandon')
    def abandon(name: str, id_: str) -> Any:
        found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
        del cloud.stacks[id_]
        return shown(found)

    @app.get(
        '/heat/v1/stacks/<name>/<id_>/<any(template,environment,files):part>'
    )
    def part(name: str, id_: str, part: str) -> Any:
        found = fake.get_or_404(cloud.stacks, id_, 'The Stack')
        return found[part] or {}


def shown(stack: fake.Json) -> fake.Json:
    """Return a stack as it is shown."""
    outputs = (stack['template'] or {}).get('outputs') or {}
    return {
        'id': stack['id'],
        'stack_name': stack['stack_name'],
        'stack_status': stack['stack_status'],
        'stack_status_reason': stack['stack_status_reason'],
        'tags': stack['tags'],
        'parameters': {
            'OS::stack_id': stack['id'],
            **(stack['parameters'] or {}),
        },
        'timeout_mins': stack['timeout_mins'],
        'disable_rollback': stack['disable_rollback'],
        'outputs': [
            {'output_key': key, 'output_value': one['value']}
            for key, one in outputs.items()
        ],
    }


def begin(cloud: fake.Cloud, stack: fake.Json, action: str) -> None:
    """Begin something that takes a few looks.

    A template says by ``fails`` which actions fail.
    """
    stack.update(
        {
            'stack_status': f'{action}_IN_PROGRESS',
            'stack_status_reason': f'Stack {action} started',
            'left': cloud.steps,
        }
    )


def step(cloud: fake.Cloud, stack: fake.Json) -> None:
    """Have a stack come closer to the end of what is done with it."""
    if not stack['left']:
        return
    stack['left'] -= 1
    if stack['left']:
        return
    action = stack['stack_status'].partition('_')[0]
    if action in (stack['template'] or {}).get('fails', ()):
        stack['stack_status'] = f'{action}_FAILED'
        stack['stack_status_reason'] = 'Resource failed: no more disks'
        return
    stack['stack_status'] = f'{action}_COMPLETE'
    stack['stack_status_reason'] = f'Stack {action} completed successfully'
    if action == 'DELETE':
        del cloud.stacks[stack['id']]
