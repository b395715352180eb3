# SPDX-License-Identifier: Apache-2.0
"""The method that stands in a class for all functions of one name.

It finds the request's version in a dictionary and calls the function that is
there. Handing on ``*arguments, **named`` would take longer than that, so
where the functions agree on their parameters, the method is made anew with
just these, as :func:`collections.namedtuple` makes its ``__new__``::

    def call(self, req, /, identity):
        try:
            function = found[
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

from vobjects.microversions.policy import MICROVERSION
from vobjects.versions import Version

Function = Callable[..., Any]

#: What is not in the dictionary, or in a request of another make, is left to
#: ``choose``, outside of the handler: its errors are no consequences. Names
#: of our own cannot be those of a parameter.
_TEXT = f"""
def call({{first}}, {{request}}, /, {{others}}):
    try:
        __function__ = __found__[
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


def method(
    functions: Sequence[Function],
    found: Mapping[Version, Function],
    choose: Callable[[Any], Function],
) -> Function:
    """Return the method; its arguments are those of the functions.

    :param functions: all there are, whose first argument is the instance
        and second one the request
    :param found: version -> function, for the versions asked before
    :param choose: returns the function for a request; raises what the caller
        is to get if there is none
    """
    names = _shared_parameters(functions)
    if names is None:
        return _of_any_arguments(found, choose)
    first, request, *others = names
    text = _TEXT.format(first=first, request=request, others=', '.join(others))
    space: dict[str, Any] = {
        '__found__': found,
        '__choose__': choose,
        **{f'__{one.__name__}__': one for one in _BUILTINS},
    }
    # Of the text only identifiers are not ours.
    exec(compile(text, f'<{__name__}>', 'exec'), space)  # noqa: S102
    made: Function = space['call']
    return made


def _of_any_arguments(
    found: Mapping[Version, Function], choose: Callable[[Any], Function]
) -> Function:
    def call(instance: Any, request: Any, /, *rest: Any, **named: Any) -> Any:
        try:
            function = found[
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
    """Return the names of the parameters that all functions have.

    :returns: None where they differ, or have more to them than names
    """
    each = [_parameters(function) for function in functions]
    shared = each[0]
    if shared is None or any(
        names is None or names[2:] != shared[2:] for names in each
    ):
        return None
    return shared


def _parameters(function: Function) -> list[str] | None:
    # The code itself: a signature may be that of a function wrapped inside.
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
