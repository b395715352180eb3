# SPDX-License-Identifier: Apache-2.0
"""Compare the source code of two releases that run at the same time.

::

    comparison     apply all rules to two source trees
    tree           read the Python code of a release without importing it
    findings       what a comparison reports
    rpc            RPC servers, and the calls that clients send
    rpc_paths      the paths through a function that sends calls
    rpc_rules      rules for calls between two releases
    objects        types of oslo.versionedobjects, and their conversions
    object_values  values that fields of these types accept
    carried        types of objects that calls of a release carry
    object_rules   rules for new fields of these types
    models         pydantic models of requests and responses
    annotations    alternatives in the annotations of their fields
    enumerations   enumerations and their values
    model_conversions  code that changes documents for older clients
    model_rules    rules for documents between two releases
    routes         routes of an HTTP API
    route_rules    rules for their paths and parameters
    schemas        JSON schemas of requests
    schema_rules   rules for requests that a schema rejects
    body_reads     what code reads from the body of a request
    first_schema_rules  rules for the first schema of a request
    stored         classes that pickles in a database name
    command        `vobjects releases`
    transfers      send objects between two installed releases
    transfer_script  one side of a transfer, in its own environment
    transfer_command  `vobjects transfers`

The checks of the library vobjects run the code of a service. These rules find
what no schema has, such as the arguments of an RPC call, in code that need not
be installed.
"""

#: Summary of the command, for ``vobjects --help``.
SUMMARIES = {
    'releases': 'find incompatible messages in the code of two releases',
    'transfers': 'send every type between two installed releases',
}
