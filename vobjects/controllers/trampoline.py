# SPDX-License-Identifier: Apache-2.0
"""Generate the method that dispatches to the functions of one name.

The method looks up the request's version in a dictionary and calls the
function that it holds. Passing ``*arguments, **named`` would take longer than
that lookup. If the functions agree on their parameters, the method is
therefore compiled with exactly these, as :func:`collections.namedtuple` does
with its ``__new__``::

    def call(self, req, /, identity):
        try:
            function = cache[
                (req if type(req) is dict else req.environ)[MICROVERSION]
            ]
        except (AttributeError, LookupError, TypeError):
            function = choose(req)
        return function(self, req, identity)
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vobjects import _codegen
from vobjects.microversions.version_policy import MICROVERSION
from vobjects.versions import Version

Function = Callable[..., Any]

#: If the version is not in the dictionary, or the request is of another kind,
#: ``choose`` decides. It runs outside the except clause, so that its errors
#: are not chained. The dunder names cannot collide with parameters.
_TEXT = f"""
def call({{first}}, {{request}}, /, {{others}}):
    try:
        __function__ = __cache__[
            ({{request}} if __type__({{request}}) is __dict__
             else {{request}}.environ)[{MICROVERSION!r}]
        ]
    except (__AttributeError__, __LookupError__, __TypeError__):
        pass
    else:
        return __function__({{first}}, {{request}}, {{others}})
    return __choose__({{request}})({{first}}, {{request}}, {{others}})
"""

_BUILTINS = (AttributeError, LookupError, TypeError, dict, type)

_VARIABLE = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS of inspect


def compile_method(
    functions: Sequence[Function],
    cache: Mapping[Version, Function],
    choose: Callable[[Any], Function],
) -> Function:
    """Return a method with the same parameters as the functions.

    :param functions: all functions of the name; their first argument is the
        instance, the second one the request
    :param cache: version -> function, filled by ``choose``
    :param choose: returns the function for a request, or raises the error for
        the caller
    """
    names = _shared_parameters(functions)
    if names is None:
        return _untyped_method(cache, choose)
    first, request, *others = names
    text = _TEXT.format(first=first, request=request, others=', '.join(others))
    namespace: dict[str, Any] = {
        '__cache__': cache,
        '__choose__': choose,
        **{f'__{builtin.__name__}__': builtin for builtin in _BUILTINS},
    }
    # The names of the parameters are the only variable part, and they are
    # identifiers.
    compiled: Function = _codegen.run(text, namespace)['call']
    return compiled


def _untyped_method(
    cache: Mapping[Version, Function], choose: Callable[[Any], Function]
) -> Function:
    def call(instance: Any, request: Any, /, *rest: Any, **named: Any) -> Any:
        try:
            function = cache[
                (request if type(request) is dict else request.environ)[
                    MICROVERSION
                ]
            ]
        except (AttributeError, LookupError, TypeError):
            pass
        else:
            return function(instance, request, *rest, **named)
        return choose(request)(instance, request, *rest, **named)

    return call


def _shared_parameters(functions: Sequence[Function]) -> list[str] | None:
    """Return the names of the parameters if all functions share them.

    :returns: None if the names differ, or a parameter is more than a name
    """
    parameters = [_parameters(function) for function in functions]
    shared = parameters[0]
    if shared is None or any(
        names is None or names[2:] != shared[2:] for names in parameters
    ):
        return None
    return shared


def _parameters(function: Function) -> list[str] | None:
    # Read the code object: a signature may describe a wrapped function.
    if type(function) is not types.FunctionType:
        return None
    code = function.__code__
    if (
        code.co_flags & _VARIABLE
        or code.co_kwonlyargcount
        or code.co_posonlyargcount
        or function.__defaults__
        or code.co_argcount < 2
    ):
        return None
    return list(code.co_varnames[: code.co_argcount])
