# SPDX-License-Identifier: Apache-2.0

from vobjects.controllers.actions import Actions as Actions
from vobjects.controllers.actions import action as action
from vobjects.controllers.decorators import expected_errors as expected_errors
from vobjects.controllers.decorators import gone as gone
from vobjects.controllers.decorators import query_schema as query_schema
from vobjects.controllers.decorators import response as response
from vobjects.controllers.decorators import (
    response_body_schema as response_body_schema,
)
from vobjects.controllers.decorators import schema as schema
from vobjects.controllers.dispatch import api_version as api_version
from vobjects.controllers.dispatch import resolve as resolve
from vobjects.controllers.dispatch_check import check as check
from vobjects.controllers.frameworks import (
    APIVersionRequest as APIVersionRequest,
)
from vobjects.controllers.frameworks import is_supported as is_supported
from vobjects.controllers.frameworks import version_of as version_of
from vobjects.controllers.method_spec import spec_of as spec_of
from vobjects.controllers.request_parsing import parse_body as parse_body
from vobjects.controllers.request_parsing import parse_query as parse_query
from vobjects.controllers.request_parsing import parse_values as parse_values
