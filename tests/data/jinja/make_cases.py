#!/usr/bin/env python3
"""Makes cases.json: small templates, and what the Jinja2 package makes of them in the environment in
which transformers runs chat templates. Needs Jinja2 3.1 (pip install jinja2).

make_cases.py > cases.json            the kept cases
make_cases.py --random SEED COUNT     other cases, put together at random, for a wider check
"""
import copy
import datetime
import itertools
import json
import random
import sys
import warnings

import jinja2
import jinja2.ext
import jinja2.sandbox

# Calls whose result is another at every run, or is spelled by Python's own addresses.
UNSTABLE = (" at 0x", "<function", "<bound method", "<built-in method", "<generator")


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_support")
        return jinja2.nodes.CallBlock(call, [], [], body).set_lineno(line)

    @jinja2.pass_eval_context
    def _support(self, context, caller):
        return caller()


def environment():
    # Not the immutable sandbox: list.append and its like are allowed here.
    env = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda f: datetime.datetime(2026, 1, 15, 12, 0, 0).strftime(f)
    return env


ENV = environment()
CONTEXT = {
    "s": "Hello, World", "e": "", "ws": "  \t padded \n", "u": "héllo 你好 😀", "low": "abc def",
    "n": 7, "z": 0, "neg": -3, "big": 9007199254740993, "f": 2.5, "f0": 1.0, "t": True, "no": None,
    "l": [3, 1, 2], "l2": ["b", "A", "c", "a"], "nest": [[1, 2], [3, [4, 5]], []],
    "d": {"b": 1, "a": 2, "C": 3}, "dd": {"x": {"y": [1, {"z": "deep"}]}, "items": [1, 2]},
    "people": [
        {"name": "Ann", "age": 31, "city": {"zip": "b1"}, "tags": ["x", "y"]},
        {"name": "bob", "age": 25, "city": {"zip": "a2"}, "tags": []},
        {"name": "Cid", "age": 31, "city": {"zip": "A3"}},
    ],
    "html": "<a href=\"x\">T&amp;'q'</a>", "js": {"k": ["é", "\u2028", "a\"b\\c\n\t\u0001/"], "n": 1.5},
    "lines": "one\ntwo\n\nthree\r\nfour",
}


def show(items):
    return ["{{ %s }}" % item for item in items]


def cases():
    yield from whitespace()
    yield from statements()
    yield from macros()
    yield from loops()
    yield from show(expressions())
    yield from show(filters())
    yield from show(tests())
    yield from show(methods())
    yield from show(formatting())
    yield from errors()


def whitespace():
    tags = ["{% if t %}", "{%- if t %}", "{% if t -%}", "{%- if t -%}", "{%+ if t %}", "{% if t +%}"]
    ends = ["{% endif %}", "{%- endif %}", "{% endif -%}", "{%+ endif %}", "{% endif +%}"]
    for tag, end in itertools.product(tags, ends):
        yield "a\n  %s\n  b\n  %s\n  c\n" % (tag, end)
    for tag in ["{{ n }}", "{{- n }}", "{{ n -}}", "{{- n -}}", "{# c #}", "{#- c #}", "{# c -#}",
                "{#+ c #}", "{# c +#}", "{{+ n }}"]:
        yield "a \n  %s  \n b" % tag
        yield "  %s\n\n%s  x" % (tag, tag)
    yield from [
        "", "\n", "\n\n", "a\n\n", "a\r\nb\rc\r\n", "{% raw %}{{ x }}{% endraw %}",
        "a\n  {% raw %}\n {{ x }} \n  {% endraw %}\nb", "{%- raw -%}  {% if %}  {%- endraw -%}  b",
        "{% raw -%}\n x {% endraw +%}\nb", "{# multi\nline {{ x }} #}x", "{", "{ {", "}}", "%}", "#}",
        "{{ '{{' }}", "{{ '}}' }}", "{{ {'a': {'b': 1}}['a']['b'] }}", "{{ {} }}{{ [] }}{{ () }}",
        "{% set x = {'a': 1} %}{{x.a}}", "\t{% if t %}\tx{% endif %}", " \u00a0{% if t %}x{% endif %}",
        "x{% if t %}\n\ny{% endif %}\n\nz", "{% if t %}\n{% endif %}\n", "{{ n }}\n", "{{ n }}\n\n",
        "{%if t%}a{%endif%}", "{%-if t-%} a {%-endif-%}", "{{n}}{{-n-}}{{n}}", "a{#b#}\nc", "a\n{#b#}\nc",
        "  {% set x = 1 %}\n  {% set y = 2 %}\n  {{ x + y }}\n", "{% if t %}  \n  {% endif %}x",
    ]


def statements():
    yield from [
        "{% if z %}a{% elif n > 5 %}b{% elif n %}c{% else %}d{% endif %}",
        "{% if not z and (e or l) %}yes{% endif %}", "{% if undefinedthing %}a{% else %}b{% endif %}",
        "{% set a, b = 1, 2 %}{{ a }}{{ b }}", "{% set a = 1, 2 %}{{ a }}", "{% set (a, b) = l2[:2] %}{{ a ~ b }}",
        "{% set a, (b, c) = nest[1][0], nest[0] %}{{ a }}{{ b }}{{ c }}",
        "{% set x %}body {{ n }}{% endset %}[{{ x }}]", "{% set x | upper | replace('B', '#') %}body{% endset %}{{ x }}",
        "{% set ns = namespace(a=1, b='x') %}{% set ns.a = ns.a + 1 %}{{ ns.a }}{{ ns.b }}{{ ns['a'] }}",
        "{% set ns = namespace(d) %}{{ ns.b }}{{ ns.C }}", "{% set ns = namespace() %}{{ ns.x }}|{{ ns.x is defined }}",
        "{% set ns = namespace(n=0) %}{% for i in l %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
        "{% set x = 1 %}{% for i in l %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}",
        "{% set x = 1 %}{% if t %}{% set x = 2 %}{% endif %}{{ x }}",
        "{% for i in l %}{{ x is defined }}{% set x = i %}{{ x }}{% endfor %}{{ x is defined }}",
        "{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a is defined }}",
        "{% set a = 5 %}{% with a = 1, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}",
        "{% with %}{% set q = 3 %}{{ q }}{% endwith %}{{ q is defined }}",
        "{% filter upper %}abc {{ s }}{% endfilter %}", "{% filter replace('a', 'b') | upper %}aaa{% endfilter %}",
        "{% filter trim %}\n  x  \n{% endfilter %}|",
        "a{% filter length %}abc{% endfilter %}", "{% filter default(1) %}{% endfilter %}x", "{{ d | pprint }}{{ [people[0].city, {2: 1, 1: {'b': 1, 'a': 2}}] | pprint }}", "{% print n, s %}", "{% block a %}x{{ n }}{% endblock %}",
        "{% generation %}a{{ n }}{% endgeneration %}b", "a\n{% generation %}\n  b\n{% endgeneration %}\nc",
        "{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}",
        "{% if t: %}x{% endif %}", "{% for i in l: %}{{ i }}{% endfor %}",
        "{% set l3 = [] %}{{ l3.append(1) }}{% set _ = l3.append(2) %}{{ l3 }}",
        "{% set d3 = dict(d) %}{% set _ = d3.update({'q': 9}) %}{{ d3 }}{{ d3.pop('b') }}{{ d3 }}",
        "{% set d3 = {'a': 1} %}{{ d3.setdefault('b', 2) }}{{ d3.setdefault('a', 5) }}{{ d3.popitem() }}{{ d3 }}",
        "{% set q = [1,2,3,4] %}{{ q.pop() }}{{ q.pop(0) }}{{ q.insert(1, 'x') }}{{ q.extend((7, 8)) }}{{ q }}{{ q.remove('x') }}{{ q.reverse() }}{{ q }}",
        "{% set q = ['b','a'] %}{{ q.sort() }}{{ q }}{{ q.index('b') }}{{ q.count('a') }}{{ q.copy() }}{{ q.clear() }}{{ q }}",
    ]


def macros():
    yield from [
        "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=9) }}{{ m(a=4, b=5, c=6) }}",
        "{% macro m(a) %}[{{ a }}{{ a is defined }}]{% endmacro %}{{ m() }}{{ m(1) }}",
        "{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, k=3) }}{{ m() }}",
        "{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}",
        "{% macro m(a, b=a) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(1, 2) }}",
        "{% macro m(n) %}{% if n > 0 %}{{ n }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(5) }}",
        "{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}body{{ n }}{% endcall %}",
        "{% macro m(xs) %}{% for x in xs %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(x, i) m(l) %}{{ i }}={{ x }} {% endcall %}",
        "{% macro m() %}{{ caller is defined }}{% if caller is defined %}{{ caller }}{% endif %}{% endmacro %}{{ m() }}",
        "{% set x = 1 %}{% macro m() %}{{ x }}{% set x = 5 %}{{ x }}{% endmacro %}{{ m() }}{{ x }}",
        "{% macro m() %}{{ later }}{% endmacro %}{% set later = 3 %}{{ m() }}",
        "{% macro m(a, b) %}x{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.caller }}",
        "{% macro outer(a) %}{% macro inner(b) %}{{ a }}{{ b }}{% endmacro %}{{ inner(2) }}{{ inner(3) }}{% endmacro %}{{ outer(1) }}",
        "{% for i in l %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}",
        "{% macro m() %}\n  a\n  {% if t %}\n  b\n  {% endif %}\n{% endmacro %}[{{ m() }}]",
        "{%- macro m(x) -%} {{- x -}} {%- endmacro -%} [{{ m('q') }}]", "{{ m }}{% macro m() %}{% endmacro %}",
        "{% macro m() %}x{% endmacro %}{{ m() + 'y' }}{{ m() | upper }}{{ m() ~ 1 }}",
        "{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(**{'a': 3, 'b': 4}) }}{{ m(5, *[6]) }}",
        "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(q=2) }}",
        "{% macro m(a) %}{{ a.b }}{% endmacro %}{{ m() }}", "{% macro m() %}x{% endmacro %}{% call m() %}{% endcall %}",
        "{% macro m() %}{{ loop is defined }}{% endmacro %}{% for i in l %}{{ m() }}{% endfor %}",
        "{% macro m(a, caller=none) %}{{ a }}{{ caller }}{% endmacro %}{{ m(1) }}",
    ]


def loops():
    attributes = ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth",
                  "depth0", "previtem", "nextitem"]
    for attribute in attributes:
        yield "{%% for i in l %%}{{ loop.%s }} {%% endfor %%}" % attribute
        yield "{%% for i in l if i != 1 %%}{{ loop.%s }} {%% endfor %%}" % attribute
        yield "{%% for i in l | map('string') %%}{{ loop.%s }} {%% endfor %%}" % attribute
    yield from [
        "{% for i in [] %}a{% else %}none{% endfor %}", "{% for i in l %}a{% else %}none{% endfor %}",
        "{% for i in l if i > 9 %}a{% else %}none{% endfor %}", "{% for i in nothing %}a{% else %}none{% endfor %}",
        "{% for k in d %}{{ k }}{% endfor %}", "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
        "{% for k, v in d | dictsort %}{{ k }}={{ v }};{% endfor %}", "{% for c in u %}[{{ c }}]{% endfor %}",
        "{% for k, v in d | items %}{{ k }}{{ v }}{% endfor %}{% for k, v in nope | items %}x{% endfor %}",
        "{% for a, b in [(1, 2), [3, 4]] %}{{ a }}{{ b }}{% endfor %}", "{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
        "{% for i in range(3) %}{{ i }}{% endfor %}{% for i in range(5, 0, -2) %}{{ i }}{% endfor %}",
        "{% for i in l %}{% if i == 1 %}{% break %}{% endif %}{{ i }}{% endfor %}",
        "{% for i in l %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
        "{% for i in l %}{% for j in l %}{% if j == 1 %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{% endfor %}",
        "{% for i in l %}{{ loop.cycle('a', 'b') }}{% endfor %}", "{% for i in [1, 1, 2, 2, 1] %}{{ loop.changed(i) }} {% endfor %}",
        "{% for x in nest recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}",
        "{% for i in l %}{% set outer = loop %}{% for j in l %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}",
        "{% for i in l %}{{ loop.last }}{{ loop.nextitem }}{{ loop.previtem }};{% endfor %}",
        "{% for i in l | select('odd') %}{{ loop.length }}{{ i }}{% endfor %}", "{% for i in l %}{{ loop }}{% endfor %}",
        "{% for p in people if p.age > 30 %}{{ loop.index }}{{ p.name }}{% endfor %}",
        "{% set ns = namespace(stop=false) %}{% for i in l if not ns.stop %}{{ i }}{% if i == 1 %}{% set ns.stop = true %}{% endif %}{% endfor %}",
        "{% for i in (1, 2, 3)[::-1] %}{{ i }}{% endfor %}", "{% for i in 1, 2 %}{{ i }}{% endfor %}",
        "{% for x in l %}{{ loop.index ~ '/' ~ loop.length }}{{ ', ' if not loop.last }}{% endfor %}",
        "{% for i in l %}{{ loop.nope }}{% endfor %}", "{% for i in l %}{{ loop(l) }}{% endfor %}",
        "{% for i in 5 %}{% endfor %}", "{% for i in none %}{% endfor %}", "{% for a, b in [1] %}{% endfor %}",
        "{% for a, b in [(1, 2, 3)] %}{% endfor %}", "{% for a, b, c in [(1, 2)] %}{% endfor %}",
        "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.current }}{{ c.next() }}{{ c.next() }}{{ c.reset() }}{{ c.current }}",
        "{% set j = joiner('; ') %}{% for i in l %}{{ j() }}{{ i }}{% endfor %}", "{% for i in l %}{% endfor %}{{ i is defined }}",
        "{% for i in d.values() %}{{ i }}{% endfor %}{% for i in d.keys() %}{{ i }}{% endfor %}",
    ]


def expressions():
    yield from [
        "1 + 2 * 3 - 4 / 2", "7 // 2", "-7 // 2", "7 % 3", "-7 % 3", "7 % -3", "2 ** 10", "2 ** -1", "2 ** 3 ** 2", "-2 ** 2",
        "7.5 // 2", "-7.5 % 2", "1e3", "1.5e-7", "1e16", "1e15", "123456789.123", "0.1 + 0.2", "1 / 3", "10 / 5", "1e22", "5e-324",
        "0x1F", "0b101", "0o17", "1_000", "true + true", "'a' * 3", "3 * [1]", "(1, 2) + (3,)", "[1] + [2]", "'a' + 'b'", "-0.0",
        "1 == 1.0", "'a' < 'b'", "[1, 2] < [1, 3]", "1 < 2 < 3", "3 > 2 > 2", "1 != 2", "not 1", "not not 0", "1 and 2", "0 or 'x'", "0 and 1",
        "'' or none", "1 in l", "5 not in l", "'ell' in s", "'b' in d", "'b' not in d", "'x' in nothing", "1 in (1, 2)", "2 in range(3)",
        "1 if t else 2", "1 if z else 2", "(1 if z) is defined", "1 if z", "'a' if z else 'b' if z else 'c'", "s[0]", "s[-1]", "s[99]", "s[1:4]", "s[::-1]",
        "s[::2]", "s[-3:]", "s[:-3]", "s[10:2]", "u[1]", "u[6:8]", "u[::-1]", "u[-1]", "l[0]", "l[-1]", "l[9]", "l[1:]", "l[::-1]", "l[:2]", "l[5:]",
        "range(10)[2:5]", "range(10)[::3]", "range(5)[-1]", "range(5)", "range(1, 9, 3)", "(1,)", "()", "(1, 'a', none)", "[1, 2.0, 'x', true, none]",
        "{'a': 1, 2: 'b', 1.5: [1]}", "d.a", "d['a']", "d.missing", "d['missing']", "dd.x.y[1].z", "dd.x.y.1.z", "dd['x']['y'][0]", "dd['items']", "d.get('a')",
        "d.get('q')", "d.get('q', 5)", "d.get('q', default=5) if false else 1", "l.0", "nest.1.1.0", "people[0].name", "people[0]['tags'][1]", "d.items() | list",
        "d.keys() | list", "d.values() | list", "d.items()", "d.keys()", "d.values()", "'a' ~ 1 ~ none ~ 2.0 ~ nothing ~ [1]", "none", "true", "False", "None", "n", "f", "f0",
        "big", "neg", "no", "t", "nothing", "s ~ ' ' ~ n", "'it\\'s'", "\"q\\\"q\"", "'a\\nb\\tc'", "'\\x41\\u4f60\\U0001F600'", "'\\q\\\\'", "'a' 'b'", "'\\101'",
        "['a', \"it's\", 'q\"', 'b\\n', 'é', '\\x7f', '\\u200b']", "[u]", "[ws]", "{'a': {'b': [1, (2,)]}}", "1.0 == 1", "true == 1", "none == none", "nothing == nothing",
        "'1' == 1", "[1] == (1,)", "{'a': 1} == {'a': 1}", "l is defined", "(n)", "((n))", "n - -3", "+n", "- n", "n|string + 'x'", "-n|abs", "(-n)|abs", "n*2|int", "s|upper|lower",
        "dict(a=1, b=2)", "dict([('x', 1)])", "dict({'a': 1}, b=3)", "namespace(a=1)", "l|length * 2", "'%s' % 1 + 'a'", "1 + 2 ~ 3", "1 ~ 2 + 3", "2 * 3 ~ 4", "n is odd and n > 3",
        "not n is even", "n is not even", "'a' in l2 and 'b' in l2", "1 < 2 and 2 < 3 or false", "l == [3, 1, 2]", "9223372036854775807", "-9223372036854775807 - 1", "7 // 0.5", "1e308 * 10",
        "big / 3", "9223372036854775807 / 3", "-9223372036854775807 / 9007199254740993", "7 / 9223372036854775807",
        "9007199254740993 / -1", "9007199254740993 / 2", "-9223372036854775807 / 2", "[1,2,3,]", "{'a':1,}", "(1,2,)", "s.upper()[0:2]", "'abc'[1]", "[1,2][0]", "{'a':[1]}['a'][0]", "{'a': 1}.a", "[[1]][0][0]", "'x'.join(['a','b'])", "l.index(1)", "nope.x is defined if false else 3",
        "strftime_now('%G-%V-%u')", "[] | truncate(3)", "nothing | truncate(3)", "l | truncate(3, true, '')", "strftime_now('%Y-%m-%d')", "strftime_now('%d %b %Y')", "strftime_now('%A, %B %d, %Y %H:%M:%S %p %j %U %W %w %y %I %%')", "bos_token ~ eos_token", "add_generation_prompt", "tools", "messages", "documents",
        "0 ** 0", "0.5 ** 2", "(2).__class__ is defined", "''.__class__", "l.__class__ is undefined", "1 .real is defined" if False else "1", "true and 'x' or 'y'", "'' ~ ''", "'a' < 'B'", "'é' > 'z'", "(1, 2) < (1, 2, 3)", "{} == []", "1.5 is number",
    ]


def filters():
    yield from ["%s | upper" % v for v in ("s", "u", "n", "no", "'straße'", "nothing")]
    yield from ["%s | %s" % (v, f) for v in ("s", "low", "u", "e", "ws", "'foo-bar (baz) [qux] o\\'neil'", "'ÀÉ ñandú'", "n", "f", "no", "t", "l")
                for f in ("lower", "capitalize", "title", "trim", "string", "wordcount")]
    yield from ["%s | %s" % (v, f) for v in ("s", "u", "e", "l", "l2", "d", "nest", "(1,2)", "range(4)")
                for f in ("length", "count", "first", "last", "list", "reverse | list", "join", "join('-')")]
    yield from ["%s | %s" % (v, f) for v in ("'42'", "'42.9'", "'x'", "' 7 '", "'0x1f'", "'1e3'", "'-5'", "'+5'", "'1_000'", "''", "n", "f", "-2.7", "t", "no", "l", "'inf'", "'nan'", "'٣'")
                for f in ("int", "float", "int(9)", "float(1.5)", "int(default=3)")]
    yield from ["'%s' | int(0, %d)" % p for p in [("ff", 16), ("0xff", 16), ("101", 2), ("0b101", 2), ("17", 8), ("0o17", 8), ("z", 36), ("0x1f", 0), ("9", 8)]]
    yield from ["%s | round%s" % p for p in itertools.product(("2.5", "3.5", "-2.5", "2.675", "42.55", "7", "1234.5", "0.5", "1.005"),
                                                              ("", "(1)", "(2)", "(0, 'ceil')", "(1, 'floor')", "(-1)", "(1, 'ceil')", "| int"))]
    yield from ["%s | abs" % v for v in ("-3", "-2.5", "neg", "t", "z")]
    yield from ["%s | %s" % (v, f) for v in ("l", "l2", "[2, 1.5, true]", "people | map(attribute='age')", "[]")
                for f in ("sort", "sort(reverse=true)", "sort(case_sensitive=true)", "min", "max", "unique | list", "sum" if v != "l2" else "max(case_sensitive=true)")]
    yield from [
        "l2 | sort(true, true)", "people | sort(attribute='name') | map(attribute='name') | list", "people | sort(attribute='age,name', reverse=true) | map(attribute='name') | join(',')",
        "people | sort(attribute='city.zip') | map(attribute='city.zip') | list", "people | map(attribute='city.zip') | list", "people | map(attribute='tags') | list", "people | map(attribute='tags.0') | list",
        "people | map(attribute='tags', default='none') | list", "people | map(attribute='x.y', default=1) | list", "l2 | map('upper') | list", "l | map('string') | join('+')", "['a b', 'c'] | map('replace', ' ', '_') | list",
        "l | map('round', 1) | list", "l | select('odd') | list", "l | reject('odd') | list", "l | select('gt', 1) | list", "l | select('equalto', 1) | list", "[0, 1, '', 'a', none, []] | select | list",
        "[0, 1, '', 'a', none, []] | reject | list", "people | selectattr('age', '>', 30) | map(attribute='name') | list", "people | rejectattr('age', 'equalto', 31) | list", "people | selectattr('tags') | list | length",
        "people | selectattr('tags', 'defined') | list | length", "people | rejectattr('tags', 'defined') | map(attribute='name') | first", "people | selectattr('name', 'in', ['Ann', 'Cid']) | list | length", "nothing | select('odd') | list",
        "l | select('odd') is iterable", "(l | select('odd')) and true", "l | map('string') | first", "[] | map('string') | first is defined", "people | groupby('age') | list | length", "people | groupby('age')",
        "people | groupby('tags', default='zz') | length" if False else "1", "people | map(attribute='age') | sum", "people | sum(attribute='age')", "people | sum('age', 100)", "[[1], [2]] | sum(start=[])", "d | dictsort", "d | dictsort(true)",
        "d | dictsort(by='value')", "d | dictsort(false, 'value', true)", "d | dictsort(reverse=true)", "d | items | list", "d | list", "d | length", "d | first", "d | last", "d | join(',')", "d | tojson", "dd | tojson", "js | tojson", "js | tojson(ensure_ascii=true)",
        "js | tojson(indent=2)", "nest | tojson(indent=1)", "d | tojson(sort_keys=true)", "d | tojson(separators=(',', ':'))", "d | tojson(indent=4, sort_keys=true)", "[] | tojson(indent=2)", "{} | tojson(indent=2)", "{'a': [], 'b': {}} | tojson(indent=2)",
        "{1: 2, none: 3, true: 4, 1.5: 5} | tojson", "1.0 | tojson", "1e100 | tojson", "(1, 2) | tojson", "u | tojson", "u | tojson(true)", "html | tojson", "none | tojson", "true | tojson", "'\\x7f' | tojson", "'\\x7f' | tojson(true)", "[1.5, 2] | tojson(indent='--')", "big | tojson", "nothing | tojson",
        "l | map('string') | tojson", "d.items() | tojson", "range(2) | tojson", "namespace() | tojson", "d | tojson(2)", "'😀' | tojson(true)", "l | batch(2) | list", "l | batch(2, 'x') | list", "l | slice(2) | list", "l | slice(2, 'x') | list", "[1,2,3,4,5,6,7] | slice(3) | list", "[1,2,3,4,5,6,7] | slice(3, 0) | list",
        "s | replace('l', 'L')", "s | replace('l', 'L', 2)", "s | replace('', '-')", "s | replace('o', n)", "n | replace('7', 'x')", "'aaa' | replace('aa', 'b')", "nothing | default('x')", "e | default('x')", "e | default('x', true)", "no | d('y')", "no | d('y', boolean=true)", "nothing | default", "d.q | default(d.a)",
        "lines | indent", "lines | indent(2)", "lines | indent(2, true)", "lines | indent(2, first=true, blank=true)", "lines | indent('> ')", "'' | indent", "'\\n' | indent(2, true)", "'a\\n' | indent", "'a\\n\\nb' | indent(1, false, true)",
        "s | center(20)", "s | center(21) | length", "u | center(15)", "s | truncate(5)", "s | truncate(9)", "s | truncate(8, true)", "s | truncate(8, false, '!', 0)", "'foo bar baz qux' | truncate(9)", "'foo bar baz qux' | truncate(9, true)", "'foo bar baz qux' | truncate(11)", "'foo bar baz qux' | truncate(11, false, '...', 0)", "u | truncate(4, true, '', 0)",
        "s | first", "s | last", "s | list", "s | reverse", "u | reverse", "s | length", "u | length", "html | e", "html | escape", "html | escape | e", "html | forceescape", "html | safe", "html | safe | e", "(html | safe) ~ '<'", "(html | safe) + '<'", "'<' + ('>' | safe)", "('a' | safe) * 2", "html | striptags", "'<!-- c -->a  <b>b</b>\\n c' | striptags",
        "('<%s>' | safe) % '<'", "('{}<' | safe).format('<')", "('-' | safe).join(['<', '>'])", "('a' | safe).upper()", "[('a' | safe)]", "html | urlencode", "d | urlencode", "'a b/c?d&é' | urlencode", "[('a', 1), ('b c', 'd/e')] | urlencode", "5 | urlencode",
        "{'class': 'a b', 'id': none, 'x': '<'} | xmlattr", "{'a': 1} | xmlattr(false)", "{} | xmlattr", "'%s-%d' | format('a', 3)", "'%(x)s' | format(x=1)", "'%s' | format(l)", "1500 | filesizeformat", "1 | filesizeformat", "999 | filesizeformat", "1000 | filesizeformat", "1048576 | filesizeformat(true)", "1234567890 | filesizeformat", "1e30 | filesizeformat", "'1500' | filesizeformat",
        "d | attr('a')", "d | attr('items') is callable", "people[0] | attr('name') is defined", "s | attr('upper') is callable", "'the quick brown fox jumps over' | wordwrap(10)", "'the quick-brown fox' | wordwrap(9)", "'abcdefghijklmnop' | wordwrap(5)", "'abcdefghijklmnop' | wordwrap(5, false)", "'a b\\n\\nc d' | wordwrap(3, wrapstring='|')", "'well-known state-of-the-art stuff' | wordwrap(12)", "'aa -- bb--cc' | wordwrap(5)",
        "[1, 2, 2, 'A', 'a'] | unique | list", "l2 | unique(true) | list", "people | unique(attribute='age') | map(attribute='name') | list", "people | min(attribute='age') | tojson", "people | max(attribute='name') | tojson", "l2 | min", "l2 | max", "l2 | max(case_sensitive=true)", "[] | min is defined", "s | select('upper') | list", "l | join(', ')", "people | join('|', attribute='name')", "[1, none, 'a', 2.5] | join('/')", "nothing | join", "nothing | list", "nothing | length", "nothing | upper", "nothing | trim",
        "s | pprint", "l | pprint", "5 | pprint", "l | reverse | first", "l | random is number", "nest | map('length') | list", "nest | map('first') | map('default', 'q') | list", "l | map('tojson') | join", "s | trim('Hd')", "'xxaxx' | trim('x')", "'' | first is undefined", "[[1, 'b'], [1, 'a']] | sort", "d.items() | sort", "d.items() | map('first') | list", "d.items() | map(attribute=0) | list", "d.values() | sum", "d.values() | list | sort", "l | sort | first", "(l | sort)[0]", "l | list is sameas l",
    ]


def tests():
    values = ("n", "z", "f", "t", "no", "s", "e", "l", "d", "(1,)", "nothing", "range(2)", "d.items()", "l | map('int')", "dict", "'ABC'", "'abc'", "namespace()")
    names = ("defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "callable", "lower", "upper")
    yield from ["%s is %s" % p for p in itertools.product(values, names)]
    yield from [
        "n is odd", "n is even", "z is even", "f is odd", "9 is divisibleby 3", "9 is divisibleby(4)", "1 is sameas true", "true is sameas true", "none is sameas none", "l is sameas l", "n is eq 7", "n is equalto 7", "n is ne 7", "n is gt 3", "n is lt 3", "n is ge 7", "n is le 6", "n is greaterthan 3", "n is lessthan 9",
        "1 is in l", "'a' is in 'abc'", "1 is not in l", "'upper' is filter", "'nope' is filter", "'odd' is test", "'nope' is test", "('a' | safe) is escaped", "'a' is escaped", "n is not none", "n is not defined", "n is defined and s is string", "n is string or s is string", "n is none or n is number", "s is string and s is not mapping", "n is number == true",
        "(n is odd) == true", "n is odd if t else 3", "[n is odd, n is even]", "l is sequence and l is not string", "not l is mapping", "n is eq(7)", "n is divisibleby 7 and t", "d.a is defined", "d.q is defined", "d['q'] is not defined", "people[0].name is string", "loop is defined", "range is callable", "s.upper is callable",
        "n is integer and n is not boolean", "t is integer", "t is number", "-1 is number", "n is lt 10 | string" if False else "1", "'a' is string ~ 'b'" if False else "2", "l is iterable and d is iterable", "nothing is none", "nothing is string", "nothing is iterable", "nothing is sequence", "nothing is mapping", "nothing is callable", "nothing is boolean",
    ]


def methods():
    yield from ["%s.%s" % p for p in itertools.product(("s", "u", "e", "ws", "'aXbXc'"), (
        "upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "lstrip()", "rstrip()", "split()", "split('X')", "rsplit('X', 1)", "split('X', 1)", "splitlines()", "startswith('a')", "endswith('c')", "find('X')", "count('X')", "replace('X', '--')", "isalpha()", "isdigit()", "isspace()", "isupper()", "islower()", "isalnum()", "istitle()", "partition('X')", "rpartition('X')", "zfill(14)", "ljust(14, '.')", "rjust(14, '.')", "center(15, '*')", "encode is defined" if False else "isnumeric()"))]
    yield from [
        "' a b  c '.split()", "' a b  c '.split(' ')", "' a b  c '.split(none, 1)", "'a,b,c'.split(',', maxsplit=1)", "'a,b,c'.rsplit(',')", "'a b c'.rsplit(none, 1)", "'a,b,c'.split(sep=',')", "'xxhixx'.strip('x')", "'xyhiyx'.strip('xy')", "'xxhi'.lstrip('x')", "'hixx'.rstrip('x')", "'你好你'.strip('你')",
        "'hello'.startswith(('he', 'x'))", "'hello'.startswith('l', 2)", "'hello'.endswith('l', 0, 4)", "'hello'.find('l', 3)", "'hello'.rfind('l')", "'hello'.index('l')", "'hello'.rindex('l')", "'hello'.count('l')", "'hello'.count('')", "'hello'.replace('l', 'L', 1)", "'-'.join('abc')", "', '.join(l2)", "''.join([])",
        "'a\\tb'.expandtabs(4)", "'abc'.removeprefix('a')", "'abc'.removesuffix('c')", "'+5'.zfill(5)", "'-5'.zfill(5)", "'x'.isidentifier()", "'1x'.isidentifier()", "'²'.isdigit()", "'²'.isdecimal()", "'½'.isnumeric()", "'٣'.isdecimal()", "'abc'.isascii()", "'é'.isascii()", "'a\\n'.isprintable()", "'Straße'.upper()", "'ΑΣ'.lower()", "'ΑΣΑ'.lower()", "'ǆ'.title()", "\"they're bill's\".title()", "'ﬁn'.capitalize()", "'İ'.lower()", "'a b'.swapcase()",
        "d.get('a')", "d.keys() | list", "d.items() | list | first", "d.copy()", "'a' in d.keys()", "d.values() | list", "l.index(2)", "l.count(3)", "(1, 2, 2).count(2)", "(1, 2).index(2)", "l.copy()", "(1.0).is_integer()", "(1.5).is_integer()", "u.find('好')", "u.split()", "u.replace('é', 'e')", "u.index('你')", "lines.splitlines()", "lines.splitlines(true)", "'a\\x0bb\\u2028c'.splitlines()", "'%s'.__mod__ is defined" if False else "3", "'abc'.format", "s.nope", "l.nope", "n.nope", "s.upper", "d.items", "dd.items" if False else "4",
    ]


def formatting():
    yield from ["'%s' %% %s" % p for p in [
        ("%s", "n"), ("%s %s", "(1, 'a')"), ("%d", "5.7"), ("%5d|", "42"), ("%-5d|", "42"), ("%05d", "-42"), ("%+d", "5"), ("% d", "5"), ("%x", "255"), ("%X", "255"), ("%#x", "255"), ("%o", "8"), ("%#o", "8"), ("%e", "12345.678"), ("%.2e", "0"), ("%f", "3.14159"), ("%.2f", "2.675"), ("%8.3f|", "3.14159"), ("%g", "1e10"), ("%g", "0.0001"), ("%G", "1e-10"), ("%r", "'a'"), ("%a", "'é'"), ("%c", "65"), ("%c", "'x'"), ("%%", "()"), ("%5s|", "'ab'"), ("%-5s|", "'ab'"), ("%.2s|", "'abcdef'"), ("%*d", "(5, 3)"), ("%.*f", "(2, 3.14159)"), ("%(a)s-%(b)d", "d"), ("%s", "none"), ("%s", "[1, 2]"), ("%s", "(1,)"), ("%i", "true"), ("%s", "nothing"), ("%.5d", "42"), ("%s", "{'a': 1}"), ("%u", "3"), ("%s", "u"), ("%5s|", "u"), ("%.3s|", "u"), ("%F", "1.5"), ("%08.2f", "-3.14159"), ("%+.1f", "2.25"), ("% s", "1"), ("%ld", "5"), ("x", "()"), ("x", "{}")]]
    yield from ["'%s'.format(%s)" % p for p in [
        ("{} {}", "1, 'a'"), ("{0}{1}{0}", "1, 2"), ("{a}-{b}", "a=1, b=2"), ("{:5}|{:<5}|{:>5}|{:^5}|", "1, 2, 3, 4"), ("{:5}|{:<5}|{:>5}|{:^5}|", "'a', 'b', 'c', 'd'"), ("{:*^9}", "'mid'"), ("{:05d}", "42"), ("{:+d} {: d}", "1, 2"), ("{:x} {:X} {:o} {:b} {:#x} {:#b}", "255, 255, 8, 5, 255, 5"), ("{:,}", "1234567"), ("{:_}", "1234567"), ("{:,.2f}", "1234567.891"), ("{:.3f}", "3.14159"), ("{:e}", "12345.678"), ("{:g}", "1e10"), ("{:%}", "0.256"), ("{:.1%}", "0.256"), ("{:.3}", "'abcdef'"), ("{:.3}", "3.14159"), ("{!r} {!s} {!a}", "'é', 'é', 'é'"), ("{{}} {}", "1"), ("{0[a]} {0[b]}", "d"), ("{0.name}", "people[0]"), ("{0[0]} {0[1]}", "l"), ("{:{}}|", "'a', 5"), ("{:>{w}}|", "'a', w=4"), ("{}", "none"), ("{}", "true"), ("{:d}", "true"), ("{}", "[1, 'a']"), ("{:c}", "65"), ("{:010,}", "1234"), ("{:.0f}", "2.5"), ("{:5.1f}|", "2.25"), ("{:<}", "3"), ("{:=+6d}", "7"), ("{:s}", "'x'"), ("{}", "1.0"), ("{}", "u"), ("{:10}|", "u"), ("{:^10}|", "1.5"), ("{:.2}", "1234.5"), ("{:.6}", "1234.5"), ("{:.1}", "1.0"), ("{:#.3g}", "1.0"), ("{0[x][y]}", "dd"), ("{:08.3f}", "-3.14159"), ("{:n}", "5"), ("{:,}", "12.5"), ("{:+}", "1.5"), ("{:z}", "1") if False else ("{}", "7"),
        ("{", "1"), ("}", "1"), ("{}{}", "1"), ("{0}{}", "1, 2"), ("{a}", "1"), ("{:d}", "'a'"), ("{:s}", "1"), ("{:q}", "1"), ("{:.2d}", "1"), ("{!x}", "1"), ("{:5}", "none"), ("{:5}", "l"), ("{0.nope}", "1"), ("{0[9]}", "l"), ("{:=5}", "'a'"), ("{:+}", "'a'"), ("{:,}", "'a'"), ("{0!r:>6}", "'a'")]]
    yield from ["'%s' %% %s" % p for p in [("%d", "'a'"), ("%s %s", "1"), ("%s", "(1, 2)"), ("%y", "1"), ("%", "1"), ("%(a)s", "1"), ("%(q)s", "d"), ("%x", "1.5"), ("%c", "'ab'"), ("%f", "'a'"), ("%*d", "('a', 1)"), ("%(a", "d"), ("%d", "nothing"), ("%5", "1")]]


def errors():
    yield from show([
        "nothing.x", "nothing[0]", "nothing()", "nothing + 1", "1 + nothing", "nothing < 1", "-nothing", "d.q.r", "d['q']['r']", "l[9].x", "s.nope()", "no.x.y", "no()", "n()", "s()", "'a' + 1", "1 + 'a'", "[1] + (1,)", "[1] + 'a'", "1 - 'a'", "'a' - 1", "'a' * 'b'", "'a' * 1.5", "none + 1", "-'a'", "+none", "1 < 'a'", "none < 1", "[1] < 1",
        "1 in 5", "1 in 'abc'", "1 // 0", "1 % 0", "1 / 0", "1.0 / 0", "1.0 // 0", "1.0 % 0", "0 ** -1", "l['a']", "s['a']", "n[0]", "no[0]", "n[1:]", "no[1:]", "d[1:]", "nothing[1:]", "l['a':]", "s[::0]", "{[1]: 2}", "{{}: 1}", "5 | length", "none | length", "n | first", "n | list", "n | join", "n | last", "l | map | list", "l | map('nope') | list", "l | select('nope') | list",
        "people | selectattr | list", "l | sum(attribute='x')", "l2 | sum", "[1, 'a'] | sort", "[1, 'a'] | max", "5 | dictsort", "d | dictsort(by='q')", "5 | items", "s | round", "s | abs", "l | round", "f | round(1, 'q')", "'a' | indent(none)", "5 | indent", "s | truncate(1)", "s | truncate(5, leeway=-1)", "s | batch", "l | batch", "n | batch(2) | list", "l | slice(0) | list", "s | replace('a')", "s | center('x')", "s | nope", "s is nope", "raise_exception('my words')", "raise_exception()", "range()", "range('a')", "range(1, 2, 0)", "range(1000000)", "range(1.5)",
        "namespace(1)", "dict(1)", "dict([1])", "dict([(1, 2, 3)])", "s.split('')", "s.index('zz')", "l.index(99)", "s.startswith(1)", "', '.join([1])", "', '.join(5)", "s.count()", "s.upper(1)", "s.nope", "cycler()", "loop.index", "caller()", "d.get()", "[].pop()", "[1].pop(5)", "{}.pop('a')", "(1).append(2)", "(1, 2).append(3)", "s | tojson(nope=1)", "s | upper(1)", "s | default(1, 2, 3)", "s is divisibleby 2", "n is divisibleby 0", "n is divisibleby", "n is in 5", "super()", "9223372036854775807 + 1" if False else "1", "'a' % 1 % 2", "d | xmlattr('x') if false else {'a b': 1} | xmlattr", "s | int(base=99)", "none | float(none)", "html | wordwrap(0)", "l | join(1)", "d.update(1)",
    ])
    yield from [
        "{% set ns.a = 1 %}", "{% set d.a = 1 %}", "{% set ns = 5 %}{% set ns.a = 1 %}", "{% set a, b = 1 %}", "{% set a, b = [1] %}", "{% set a, b = nothing %}", "{% if nothing.x %}{% endif %}", "{% for x in nothing.y %}{% endfor %}", "line1\nline2 {{ nothing.x }}", "{% macro m(a) %}{{ a() }}{% endmacro %}{{ m() }}",
        "{% if %}x{% endif %}", "{% if t %}x", "{{ }}", "{{ 1", "{% for %}{% endfor %}", "{% for i in l %}x", "{% endfor %}", "{% else %}", "{% nope %}", "{% do x %}", "{{ 1 + }}", "{{ (1 }}", "{{ [1 }}", "{{ 1) }}", "{{ {1} }}", "{{ a b }}", "{{ 'abc }}", "{# abc", "{% raw %} abc", "{% set %}", "{% set 1 = 2 %}", "{% set x %}", "{% set true = 1 %}", "{% macro %}{% endmacro %}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro m(a %}{% endmacro %}", "{% call 5 %}{% endcall %}", "{% filter %}{% endfilter %}", "{% filter nope %}{% endfilter %}", "{% break %}", "{% continue %}",
        "{{ a.1b }}", "{{ a. }}", "{{ a | }}", "{{ a is }}", "{{ a is b is c }}", "{{ f(a=1, 2) }}", "{{ f(**a, *b) }}", "{{ ! }}", "{{ a @ b }}", "{{ 1 if }}", "{{ x[ }}", "{{ {'a' 1} }}", "{{ '\\x4' }}", "{{ $ }}", "{{ a ? b }}", "{% if t %}{% endfor %}", "{% block a %}", "{% block a %}{% endblock %}{% block a %}{% endblock %}", "{% extends 'x' %}", "{% include 'x' %}", "{% import 'x' as y %}", "{% from 'x' import y %}", "{% 5 %}", "{%", "{{", "{#", "{{ f(a, }}", "{{ not }}", "{{ in l }}", "{% if t %}{{ s | nope }}{% endif %}", "{% if z %}{{ s | nope }}{% endif %}ok", "{{ (s | nope) if z else 'ok' }}", "{% if z %}{{ s is nope }}{% endif %}ok", "{% if z %}{% for i in l %}{{ i | nope }}{% endfor %}{% endif %}ok",
    ]


def expected(template, context):
    try:
        text = ENV.from_string(template).render(
            messages=[], tools=None, documents=None, add_generation_prompt=True, bos_token="<s>",
            eos_token="</s>", **copy.deepcopy(context))
        text.encode("utf-8")
        return {"text": text}
    except Exception as error:  # noqa: BLE001: whatever the template raises is the answer
        return {"error": type(error).__name__, "message": str(error)}


# Values and operations from which random expressions are put together.
ATOMS = ["s", "e", "u", "n", "z", "neg", "f", "t", "no", "l", "l2", "nest", "d", "people", "lines", "nothing",
         "'a'", "'Ab c'", "1", "-2", "2.5", "[]", "{}", "(1, 'b')", "range(4)", "none", "true", "d.items()", "['x', 1]"]
UNARY = ["-%s", "not %s", "(%s)|string", "(%s)|length", "(%s)|upper", "(%s)|list", "(%s)|first", "(%s)|last",
         "(%s)|join(',')", "(%s)|tojson", "(%s)|int", "(%s)|float", "(%s)|default('D')", "(%s)|default('D', true)",
         "(%s)|sort", "(%s)|reverse|list", "(%s)|unique|list", "(%s)|sum", "(%s)|max", "(%s)|min", "(%s)|round",
         "(%s)|title", "(%s)|trim", "(%s)|capitalize", "(%s)|replace('a', 'b')", "(%s)|map('string')|list",
         "(%s)|select|list", "(%s)|batch(2)|list", "(%s)|abs", "(%s)|e", "(%s)|items|list", "(%s)|dictsort",
         "(%s)[0]", "(%s)[-1]", "(%s)[1:]", "(%s)[::-1]", "(%s)['a']", "(%s).a", "(%s).upper()", "(%s).split()",
         "(%s) is string", "(%s) is mapping", "(%s) is defined", "(%s) is number", "(%s) is sequence", "(%s) is odd",
         "'%%s' %% (%s)", "'%%5s|' %% (%s,)", "'{}'.format(%s)", "(%s)|wordcount", "(%s)|center(9)", "(%s)|indent(1)",
         "(%s)|map(attribute='name')|list", "(%s)|selectattr('age', 'gt', 30)|list", "(%s)|groupby('age')", "(%s)|slice(2)|list"]
BINARY = ["(%s) + (%s)", "(%s) - (%s)", "(%s) * (%s)", "(%s) / (%s)", "(%s) // (%s)", "(%s) %% (%s)", "(%s) ** (%s)",
          "(%s) ~ (%s)", "(%s) == (%s)", "(%s) != (%s)", "(%s) < (%s)", "(%s) >= (%s)", "(%s) in (%s)", "(%s) not in (%s)",
          "(%s) and (%s)", "(%s) or (%s)", "(%s) if (%s) else 'E'", "(%s)[%s]", "(%s)|join(%s)", "(%s)|default(%s)",
          "[%s, %s]", "{'k': %s, 'a': %s}", "(%s, %s)", "(%s) is sameas (%s)", "(%s) is eq (%s)", "(%s)|round(%s)", "(%s)|int(%s)"]


def random_expression(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(ATOMS)
    if rng.random() < 0.6:
        return rng.choice(UNARY) % random_expression(rng, depth - 1)
    return rng.choice(BINARY) % (random_expression(rng, depth - 1), random_expression(rng, depth - 1))


def random_body(rng, depth):
    parts = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.randint(0, 9) if depth else rng.randint(0, 2)
        minus = lambda: rng.choice(["", "", "-", "+"])  # noqa: E731
        gap = lambda: rng.choice(["", " ", "\n", "\n  ", "  \n"])  # noqa: E731
        expression = random_expression(rng, 2)
        if kind <= 1:
            parts.append("{{%s %s %s}}" % (rng.choice(["", "-"]), expression, rng.choice(["", "-"])))
        elif kind == 2:
            parts.append(rng.choice(["text", "{# c #}", " x ", "\n y\n", "{%%%s set v = %s %s%%}" % (minus(), expression, minus()), "{{ v }}"]))
        elif kind <= 5:
            parts.append("{%%%s if %s %s%%}%s%s%s{%%%s else %s%%}%s{%%%s endif %s%%}" % (
                minus(), expression, minus(), gap(), random_body(rng, depth - 1), gap(), minus(), minus(),
                random_body(rng, depth - 1), minus(), minus()))
        elif kind <= 7:
            parts.append("{%%%s for i in %s %s%%}%s%s{{ loop.index }}{{ i }}%s{%%%s endfor %s%%}" % (
                minus(), expression, minus(), gap(), random_body(rng, depth - 1), gap(), minus(), minus()))
        elif kind == 8:
            parts.append("{%% set w %%}%s{%% endset %%}[{{ w }}]" % random_body(rng, depth - 1))
        else:
            parts.append("{%% macro m(a, b=%s) %%}%s{{ a }}{{ b }}{%% endmacro %%}{{ m(%s) }}" % (
                rng.choice(ATOMS), random_body(rng, depth - 1), rng.choice(ATOMS)))
        parts.append(gap())
    return "".join(parts)


def main():
    warnings.simplefilter("ignore")
    if len(sys.argv) == 4:
        # Constants folded at compile time resolve by other rules, which no template relies on.
        ENV.optimized = False
        rng = random.Random(int(sys.argv[2]))
        templates = [random_body(rng, 2) if i % 2 else "{{ %s }}" % random_expression(rng, 3)
                     for i in range(int(sys.argv[3]))]
    else:
        templates = list(cases())
    out = []
    for template in dict.fromkeys(templates):
        result = expected(template, CONTEXT)
        if not any(mark in result.get("text", "") for mark in UNSTABLE):
            out.append({"template": template, **result})
    document = ",\n".join(json.dumps(case, ensure_ascii=False) for case in out)
    print('{"context": %s,\n"cases": [\n%s\n]}' % (json.dumps(CONTEXT, ensure_ascii=False), document))


if __name__ == "__main__":
    main()
