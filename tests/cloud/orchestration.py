# SPDX-License-Identifier: Apache-2.0
"""Fake Heat: stacks without resources."""

from __future__ import annotations

from typing import Any

import flask

from tests import cloud as fake

STORED_FIELDS = (
    'template',
    'template_url',
    'parameters',
    'files',
    'environment',
    'timeout_mins',
    'disable_rollback',
)


def serve(app: flask.Flask, cloud: fake.Cloud) -> None:
    """Add the API to an application."""

    @app.get('/heat/v1')
    def heat_version() -> Any:
        return '', 300

    @app.get('/heat/v1/stacks')
    def stacks() -> Any:
        tags = set(flask.request.args.get('tags', '').split(',')) - {''}
        with cloud.lock:
            matches = [
                shown(stack)
                for stack in cloud.stacks.values()
                if tags <= set(stack['tags'])
            ]
        return {'stacks': matches}

    @app.post('/heat/v1/stacks')
    def create_stack() -> Any:
        body = flask.request.get_json()
        trust = cloud.trust_of(flask.request.headers['X-Auth-Token'])
        if trust is not None and not trust.get('allow_redelegation'):
            # Heat creates a trust, which Keystone forbids.
            fake.abort(500, 'Internal Server Error')
        with cloud.lock:
            names = [stack['stack_name'] for stack in cloud.stacks.values()]
            if body['stack_name'] in names:
                fake.abort(409, 'The Stack already exists.')
            if cloud.names_of_deleted_stacks.get(body['stack_name']):
                cloud.names_of_deleted_stacks[body['stack_name']] -= 1
                fake.abort(409, 'The Stack already exists.')
            stack = {
                'id': fake.new_id(),
                'stack_name': body['stack_name'],
                'tags': (body.get('tags') or '').split(','),
                **{key: body.get(key) for key in STORED_FIELDS},
            }
            cloud.stacks[stack['id']] = stack
            begin(cloud, stack, 'CREATE')
        return {'stack': {'id': stack['id'], 'links': []}}, 201

    @app.get('/heat/v1/stacks/<name_or_id>')
    def find_stack(name_or_id: str) -> Any:
        if cloud.names_of_deleted_stacks.get(name_or_id):
            return {'stack': {'stack_status': 'DELETE_COMPLETE'}}
        by_name = {s['stack_name']: s for s in cloud.stacks.values()}
        stack = fake.get_or_404(
            cloud.stacks | by_name, name_or_id, 'The Stack'
        )
        path = f'/heat/v1/stacks/{stack["stack_name"]}/{stack["id"]}'
        return '', 302, {'Location': cloud.url + path}

    @app.get('/heat/v1/stacks/<name>/<id_>')
    def stack(name: str, id_: str) -> Any:
        with cloud.lock:
            stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            step(cloud, stack)
            fake.get_or_404(cloud.stacks, id_, 'The Stack')
            return {'stack': shown(stack)}

    @app.put('/heat/v1/stacks/<name>/<id_>')
    def update_stack(name: str, id_: str) -> Any:
        body = flask.request.get_json()
        with cloud.lock:
            stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            if stack['steps_left']:
                fake.abort(409, f'Stack {name} already has an action.')
            stack.update({key: body.get(key) for key in STORED_FIELDS})
            begin(cloud, stack, 'UPDATE')
        return '', 202

    @app.delete('/heat/v1/stacks/<name>/<id_>')
    def delete_stack(name: str, id_: str) -> Any:
        with cloud.lock:
            stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            begin(cloud, stack, 'DELETE')
        return '', 204

    @app.post('/heat/v1/stacks/<name>/<id_>/actions')
    def check_stack(name: str, id_: str) -> Any:
        if 'check' not in flask.request.get_json():
            fake.abort(400, 'no such action')
        with cloud.lock:
            stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
            begin(cloud, stack, 'CHECK')
        return '', 201

    @app.delete('/heat/v1/stacks/<name>/<id_>/abandon')
    def abandon(name: str, id_: str) -> Any:
        stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
        del cloud.stacks[id_]
        return shown(stack)

    @app.get(
        '/heat/v1/stacks/<name>/<id_>/<any(template,environment,files):part>'
    )
    def part(name: str, id_: str, part: str) -> Any:
        stack = fake.get_or_404(cloud.stacks, id_, 'The Stack')
        return stack[part] or {}


def shown(stack: fake.Json) -> fake.Json:
    """Return the representation of a stack."""
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
            {'output_key': key, 'output_value': output['value']}
            for key, output in outputs.items()
        ],
    }


def begin(cloud: fake.Cloud, stack: fake.Json, action: str) -> None:
    """Start an action on a stack.

    The actions in ``fails`` of the template fail.
    """
    stack.update(
        {
            'stack_status': f'{action}_IN_PROGRESS',
            'stack_status_reason': f'Stack {action} started',
            'steps_left': cloud.steps,
        }
    )


def step(cloud: fake.Cloud, stack: fake.Json) -> None:
    """Advance the action on a stack by one step."""
    if not stack['steps_left']:
        return
    stack['steps_left'] -= 1
    if stack['steps_left']:
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
        cloud.names_of_deleted_stacks[stack['stack_name']] = cloud.steps
