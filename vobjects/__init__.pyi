# SPDX-License-Identifier: Apache-2.0

from vobjects import exceptions as exceptions
from vobjects import fields as fields
from vobjects.fields import UNSET as UNSET
from vobjects.objects import conversions as conversions
from vobjects.objects.adoption import adopt as adopt
from vobjects.objects.field_changes import added as added
from vobjects.objects.field_changes import changed as changed
from vobjects.objects.field_changes import removed as removed
from vobjects.objects.field_changes import renamed as renamed
from vobjects.objects.field_changes import words as words
from vobjects.objects.kinds import ObjectListBase as ObjectListBase
from vobjects.objects.kinds import Request as Request
from vobjects.objects.kinds import Resource as Resource
from vobjects.objects.object import Object as Object
from vobjects.objects.primitives import to_json as to_json
from vobjects.objects.primitives import to_json_list as to_json_list
from vobjects.objects.registration import register as register
from vobjects.service import Service as Service
from vobjects.versions import Version as Version

__version__: str
