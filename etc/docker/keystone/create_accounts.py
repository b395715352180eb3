#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Create the service's account and its endpoint in Keystone.

The program changes nothing that exists, except for the account's password. It
logs in with the variables of the ``openstack`` command.
"""

import os

import openstack

DOMAIN = 'default'
NAME = 'vobjects'


def main() -> None:
    identity = openstack.connect().identity
    password = os.environ['SERVICE_PASSWORD']
    project = identity.find_project(
        'service', domain_id=DOMAIN
    ) or identity.create_project(name='service', domain_id=DOMAIN)
    user = identity.find_user(NAME, domain_id=DOMAIN) or identity.create_user(
        name=NAME, domain_id=DOMAIN
    )
    identity.update_user(user, password=password)
    role = identity.find_role('service')
    identity.assign_project_role_to_user(project, user, role)
    service = identity.find_service('senlin') or identity.create_service(
        name='senlin', type='clustering'
    )
    if not any(identity.endpoints(service_id=service.id)):
        identity.create_endpoint(
            service_id=service.id,
            interface='public',
            region_id=os.environ['OS_REGION_NAME'],
            url=os.environ['SERVICE_URL'],
        )


if __name__ == '__main__':
    main()
