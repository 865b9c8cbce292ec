"""Hostile specs by name. Most are made here rather than stored: they are large, or not even text."""

from __future__ import annotations

from collections.abc import Callable

HEAD = "envscaler: 1\nname: hostile\n"
TOOL = "tools:\n  act:\n    kind: read\n    description: Act.\n    do: |\n      return 1\n"


def logic(body: str, params: str = "{x: str}") -> str:
    """A spec with one tool of this body."""
    lines = "".join(f"      {line}\n" for line in body.split("\n"))
    return f"{HEAD}tools:\n  act:\n    kind: read\n    description: Act.\n    params: {params}\n    do: |\n{lines}"


def described(text: str) -> str:
    """A spec with something in the place of its description, as YAML."""
    return f"{HEAD}description: {text}\n{TOOL}"


_RETURN = "return "

LOGIC: dict[str, str] = {
    "attribute-walk": "return x.__class__",
    "attribute-walk-of-tuple": "return ().__class__.__bases__",
    "builtins-of-a-module": "return date.__builtins__",
    "getattr": "return getattr(x, 'a')",
    "globals": "return globals()",
    "eval": "return eval('1')",
    "import-call": "return __import__('os')",
    "import-statement": "import os",
    "format-string": "return '{0.__class__}'.format(x)",
    "format-string-percent": "return '%(a)s' % x",
    "formatted-attribute": "return f'{x.__class__}'",
    "lambda-call": "return (lambda: 1)()",
    "exec-in-comprehension": "return [exec('1') for i in x]",
    "class-statement": "class A:\n    pass",
    "while-true": "while True:\n    pass",
    "decorator": "@x\ndef f():\n    pass",
    "nonlocal-escape": "global x",
    "walrus": "return (y := x)",
    "string-escape": "return '''\n' + x\n'''.join(x).__doc__",
    "parentheses": _RETURN + "(" * 5000 + "1" + ")" * 5000,
    "brackets": _RETURN + "[" * 5000 + "]" * 5000,
    "braces": _RETURN + "{1:" * 3000 + "1" + "}" * 3000,
    "calls": _RETURN + "len(" * 3000 + "x" + ")" * 3000,
    "sum-of-many": _RETURN + "+".join("1" * 8000),
    "sum-of-20000": _RETURN + "+".join("1" * 20_000),
    "not-not-not": _RETURN + "not " * 3500 + "x",
    "minus-minus": _RETURN + "-" * 14_000 + "1",
    "attribute-chain": _RETURN + "x" + ".a" * 7000,
    "call-chain": _RETURN + "x" + "()" * 7000,
    "subscript-chain": _RETURN + "x" + "[0]" * 5000,
    "comparison-chain": _RETURN + "<".join("1" * 7000),
    "conditional-chain": _RETURN + "1 if x else " * 1200 + "1",
    "lambda-chain": _RETURN + "lambda: " * 1900 + "1",
    "elif-chain": "if x == '':\n    return 1\n" + "elif x == '':\n    return 1\n" * 400,
    "nested-ifs": "".join("    " * n + "if x == '':\n" for n in range(60)) + "    " * 60 + "return 1",
    "nested-f-strings": _RETURN + "f'{" * 1000 + "1" + "}'" * 1000,
    "format-specs": _RETURN + "f'" + "{x:" * 1000 + "}" * 1000 + "'",
    "texts-side-by-side": _RETURN + "'' " * 5000,
    "digits": _RETURN + "9" * 5000,
    "huge-power": "return 9**9**9",
    "huge-shift": "return 1 << 10**9",
    "nul": "return '\x00'",
    "look-alike-name": "return ｘ",
    "patterns": "match x:\n    case " + "[" * 25 + "]" * 25 + ":\n        return 1",
    "unclosed": "return (((((",
    "block-too-large": "y = 1\n" * 3000 + "return y",
}

YAML: dict[str, str] = {
    "nested-lists": described("[" * 500 + "]" * 500),
    "nested-lists-by-thousands": described("[" * 30_000),
    "nested-mappings": described("{a: " * 5000),
    "nested-dashes": described("\n" + "- " * 5000 + "a"),
    "nested-questions": described("\n  " + "? " * 5000 + "a"),
    "nested-indentation": HEAD + "types:\n" + "".join(" " * n + " a:\n" for n in range(2000)),
    "alias": described("*x"),
    "alias-bomb": HEAD + "constants: {A: &a [1, 1]}\n" + TOOL,
    "python-tag": described("!!python/object/apply:os.system [id]"),
    "merge-key": HEAD + "<<: {a: 1}\n" + TOOL,
    "name-is-code": HEAD
    + 'tools:\n  "x(): import os #":\n    kind: read\n    description: Act.\n    do: |\n      return 1\n',
    "name-with-newline": HEAD
    + 'tools:\n  "x\\nimport os":\n    kind: read\n    description: Act.\n    do: |\n      return 1\n',
    "type-is-code": HEAD + 'types:\n  "A: pass\\nimport os": str\n' + TOOL,
    "lone-surrogate": described('"\\ud800"'),
    "raw-surrogate": described("\ud800"),
    "escape-beyond-unicode": described('"\\UFFFFFFFF"'),
    "terminal-escape": described("\x1b]0;owned\x07"),
    "text-direction": described("\u2028"),
    "one-long-line": described("x" * 900_000),
    "many-keys": HEAD + "constants:\n" + "".join(f"  A{n}: 1\n" for n in range(40_000)),
    "too-large": HEAD + "# padding\n" * 120_000,
    "regex-bomb": HEAD + "types:\n  A: {fields: {a: {type: str, pattern: '(a+)+$'}}}\n" + TOOL,
    "regex-of-groups": HEAD
    + "types:\n  A: {fields: {a: {type: str, pattern: '"
    + "(" * 99
    + ")" * 99
    + "'}}}\n"
    + TOOL,
    "file-outside": described("x") + "initial_state: {file: ../../etc/passwd.json}\n",
    "file-absolute": described("x") + "initial_state: {file: /etc/passwd.json}\n",
    "file-device": described("x") + "initial_state: {file: /dev/zero}\n",
    "huge-number": HEAD + "constants: {A: " + "9" * 5000 + "}\n" + TOOL,
    "not-a-number": HEAD + "constants: {A: {type: float, value: .nan}}\n" + TOOL,
    "million-colons": "a" + ":" * 900_000,
    "unclosed-quote": described('"' + "x\n  " * 20_000),
    "types-in-a-ring": HEAD + "types:\n  A: {list: B}\n  B: {list: A}\n" + TOOL,
    "types-in-a-row": HEAD
    + "types:\n"
    + "".join(f"  T{n}: {{list: T{n + 1}}}\n" for n in range(3000))
    + "  T3000: str\n"
    + TOOL,
}


def every() -> dict[str, Callable[[], str]]:
    """All hostile texts by name, made when asked for."""
    found: dict[str, Callable[[], str]] = {f"yaml-{name}": (lambda t=text: t) for name, text in YAML.items()}
    found.update({f"logic-{name}": (lambda b=body: logic(b)) for name, body in LOGIC.items()})
    return found
