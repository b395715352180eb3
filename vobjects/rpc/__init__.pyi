# SPDX-License-Identifier: Apache-2.0

from oslo_messaging import MessagingException as MessagingException
from oslo_messaging import RemoteError as RemoteError

from vobjects.rpc.call_state import current_call as current_call
from vobjects.rpc.client import Client as Client
from vobjects.rpc.client_process import ClientProcess as ClientProcess
from vobjects.rpc.fleet import Member as Member
from vobjects.rpc.fleet import View as View
from vobjects.rpc.ledger import RemoteLedger as RemoteLedger
from vobjects.rpc.server import handles as handles
from vobjects.rpc.server_process import ServerProcess as ServerProcess
