# SPDX-License-Identifier: Apache-2.0
"""How to read the types of each project; nothing about a bug."""

from __future__ import annotations

from typing import NamedTuple


class Project(NamedTuple):
    """How to read the types of a project.

    :ivar imports: the code that registers objects of oslo.versionedobjects,
        see :func:`vobjects.lock.registries.load`; or packages of models
    :ivar packages: the top-level packages of its source
    :ivar keep: packages without placeholders: those with the types
    :ivar requirements: distributions to install, for their dependencies
    :ivar models: whether the types are pydantic models
    :ivar converts: whether the service passes the version of a peer to
        conversions
    :ivar source: the directory of the packages in the repository
    """

    imports: tuple[str, ...]
    packages: tuple[str, ...]
    keep: tuple[str, ...]
    requirements: tuple[str, ...]
    models: bool = False
    converts: bool = True
    source: str = '.'


def _service(
    name: str, imports: str, distribution: str = '', converts: bool = True
) -> Project:
    """Return a service of OpenStack, whose dependencies have one set."""
    return Project(
        (imports,),
        (name,),
        (f'{name}.objects', f'{name}.db.api'),
        (distribution or name, *_COMMON),
        converts=converts,
    )


#: What older releases need of their time.
_COMMON = ('six', 'setuptools<81', 'fixtures', 'testtools')

PROJECTS = {
    'cinder': _service('cinder', 'cinder.objects:register_all'),
    'designate': _service('designate', 'designate.objects', converts=False),
    'ironic': _service('ironic', 'ironic.objects:register_all'),
    'neutron': _service('neutron', 'neutron.objects.*'),
    'nova': _service('nova', 'nova.objects:register_all'),
    'senlin': _service('senlin', 'senlin.objects.*', converts=False),
    'zun': _service('zun', 'zun.objects', converts=False),
    'dstack': Project(
        (
            'dstack._internal.core.models.*',
            'dstack._internal.server.schemas.*',
        ),
        ('dstack',),
        ('dstack._internal.core', 'dstack._internal.server.schemas'),
        ('dstack[server]==0.19.40',),
        models=True,
        source='src',
    ),
    'airflow': Project(
        ('airflow.api_fastapi.execution_api.datamodels.*',),
        ('airflow',),
        ('airflow.api_fastapi.execution_api',),
        ('apache-airflow==3.0.2',),
        models=True,
        source='airflow-core/src',
    ),
    'skypilot': Project(
        ('sky.server.requests.payloads',),
        ('sky',),
        ('sky.server.requests',),
        ('skypilot==0.10.0',),
        models=True,
    ),
}
