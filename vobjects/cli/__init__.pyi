# SPDX-License-Identifier: Apache-2.0

from vobjects.cli.parser import Command as Command
from vobjects.cli.parser import Parser as Parser
