# SPDX-License-Identifier: Apache-2.0

from vobjects.cli.contract import main as contract_main  # noqa: F401
from vobjects.cli.parser import Command as Command
from vobjects.cli.parser import Parser as Parser
