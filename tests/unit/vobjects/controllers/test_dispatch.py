# SPDX-License-Identifier: Apache-2.0
"""Dispatch to functions of one name by version."""

import dataclasses
import functools
import importlib
import inspect
import itertools
import operator
import sys
import textwrap
import types

import pytest

from vobjects import exceptions
from vobjects.controllers import dispatch, dispatch_check
from vobjects.controllers.dispatch import api_version
from vobjects.microversions import errors, presets, version_policy
from vobjects.versions import Version


def at(text):
    return {version_policy.MICROVERSION: Version.parse(text)}


class Controller:
    """Methods that changed in 1.5 and ended after 1.9."""

    def __init__(self):
        self.name = 'controller'

    @api_version('1.2', '1.4')
    def show(self, req, identity):
        return f'{self.name} first {identity}'

    @api_version('1.5', '1.9')
    def show(self, req, identity):  # noqa: F811 - Nova's spelling
        return f'{self.name} second {identity}'

    @api_version('1.0', '1.7')
    def index(self, req):
        return 'old'

    @index.api_version('1.8')
    def index(self, req):
        return 'new'

    def plain(self, req):
        return 'any'


class Free:
    @staticmethod
    @api_version('1.0')
    def show(req):
        return 'shown'


@api_version('1.0', '1.2')
def listing(req, *, limit=10):
    return ('old', limit)


@listing.api_version(Version(1, 3))
def listing(req, *, limit=10):
    return ('new', limit)


@pytest.mark.parametrize(
    ('version', 'expected'),
    [
        ('1.2', 'controller first x'),
        ('1.4', 'controller first x'),
        ('1.5', 'controller second x'),
        ('1.9', 'controller second x'),
    ],
)
def test_method_when_called_is_the_one_of_the_version(version, expected):
    assert Controller().show(at(version), 'x') == expected


@pytest.mark.parametrize(
    ('version', 'words'),
    [
        ('1.0', 'needs API version 1.2 to 1.9'),
        ('1.1', 'needs API version 1.2 to 1.9'),
        ('1.10', 'was removed in API version 1.10'),
        ('1.99', 'was removed in API version 1.10'),
        ('2.0', 'was removed in API version 1.10'),
    ],
)
def test_method_when_missing_names_the_versions_that_have_it(version, words):
    with pytest.raises(errors.MethodNotAtVersion) as caught:
        Controller().show(at(version), 'x')

    assert caught.value.detail == (
        f'show {words}; this request asked for {version}.'
    )
    assert caught.value.__context__ is None


GAP = [('1.0', '1.4'), ('1.6', '1.7'), ('1.8', None)]


@pytest.mark.parametrize(
    ('ranges', 'version', 'words'),
    [
        ([('1.3', None)], '1.1', 'version 1.3 or later;'),
        ([('1.3', '1.3')], '1.1', 'version 1.3;'),
        ([('1.3', '1.5')], '1.1', 'version 1.3 to 1.5;'),
        (GAP, '1.5', 'version 1.6 or later;'),
    ],
)
def test_function_when_missing_describes_its_ranges(ranges, version, words):
    with pytest.raises(errors.MethodNotAtVersion, match=words):
        versioned(ranges).at(Version.parse(version))


def test_function_of_a_module_when_called_is_the_one_of_the_version():
    assert listing(at('1.2'), limit=3) == ('old', 3)
    assert listing(at('1.3')) == ('new', 10)


def test_range_across_majors_serves_all_between():
    function = versioned([('1.0', '2.3'), ('2.4', '2.9'), ('3.0', None)])

    assert [
        function.at(Version.parse(text))()
        for text in ('1.0', '1.5000', '2.0', '2.3', '2.4', '2.9', '3.0', '4.0')
    ] == [0, 0, 0, 0, 1, 1, 2, 2]
    with pytest.raises(errors.MethodNotAtVersion):
        function.at(Version(2, 10))


def test_call_without_negotiation_names_the_middleware():
    with pytest.raises(LookupError, match='Microversions middleware'):
        Controller().show({}, 'x')


def test_call_without_request_is_a_type_error():
    with pytest.raises(TypeError, match='needs the request'):
        Controller().index()


def test_request_may_be_an_environ_or_an_object():
    environ = at('1.8')
    webob_like = types.SimpleNamespace(environ=environ)
    senlin_like = types.SimpleNamespace(version_request=Version(1, 8))

    for request in (environ, webob_like, senlin_like):
        assert Controller().index(request) == 'new'


class Mixed:
    """Functions whose arguments differ, or are more than names."""

    @api_version('1.0', '1.4')
    def same(self, req, identity, body):
        return ('old', identity, body)

    @same.api_version('1.5')
    def same(self, request, identity, body):
        return ('new', identity, body)

    @api_version('1.0', '1.4')
    def other(self, req, identity):
        return ('old', identity)

    @other.api_version('1.5')
    def other(self, req, name):
        return ('new', name)

    @api_version('1.0', '1.4')
    def free(self, req, limit=3, *, sort='name'):
        return ('old', limit, sort)

    @free.api_version('1.5')
    def free(self, req, *names, **filters):
        return ('new', names, filters)


@pytest.mark.parametrize(
    ('call', 'old', 'new'),
    [
        (
            lambda mixed, req: mixed.same(req, 1, 2),
            ('old', 1, 2),
            ('new', 1, 2),
        ),
        (
            lambda mixed, req: mixed.same(req, body=2, identity=1),
            ('old', 1, 2),
            ('new', 1, 2),
        ),
        (lambda mixed, req: mixed.other(req, 1), ('old', 1), ('new', 1)),
        (
            lambda mixed, req: mixed.free(req),
            ('old', 3, 'name'),
            ('new', (), {}),
        ),
        (
            lambda mixed, req: mixed.free(req, 4, sort='id'),
            ('old', 4, 'id'),
            ('new', (4,), {'sort': 'id'}),
        ),
    ],
)
def test_arguments_are_passed_unchanged(call, old, new):
    assert call(Mixed(), at('1.0')) == old
    assert call(Mixed(), at('1.9')) == new
    assert call(Mixed(), types.SimpleNamespace(environ=at('1.9'))) == new


def test_parameter_may_have_any_name():
    class Sample:
        @api_version('1.0')
        def show(self, req, type, function, wrapped, __wrapped):  # noqa: A002
            return [type, function, wrapped, __wrapped]

    for request in (at('1.0'), types.SimpleNamespace(environ=at('1.1'))):
        for _ in range(2):
            assert Sample().show(request, *range(4)) == list(range(4))


@pytest.mark.parametrize(
    ('version', 'named', 'allowed'),
    [
        ('1.0', {'identity': 1}, True),
        ('1.0', {'name': 1}, False),
        ('1.9', {'name': 1}, True),
        ('1.9', {'identity': 1}, False),
    ],
)
def test_argument_name_is_that_of_the_version(version, named, allowed):
    if allowed:
        assert Mixed().other(at(version), **named)[1] == 1
    else:
        with pytest.raises(TypeError, match='unexpected keyword'):
            Mixed().other(at(version), **named)


def test_lookup_error_of_a_function_propagates():
    calls = []

    class Failing:
        @api_version('1.0')
        def show(self, req):
            calls.append(req)
            return {}['nothing']

    controller = Failing()

    for _ in range(2):  # the second call uses the cache
        with pytest.raises(KeyError, match='nothing') as caught:
            controller.show(at('1.0'))
        assert caught.value.__context__ is None
    assert len(calls) == 2


def test_signature_is_that_of_the_newest():
    # Frameworks use it to find the arguments of a view.
    assert list(inspect.signature(listing).parameters) == ['req', 'limit']
    assert list(inspect.signature(Mixed.other).parameters) == [
        'self',
        'req',
        'name',
    ]
    assert Mixed.free.__qualname__ == 'Mixed.free'
    assert Mixed.free.__module__ == __name__


@pytest.mark.parametrize(
    ('old', 'new', 'problem'),
    [
        ('request, a=1', 'request, a=1', None),
        ('request, a=1, **more', 'request, a=1, b=2', None),
        ('request, a=1, c=3', 'request, a=1', None),
        ('request, a', 'request, /, b', None),
        ('request, a', 'request, *b', None),
        ('self, request, a', 'self, request, b', None),
        ('request, a=1', 'request, a=1, b=2', "unexpected keyword .* 'b'"),
        ('request, a, b', 'request, a', "missing .* 'b'"),
        ('req, a', 'request, a', "missing .* 'req'"),
    ],
)
def test_functions_of_a_module_have_the_parameters_of_the_newest(
    old, new, problem
):
    space = {'__name__': f'{__name__}.{old}', 'api_version': api_version}
    exec(
        f"""
@api_version('1.0', '1.4')
async def show({old}): pass

@show.api_version('1.5')
async def show({new}): pass
""",
        space,
    )
    if problem is None:
        # A framework that reads the signature.
        assert str(inspect.signature(space['show'])) == f'({new})'
        return
    with pytest.raises(
        exceptions.DeclarationError, match=f'show 1.0 to 1.4 .*: .*{problem}'
    ):
        inspect.signature(space['show'])


def test_attributes_set_by_a_decorator_above_are_kept():
    def exposed(function):
        function.exposed = True
        return function

    class Sample:
        @exposed
        @api_version('1.0')
        def show(self, req):
            return 'shown'

    assert Sample.show.exposed
    assert Sample().show(at('1.0')) == 'shown'


WRAPPED = """
    import functools

    def guarded(function):
        @functools.wraps(function)
        def guard(*arguments, **named):
            return 'guarded ' + function(*arguments, **named)
        return guard

    class Sample:
        @api_version('1.0', '1.4')
        def method(self, req): return 'old'

        @guarded
        @method.api_version('1.5')
        def method(self, request): return 'new'

        @api_version('1.0', '1.4')
        def static(req): return 'old'

        @staticmethod
        @static.api_version('1.5')
        def static(request): return 'new'

    @api_version('1.0', '1.4')
    def function(req): return 'old'

    @guarded
    @function.api_version('1.5')
    def function(request): return 'new'
    """


@pytest.mark.parametrize(
    ('path', 'expected'),
    [
        ('Sample.method', 'guarded {}'),
        ('Sample.static', '{}'),
        ('function', 'guarded {}'),
    ],
)
def test_decorator_above_is_for_the_functions_of_all_versions(
    path, expected, tmp_path, monkeypatch
):
    module = import_source(WRAPPED, tmp_path, monkeypatch)
    owner, _, name = path.rpartition('.')
    handler = getattr(module.Sample() if owner else module, name)

    assert handler(at('1.4')) == expected.format('old')
    assert handler(at('1.5')) == expected.format('new')
    assert handler(req=at('1.4')) == expected.format('old')
    assert handler(request=at('1.5')) == expected.format('new')


@pytest.mark.parametrize(
    ('first', 'second'),
    [('@guarded', '@guarded'), ('@guarded', ''), ('def show(): ...', '')],
    ids=['both wrapped', 'first wrapped', 'plain between'],
)
@pytest.mark.parametrize('owner', ['class Sample:', 'if True:'])
def test_function_when_another_object_hides_the_earlier_one_is_rejected(
    owner, first, second, tmp_path, monkeypatch
):
    above, between = (first, '') if first[0] == '@' else ('', first)
    source = f"""
        import functools

        def guarded(function):
            @functools.wraps(function)
            def guard(*arguments, **named):
                return function(*arguments, **named)
            return guard

        {owner}
            {above}
            @api_version('1.0', '1.4')
            def show(*arguments): ...
            {between}
            {second}
            @api_version('1.5')
            def show(*arguments): ...
        """

    with pytest.raises(
        exceptions.DeclarationError, match=r'hides 1\.0 to 1\.4 .*\.py:\d+\)'
    ):
        import_source(source, tmp_path, monkeypatch)


def test_wrapper_of_a_versioned_method_is_not_versioned():
    @functools.wraps(Mixed.same)
    def wrapper(self, req, identity, body):
        return 'wrapper'

    assert dispatch.versioned_of(wrapper) is None
    assert dispatch.resolve(wrapper, Version(1, 0)) is wrapper


def test_resolve_returns_the_function_bound_like_the_handler():
    controller = Controller()

    assert (
        dispatch.resolve(controller.show, Version(1, 2))(None, 'x')
        == 'controller first x'
    )
    assert dispatch.resolve(listing, Version(1, 3))(None) == ('new', 10)
    assert dispatch.resolve(controller.plain, Version(1, 2))(None) == 'any'
    with pytest.raises(errors.MethodNotAtVersion):
        dispatch.resolve(controller.show, Version(1, 1))


def test_subclass_when_it_redeclares_a_method_replaces_all_ranges():
    class Special(Controller):
        @api_version('1.0')
        def show(self, req, identity):
            return 'special'

    assert Special().show(at('1.0'), 'x') == 'special'
    assert Special().index(at('1.0')) == 'old'
    assert Controller().show(at('1.2'), 'x') == 'controller first x'


def test_class_body_when_run_twice_starts_afresh():
    def make(result):
        class Sample:
            @api_version('1.0', '1.1')
            def show(self, req):
                return result

            @show.api_version('1.2')
            def show(self, req):
                return -result

        return Sample()

    first, second = make(1), make(2)

    assert [first.show(at('1.0')), first.show(at('1.2'))] == [1, -1]
    assert [second.show(at('1.0')), second.show(at('1.2'))] == [2, -2]


def test_inner_decorator_when_it_wraps_is_accepted():
    def upper_case(function):
        @functools.wraps(function)
        def wrapper(self, req):
            return function(self, req).upper()

        return wrapper

    class Sample:
        @api_version('1.0', '1.1')
        @upper_case
        def show(self, req):
            return 'old'

        @api_version('1.2')
        @upper_case
        def show(self, req):  # noqa: F811 - Nova's spelling
            return 'new'

    assert Sample().show(at('1.0')) == 'OLD'
    assert Sample().show(at('1.2')) == 'NEW'


def test_inner_decorator_when_it_hides_the_name_is_rejected():
    def unwrapped(function):
        return lambda self, req: function(self, req)

    # Python 3.11 wraps what a class body's descriptors raise.
    with pytest.raises((RuntimeError, exceptions.DeclarationError)) as caught:

        class Sample:
            @api_version('1.0')
            @unwrapped
            def show(self, req):
                return 'old'

    error = caught.value.__cause__ or caught.value
    assert 'functools.wraps' in str(error)


@pytest.mark.parametrize(
    'ranges',
    [
        [('1.0', '1.4'), ('1.4', '1.9')],
        [('1.0', '1.4'), ('1.0', '1.4')],
        [('1.0', None), ('1.5', None)],
        [('1.5', '1.9'), ('1.0', '1.5')],
        [('1.2', '1.4'), ('1.0', '1.9')],
    ],
)
def test_overlap_is_an_error_with_both_locations(ranges):
    with pytest.raises(
        exceptions.DeclarationError, match='overlaps'
    ) as caught:
        versioned(ranges)

    assert str(caught.value).count('test_dispatch.py:') == 2


@pytest.mark.parametrize(
    'ranges',
    [
        [('1.0', '1.4'), ('1.6', None)],
        [('1.6', None), ('1.0', '1.4')],
        [('1.0', '1.4'), ('1.6', '1.7'), ('1.5', '1.5'), ('1.9', None)],
    ],
)
def test_check_when_there_is_a_gap_is_an_error_with_both_locations(ranges):
    function = versioned(ranges)

    with pytest.raises(exceptions.DeclarationError, match='between') as caught:
        dispatch_check.check(
            dataclasses.replace(presets.SENLIN, maximum=Version(1, 20)),
            function,
        )

    assert str(caught.value).count('test_dispatch.py:') == 2


@pytest.mark.parametrize('order', [*itertools.permutations(range(3))])
def test_ranges_in_any_order_serve_their_versions(order):
    ranges = [('1.0', '1.1'), ('1.2', '1.3'), ('1.5', None)]
    function = versioned([ranges[each] for each in order])

    positions = [function.at(Version(1, minor))() for minor in (0, 3, 9)]

    assert [order[position] for position in positions] == [0, 1, 2]
    assert function.newest() == order.index(2)


@pytest.mark.parametrize(('low', 'high'), [('1.5', '1.4'), (Version(), '1.4')])
def test_range_when_empty_is_an_error(low, high):
    with pytest.raises(
        exceptions.DeclarationError, match=r'test_dispatch\.py'
    ):
        versioned([(low, high)])


@pytest.mark.parametrize('bound', ['1.01', 1.5, b'1.5', range(2), print])
def test_bound_when_malformed_is_an_error(bound):
    for bounds in ((bound, None), ('1.0', bound)):
        with pytest.raises(exceptions.InvalidVersion):
            versioned([bounds])


def test_decorator_without_parentheses_is_an_error():
    for decorator in (api_version, listing.api_version):
        with pytest.raises(exceptions.InvalidVersion, match='function at'):
            decorator(at)


@pytest.mark.parametrize(
    'handler',
    [
        classmethod(at),
        staticmethod(at),
        property(at),
        functools.partial(at),
        functools.partialmethod(at),
        None,
    ],
    ids=lambda handler: type(handler).__name__,
)
def test_what_is_no_function_is_an_error(handler):
    with pytest.raises(exceptions.DeclarationError, match='for functions'):
        dispatch.api_version('1.0')(handler)


def test_declaration_after_a_rejected_one_starts_afresh():
    with pytest.raises(exceptions.DeclarationError):
        versioned([('1.0', None), ('1.5', None)])

    assert versioned([('1.0', None)]).at(Version(1, 0))() == 0


def test_check_when_all_is_reachable_passes():
    dispatch_check.check(
        presets.SENLIN, Controller().show, Controller.index, listing, Free.show
    )


@pytest.mark.parametrize('low', ['1.15', '2.0'])
def test_check_when_a_range_is_not_served_is_an_error(low):
    function = versioned(
        [('1.0', f'{low[:-1]}{int(low[-1]) - 1}')]
        if low != '2.0'
        else [('1.0', '1.20'), (low, None)]
    )
    if low == '1.15':
        function.api_version(low)(lambda: None)

    with pytest.raises(exceptions.DeclarationError, match='unreachable'):
        dispatch_check.check(presets.SENLIN, function)


HIDDEN = {
    'a method': """
        class Controller:
            @api_version('1.0', '1.4')
            def show(self, req): ...
            def show(self, req): ...
        handler = Controller.show
        """,
    'a function': """
        @api_version('1.0', '1.4')
        def show(req): ...
        def show(req): ...
        handler = show
        """,
    'a wrapped method': """
        import functools
        class Controller:
            @functools.lru_cache
            @api_version('1.0', '1.4')
            def show(self, req): ...
        handler = Controller.show
        """,
}


@pytest.mark.parametrize('kind', HIDDEN)
def test_check_when_a_function_is_hidden_is_an_error(
    kind, tmp_path, monkeypatch
):
    handler = import_source(HIDDEN[kind], tmp_path, monkeypatch).handler

    with pytest.raises(exceptions.DeclarationError, match='hidden') as caught:
        dispatch_check.check(presets.SENLIN, handler)

    assert 'show' in str(caught.value)


def test_module_when_reloaded_starts_afresh(tmp_path, monkeypatch):
    source = """
        @api_version('1.0', '1.4')
        def show(req): return 'old'
        @api_version('1.5')
        def show(req): return 'new'
        """
    module = import_source(source, tmp_path, monkeypatch)

    module = importlib.reload(module)

    assert module.show(at('1.4')) == 'old'
    assert module.show(at('1.5')) == 'new'
    dispatch_check.check(presets.SENLIN, module.show)


def test_each_of_a_thousand_versions_has_its_own_function():
    function = versioned(
        [(Version(1, minor), Version(1, minor)) for minor in range(1000)]
    )

    assert [function.at(Version(1, minor))() for minor in range(1000)] == list(
        range(1000)
    )


def versioned(ranges):
    """Declare functions that return their position."""
    result = None
    for position, (low, high) in enumerate(ranges):
        add = api_version if result is None else result.api_version
        result = add(low, high)(lambda position=position: position)
    return result


def import_source(source, directory, monkeypatch):
    name = f'sample_{abs(hash(source))}'
    path = directory / f'{name}.py'
    path.write_text(
        'from vobjects.controllers.dispatch import api_version\n'
        + textwrap.dedent(source)
    )
    monkeypatch.syspath_prepend(directory)
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    monkeypatch.setitem(sys.modules, name, module)
    return module


class CurrentRequest:
    """A framework's thread-local proxy of the request."""

    environ = at('1.2')


def test_request_proxy_is_used_instead_of_an_argument():
    current = CurrentRequest()
    versioned = functools.partial(api_version, request=current)

    @versioned('1.0', '1.4')
    def view(name):
        return f'old {name}'

    @view.api_version('1.5')
    def view(name):
        return f'new {name}'

    class Rest:
        @versioned('1.0', '1.4')
        def get(self, name):
            return f'old {name}'

        @versioned('1.5')
        def get(self, name):  # noqa: F811 - Nova's spelling
            return f'new {name}'

    assert (view('a'), Rest().get(name='a')) == ('old a', 'old a')
    current.environ = at('1.9')
    assert (view(name='a'), Rest().get('a')) == ('new a', 'new a')


def exposed(**attributes):
    """Return a decorator that sets attributes, as Pecan and WSME do."""

    def decorate(function):
        vars(function).update(attributes)
        return function

    return decorate


current_request = CurrentRequest()
with_proxy = functools.partial(api_version, request=current_request)


class Exposed:
    @with_proxy('1.0', '1.4')
    @exposed(types=('str',))
    def get(self, name):
        return f'old {name}'

    @exposed(above=True, types=('any',))
    @with_proxy('1.5', '1.8')
    @exposed(types=('str', 'int'), late=True)
    def get(self, name, limit):  # noqa: F811
        return f'new {name} {limit}'


@pytest.mark.parametrize(
    ('version', 'parameters', 'attributes'),
    [
        ('1.2', ['name'], {'types': ('str',), 'above': True}),
        (
            '1.5',
            ['name', 'limit'],
            {'types': ('str', 'int'), 'late': True, 'above': True},
        ),
    ],
)
def test_method_with_a_proxy_shows_the_function_of_the_request(
    version, parameters, attributes, monkeypatch
):
    monkeypatch.setattr(CurrentRequest, 'environ', at(version))

    method = Exposed().get

    assert list(inspect.signature(method).parameters) == parameters
    assert vars(method) == attributes
    assert inspect.ismethod(method)
    assert method(*parameters).endswith(' '.join(parameters))


def test_method_with_a_proxy_when_missing_is_no_attribute_error(monkeypatch):
    monkeypatch.setattr(CurrentRequest, 'environ', at('1.9'))

    with pytest.raises(errors.MethodNotAtVersion):
        getattr(Exposed(), 'get', None)


@pytest.mark.parametrize('environ', [None, {}])
def test_method_with_a_proxy_outside_requests_shows_the_newest(
    environ, monkeypatch
):
    # Frameworks search for exposed methods at startup.
    monkeypatch.setattr(CurrentRequest, 'environ', environ)

    for owner in (Exposed, Exposed()):
        assert owner.get.types == ('str', 'int')
        assert 'limit' in inspect.signature(owner.get).parameters
    handler = Exposed().get
    monkeypatch.setattr(CurrentRequest, 'environ', at('1.2'))
    assert handler('a') == 'old a'


def test_adapter_provides_the_version_and_the_exception():
    class NotAcceptable(Exception):
        pass

    adapter = dispatch.RequestAdapter(
        version_of=operator.attrgetter('api_version_request'),
        as_exception=lambda error: NotAcceptable(error.detail),
    )

    class Adapted:
        @api_version('1.0', '1.4', adapter=adapter)
        def show(self, req, name):
            return f'old {name}'

        @api_version('1.5', '1.6', adapter=adapter)
        def show(self, request, name):  # noqa: F811
            return f'new {name}'

    request = types.SimpleNamespace(
        api_version_request=Version(1, 4), environ=at('1.6')
    )
    controller = Adapted()
    assert controller.show(request, 'a') == 'old a'
    assert controller.show(name='a', req=request) == 'old a'
    request.api_version_request = Version(1, 5)
    assert controller.show(name='a', request=request) == 'new a'
    request.api_version_request = Version(1, 7)
    with pytest.raises(NotAcceptable, match=r'removed in API version 1\.7'):
        controller.show(request, 'a')


def test_resolve_returns_the_attributes_of_the_version():
    class Coded:
        @api_version('1.0', '1.4')
        @exposed(code=202)
        def show(self, req):
            return 'old'

        @show.api_version('1.5')
        @exposed(code=204)
        def show(self, req):
            return 'new'

    method = Coded().show

    assert dispatch.resolve(method, Version(1, 4)).code == 202
    assert dispatch.resolve(method, Version(1, 5)).code == 204


def test_attributes_below_are_shown_while_the_class_is_created():
    def action(function):
        function.wsgi_action = 'resize'
        return function

    class Meta(type):
        """Nova's way to find actions."""

        def __new__(cls, name, bases, body):
            body['actions'] = {
                value.wsgi_action: key
                for key, value in body.items()
                if hasattr(value, 'wsgi_action')
            }
            return super().__new__(cls, name, bases, body)

    class Actions(metaclass=Meta):
        @api_version('1.1')
        @action
        def do_resize(self, req):
            pass

        @api_version('1.1')
        def show(self, req):
            pass

    assert Actions.actions == {'resize': 'do_resize'}


def test_call_by_name_does_not_inspect_signatures_again(monkeypatch):
    assert Controller().index(req=at('1.8')) == 'new'
    monkeypatch.setattr(inspect, 'signature', None)

    assert Controller().index(req=at('1.8')) == 'new'
    assert Controller().index(req=at('1.2')) == 'old'
