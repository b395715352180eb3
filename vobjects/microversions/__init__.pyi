# SPDX-License-Identifier: Apache-2.0

from vobjects.microversions import presets as presets
from vobjects.microversions.application_errors import HttpError as HttpError
from vobjects.microversions.client import NoCommonVersion as NoCommonVersion
from vobjects.microversions.client import negotiate as negotiate
from vobjects.microversions.errors import ApiError as ApiError
from vobjects.microversions.errors import ValidationError as ValidationError
from vobjects.microversions.json_body import load_json as load_json
from vobjects.microversions.middleware import Discovery as Discovery
from vobjects.microversions.middleware import Microversions as Microversions
from vobjects.microversions.retirement import retire as retire
from vobjects.microversions.usage_metrics import UsageMetrics as UsageMetrics
from vobjects.microversions.usage_metrics import (
    UsageMiddleware as UsageMiddleware,
)
from vobjects.microversions.version_policy import MICROVERSION as MICROVERSION
from vobjects.microversions.version_policy import (
    VersionPolicy as VersionPolicy,
)
from vobjects.versions import Maximum as Maximum
