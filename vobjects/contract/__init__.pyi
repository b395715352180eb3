# SPDX-License-Identifier: Apache-2.0

from vobjects.contract.changes import compare as compare
from vobjects.contract.openapi import document as document
from vobjects.contract.registry import Contract as Contract
from vobjects.contract.registry import Operation as Operation
from vobjects.contract.standard_schemas import (
    discovery_operations as discovery_operations,
)
from vobjects.contract.type_schemas import closed as closed
from vobjects.contract.type_schemas import list_of as list_of
from vobjects.contract.type_schemas import resource as resource
from vobjects.contract.typed_routes import TypedRoute as TypedRoute
from vobjects.contract.typed_routes import (
    operations as typed_operations,  # noqa: F401
)
