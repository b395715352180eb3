# SPDX-License-Identifier: Apache-2.0

from vobjects_contract.changes import compare as compare
from vobjects_contract.openapi import document as document
from vobjects_contract.registry import Contract as Contract
from vobjects_contract.registry import Operation as Operation
from vobjects_contract.standard_schemas import (
    discovery_operations as discovery_operations,
)
from vobjects_contract.type_schemas import closed as closed
from vobjects_contract.type_schemas import list_of as list_of
from vobjects_contract.type_schemas import resource as resource
from vobjects_contract.typed_routes import TypedRoute as TypedRoute
from vobjects_contract.typed_routes import (
    operations as typed_operations,  # noqa: F401
)
