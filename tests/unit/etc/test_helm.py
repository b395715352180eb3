# SPDX-License-Identifier: Apache-2.0
"""The Helm chart, rendered by Helm and checked with Kubernetes' schemas."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from tests.unit.etc import helm

#: A custom resource, which Kubernetes' own schemas lack.
CUSTOM = 'PodMonitor'


def only(manifests: list[dict[str, Any]], kind: str, name: str) -> Any:
    """Return the manifest of a kind and a name."""
    (found,) = (
        manifest
        for manifest in manifests
        if manifest['kind'] == kind and manifest['metadata']['name'] == name
    )
    return found


@pytest.mark.parametrize('values', [helm.REQUIRED, helm.ALL | helm.REQUIRED])
def test_chart_has_no_finding(values: dict[str, Any]) -> None:
    linted = helm.helm('lint', values)
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.parametrize('version', ['1.27', '1.33'])
@pytest.mark.parametrize('values', [{}, helm.ALL], ids=['least', 'all'])
def test_manifests_are_valid(version: str, values: dict[str, Any]) -> None:
    manifests = helm.manifests(**values)
    assert len(manifests) >= 9
    for manifest in manifests:
        if manifest['kind'] != CUSTOM:
            kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'broker': {'url': ''}}, 'set broker.url or existingSecret'),
        ({'database': {'url': ''}}, 'set database.url or existingSecret'),
        ({'broker': {'url': 'mq:5672'}}, '/broker/url'),
        ({'engine': {'replicas': 0}}, '/engine/replicas'),
        ({'engin': {'replicas': 2}}, 'engin'),
        ({'ingress': {'hosts': ['a']}}, 'hosts'),
    ],
)
def test_invalid_values_are_rejected(
    values: dict[str, Any], message: str
) -> None:
    rendered = helm.helm('template', {**helm.REQUIRED, **values})
    assert rendered.returncode != 0
    assert message in rendered.stderr


def test_selectors_find_the_pods_of_their_component() -> None:
    manifests = helm.manifests(**helm.ALL)
    pods = {
        name: only(manifests, 'Deployment', f'r-{name}')['spec']['template']
        for name in ('api', 'engine')
    }
    selectors = {
        (manifest['kind'], manifest['metadata']['name']): selector
        for manifest in manifests
        if isinstance(selector := select(manifest), dict)
    }
    assert len(selectors) == 9
    for (_, name), selector in selectors.items():
        component = name.removeprefix('r-')
        assert (
            selector.items() <= pods[component]['metadata']['labels'].items()
        )
        (other,) = {*pods} - {component}
        assert (
            not selector.items() <= pods[other]['metadata']['labels'].items()
        )


def select(manifest: dict[str, Any]) -> Any:
    """Return the labels that a manifest selects pods by."""
    spec = manifest.get('spec', {})
    selector = spec.get('podSelector', spec.get('selector'))
    return selector and selector.get('matchLabels', selector)


def test_secret_exists_before_the_database_is_expanded() -> None:
    manifests = helm.manifests(upgrade={'contract': True})
    hooks = {
        manifest['metadata']['name']: manifest['metadata']['annotations']
        for manifest in manifests
        if 'helm.sh/hook' in manifest['metadata'].get('annotations', {})
    }
    assert {name: hook['helm.sh/hook'] for name, hook in hooks.items()} == {
        'r-configuration': 'pre-install,pre-upgrade,pre-rollback',
        'r-expand': 'pre-install,pre-upgrade',
        'r-contract': 'post-upgrade',
    }
    assert int(hooks['r-configuration']['helm.sh/hook-weight']) < 0


def test_secret_of_the_operator_replaces_that_of_the_chart() -> None:
    manifests = helm.manifests(
        existingSecret='ours', broker={'url': ''}, database={'url': ''}
    )
    assert not [m for m in manifests if m['kind'] == 'Secret']
    pod = only(manifests, 'Deployment', 'r-engine')['spec']['template']['spec']
    assert pod['volumes'][0]['secret']['secretName'] == 'ours'
    (container,) = pod['containers']
    names = {
        variable['valueFrom']['secretKeyRef']['name']
        for variable in container['env']
        if 'valueFrom' in variable
    }
    assert names == {'ours'}


def test_metrics_of_apis_are_scraped_but_not_published() -> None:
    manifests = helm.manifests(**helm.ALL)
    ingress = only(manifests, 'Ingress', 'r-api')
    paths = ingress['spec']['rules'][0]['http']['paths']
    assert {path['path']: path['pathType'] for path in paths} == {
        '/': 'Exact',
        '/ui': 'Prefix',
        '/v1': 'Prefix',
    }
    for name, port in (('api', 8777), ('engine', 9101)):
        template = only(manifests, 'Deployment', f'r-{name}')['spec'][
            'template'
        ]
        annotations = template['metadata']['annotations']
        assert annotations['prometheus.io/port'] == str(port)
        (container,) = template['spec']['containers']
        (named,) = container['ports']
        assert named['containerPort'] == port
        monitor = only(manifests, CUSTOM, f'r-{name}')['spec']
        assert monitor['podMetricsEndpoints'][0]['port'] == named['name']
    api = only(manifests, 'Deployment', 'r-api')
    assert {'name': 'OS_API__METRICS', 'value': 'all'} in (
        api['spec']['template']['spec']['containers'][0]['env']
    )


def test_dashboard_is_that_for_grafana() -> None:
    manifest = only(helm.manifests(**helm.ALL), 'ConfigMap', 'r-dashboard')
    assert manifest['metadata']['labels']['grafana_dashboard'] == '1'
    file = helm.CHART.parents[1] / 'grafana' / 'vobjects.json'
    assert manifest['data'] == {'vobjects.json': file.read_text()}


def test_number_of_engines_belongs_to_the_autoscaler() -> None:
    fixed = only(helm.manifests(), 'Deployment', 'r-engine')
    assert fixed['spec']['replicas'] == 2
    scaled = only(helm.manifests(**helm.ALL), 'Deployment', 'r-engine')
    assert 'replicas' not in scaled['spec']
