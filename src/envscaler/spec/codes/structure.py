"""The codes of reading a spec, each with its reason and a bad and a good snippet."""

from __future__ import annotations

from envscaler.spec.codes.base import Code

__all__ = ["STRUCTURE"]

_NOTES = """\
states:
  notes:
    record: Note
    key: {name: note_id, make: "N-{n}"}
    fields:
      text: str
      level: {type: int, ge: 1, le: 5, default: 1}
      status: {enum: [open, done], default: open}
      about: {ref: notes, null: true}
"""


def _state(records: str) -> str:
    lines = "".join(f"    {line}\n" for line in records.strip("\n").split("\n"))
    return f"{_NOTES}initial_state:\n  notes:\n{lines}"


def _fields(*fields: str, key: str = '{name: note_id, make: "N-{n}"}', more: str = "") -> str:
    lines = "".join(f"      {line}\n" for line in fields)
    return f"states:\n  notes:\n    record: Note\n    key: {key}\n{more}    fields:\n{lines}"


def _tool(*lines: str, name: str = "ping", body: str = 'return "pong"') -> str:
    keys = "".join(f"    {line}\n" for line in lines)
    return f"tools:\n  {name}:\n{keys}    do: |\n      {body}\n"


_READ = ("kind: read", "description: Answer.")

STRUCTURE = (
    # -- the text of the file
    Code("too-large", "A file beyond the limits of size",
         "A file holds at most 1 MiB, a line 32,768 characters, and a file 16,000 keys and values: past that, reading takes long, and data"
         " is better kept in a JSON file.",
         f"description: {'x' * 33_000}\n", "description: Short.\n"),
    Code("too-deep", "Collections that nest too deep",
         "Mappings, lists and types nest at most 40 levels deep, so that no text can exhaust the reader.",
         f"initial_state: {{x: {'[' * 60}{']' * 60}}}\n", "initial_state: {}\n"),
    Code("not-utf8", "A file that is not UTF-8",
         "Specs are UTF-8, with or without a byte order mark.", 'title: "Caf\udce9"\n', 'title: "Café"\n'),
    Code("surrogate", "Half a character",
         "A lone surrogate is no character; it breaks every file and message that it gets into.",
         'title: "\\ud83d"\n', 'title: "\\U0001F600"\n'),
    Code("control-character", "A control character in the text",
         "Control characters and exotic line separators cannot be seen, and make line numbers ambiguous.",
         "title: a\x07b\n", 'title: "a\\u0007b"\n'),
    Code("tab", "A tab in the indentation",
         "YAML and Python count a tab differently; indentation is spaces.",
         "states:\n\tnotes: {}\n", "states: {}\n"),
    Code("yaml-syntax", "Text that is not YAML",
         "The file cannot be read past this place. Most often a text that holds `: ` or begins with a bracket or quote needs quotes around"
         " the whole of it.",
         "title: Notes: a place for them\n", 'title: "Notes: a place for them"\n'),
    Code("not-a-mapping", "A file without keys",
         "A spec is a mapping: `key: value` lines at the left margin.",
         "- notes\n- tools\n", "title: Notes\n"),
    Code("duplicate-key", "A key that stands twice",
         "Of two equal keys one would be lost silently. The same goes for two outside names of one structure.",
         "title: Notes\ntitle: Other notes\n", "title: Notes\n"),
    Code("complex-key", "A key that is no text",
         "Keys are texts. In curly brackets a name alone is a key without a value, which YAML takes for a mapping.",
         "title: Notes\n? [a, b]\n: 1\n", "title: Notes\n"),
    Code("anchor", "An anchor or alias",
         "Anchors (`&a`) and aliases (`*a`) are not part of the language: what two places share is a named type, a constant or a helper.",
         "title: &title Notes\ndescription: *title\n", "title: Notes\ndescription: Notes\n"),
    Code("merge-key", "A merge key",
         "`<<` puts keys where nobody sees them; entries are written out.",
         "constants:\n  <<: {A_LIMIT: 3}\n", "constants:\n  A_LIMIT: 3\n"),
    Code("tag", "A tag",
         "Tags (`!x`) are not part of the language: the declared type of a place decides what a value is.",
         "title: !text Notes\n", "title: Notes\n"),
    Code("folded", "A folded text",
         "Folded texts (`>`) lose line breaks silently; a literal block (`|`) keeps them.",
         "description: >\n  Notes.\n", "description: |\n  Notes.\n"),
    Code("directive", "A YAML directive",
         "`%YAML` and `%TAG` change how the rest is read; the language has one way.",
         "%YAML 1.2\n---\nenvscaler: 1\nname: snippet\n" + _tool(*_READ), "title: Notes\n"),
    Code("multiple-documents", "A second document in the file",
         "A file holds one spec.", "title: Notes\n---\ntitle: Other notes\n", "title: Notes\n"),
    Code("more-problems", "More problems than are shown",
         "The first 200 problems of a file are shown; the rest is counted.",
         "".join(f"key_{n}: 1\n" for n in range(220)), "title: Notes\n"),
    # -- keys and names
    Code("unknown-key", "A key that the form does not have",
         "A misspelt key would be ignored; so every mapping of the language has a fixed set of keys.",
         "titel: Notes\n", "title: Notes\n"),
    Code("missing-key", "A key that is needed",
         "The form cannot be understood without the key.",
         _tool("description: Answer."), _tool(*_READ)),
    Code("null-value", "A key without a value",
         "A key with nothing after it may be forgotten, or come of a text that YAML took apart: `{pay: f(a, b)}` is two keys.",
         "title:\n", "title: Notes\n"),
    Code("wrong-kind", "A mapping, list or text in the place of another",
         "The place holds one of the three.", "title: [Notes]\n", "title: Notes\n"),
    Code("conflicting-keys", "Keys that exclude each other",
         "The keys say two different things of one place.",
         _fields("text: {type: str, enum: [a, b]}"), _fields("text: {enum: [a, b]}")),
    Code("bad-choice", "A value that is none of the choices",
         "The key takes one of a few words.", _tool("kind: query", "description: Answer."), _tool(*_READ)),
    Code("bad-version", "A language version that this release does not read",
         "`envscaler: 1` is the version of the language, not of the spec.", "envscaler: 2\n", "envscaler: 1\n"),
    Code("not-a-block", "Logic outside of a literal block",
         "Outside of a block YAML misreads code silently, so logic stands behind `|`, on lines of its own.",
         "tools:\n  ping:\n    kind: read\n    description: Answer.\n    do: return 1\n", _tool(*_READ)),
    Code("bad-name", "A name that cannot be one",
         "Names become names of generated code: types are capitalised words, constants capitals, the rest lower case; keywords of Python"
         " and names that begin with _ are not free.",
         _tool(*_READ, name="Ping-Me"), _tool(*_READ, name="ping_me")),
    Code("reserved-name", "A name that something else has for good",
         "Built-in names of the language cannot be hidden, and trainers and servers have tool names of their own.",
         _tool(*_READ, name="reset"), _tool(*_READ, name="reset_counter")),
    Code("name-clash", "Two things of one name",
         "Logic names states, types, records, constants and helpers alike, so it could not tell them apart.",
         'constants:\n  NOTES: 3\ntypes:\n  NOTES: {enum: [a, b]}\n', "constants:\n  NOTES: 3\ntypes:\n  Notes: {enum: [a, b]}\n"),
    Code("bad-outside-name", "An outside name that providers refuse",
         "Parameter names reach the schemas of model providers, which accept 1 to 64 of `A-Z a-z 0-9 _ . -`.",
         _tool(*_READ, "params: {size: {type: int, json: größe}}", body="return size"),
         _tool(*_READ, "params: {size: {type: int, json: groesse}}", body="return size")),
    # -- types
    Code("unknown-type", "A type that is not declared",
         "Types are the built-in ones and those under `types`.", _fields("text: string"), _fields("text: str")),
    Code("recursive-type", "A type within itself",
         "Schemas of tools cannot say a type that contains itself. Records may refer to each other by key.",
         "types:\n  Part: {fields: {name: str, parts: {list: Part}}}\n",
         _fields("name: str", "parts: {list: {ref: notes}}")),
    Code("record-type", "A record used as the type of a field",
         "A record stands in its state only; others hold its key. Helpers may take and return records.",
         _fields("text: str", "next: Note"), _fields("text: str", "next: {ref: notes, null: true}")),
    Code("bad-type", "A type form that makes no sense",
         "The form is not one of the language's, or cannot be put together like this.",
         _fields("texts: [str]"), _fields("texts: {list: str}")),
    Code("bad-enum", "An enum with members that cannot be",
         "An enum lists different texts, or different whole numbers.",
         _fields("status: {enum: [open, open]}"), _fields("status: {enum: [open, done]}")),
    Code("bad-union", "A union whose members cannot be told apart",
         "Each member has the tag as a field that is a different constant.",
         "types:\n  A: {fields: {by: {const: x}}}\n  B: {fields: {by: {const: x}}}\n  C: {union: [A, B], tag: by}\n",
         "types:\n  A: {fields: {by: {const: x}}}\n  B: {fields: {by: {const: y}}}\n  C: {union: [A, B], tag: by}\n"),
    Code("misplaced-attribute", "An attribute that means nothing here",
         "Bounds go with numbers and dates, lengths with texts and lists, `as` with a ref; attributes stand on a field, not on a type within"
         " a type.",
         _fields("text: {type: str, ge: 1}"), _fields("text: {type: str, min_length: 1}")),
    Code("bad-bounds", "Bounds that leave no value",
         "The least value is above the greatest.", _fields("level: {type: int, ge: 5, le: 1}"), _fields("level: {type: int, ge: 1, le: 5}")),
    Code("bad-pattern", "A pattern beyond the allowed expressions",
         "Patterns are simple regular expressions: characters, classes, groups, alternatives and repetitions; the whole text must match.",
         _fields("text: {type: str, pattern: '(a)\\1'}"), _fields("text: {type: str, pattern: '(a)a'}")),
    Code("slow-pattern", "A pattern that can take very long",
         "Where two ways to go on begin with the same character, a matcher tries again and again. Patterns are those in which each next"
         " character decides.",
         _fields("text: {type: str, pattern: '(a+)+b'}"), _fields("text: {type: str, pattern: 'a+b'}")),
    # -- states
    Code("unknown-state", "A state that is not declared",
         "The name is none of those under `states`.", _fields("text: str", "next: {ref: note, null: true}"), _fields("text: str", "next: {ref: notes, null: true}")),
    Code("bad-make", "A template that makes no keys",
         "`make` is text with one counter, {n} or {n:04d}, or one seeded part, {hex:8}.",
         _fields("text: str", key="{name: note_id, make: N-0001}"), _fields("text: str", key='{name: note_id, make: "N-{n:04d}"}')),
    Code("bad-tree", "A tree whose fields do not fit",
         "The parent is a nullable reference to the collection itself, the name a text.",
         _fields("title: str", "parent: {ref: notes}", more="    tree: {parent: parent, name: title}\n"),
         _fields("title: str", "parent: {ref: notes, null: true}", more="    tree: {parent: parent, name: title}\n")),
    # -- data
    Code("bad-value", "A value that is none of its type",
         "Values are read by the declared type of their place: `no` is a text where text is declared, and nothing else.",
         _state("N-1: {text: Buy milk, level: high}"), _state("N-1: {text: Buy milk, level: 2}")),
    Code("out-of-range", "A value beyond its bounds",
         "The field's bounds, lengths and pattern hold for data and defaults, too.",
         _state("N-1: {text: Buy milk, level: 9}"), _state("N-1: {text: Buy milk, level: 5}")),
    Code("missing-field", "A field that must be given",
         "The field has no default and may not be absent.", _state("N-1: {level: 2}"), _state("N-1: {text: Buy milk}")),
    Code("dangling-ref", "A reference to a record that is not there",
         "Every stored key leads to a record.", _state("N-1: {text: Buy milk, about: N-2}"), _state("N-1: {text: Buy milk, about: N-1}")),
    Code("not-unique", "Two records with one value",
         "The field, or the fields together, are declared unique.",
         _fields("text: {type: str, unique: true}") + "initial_state:\n  notes:\n    N-1: {text: a}\n    N-2: {text: a}\n",
         _fields("text: {type: str, unique: true}") + "initial_state:\n  notes:\n    N-1: {text: a}\n    N-2: {text: b}\n"),
    Code("tree-cycle", "A record above itself",
         "Following parents from a record of a tree ends at a root.",
         _fields("title: str", "parent: {ref: notes, null: true}", more="    tree: {parent: parent, name: title}\n")
         + "initial_state:\n  notes:\n    N-1: {title: a, parent: N-2}\n    N-2: {title: b, parent: N-1}\n",
         _fields("title: str", "parent: {ref: notes, null: true}", more="    tree: {parent: parent, name: title}\n")
         + "initial_state:\n  notes:\n    N-1: {title: a, parent: null}\n    N-2: {title: b, parent: N-1}\n"),
    Code("data-file", "A file of data that cannot be read",
         "The file is a .json or .yaml file inside the spec's folder, named by its path relative to it.",
         "initial_state: {file: ../secrets.json}\n", "initial_state: {}\n"),
    # -- rules, tools, prose
    Code("bad-moves", "Moves that do not fit the enum",
         "Every member of the enum stands as a source, with the members it may become.",
         _NOTES + "rules:\n  life:\n    text: Done is done.\n    field: notes.status\n    moves: {open: [done]}\n",
         _NOTES + "rules:\n  life:\n    text: Done is done.\n    field: notes.status\n    moves: {open: [done], done: []}\n"),
    Code("unknown-helper", "A helper that is not declared",
         "`after_each` lists names under `helpers`.", "after_each: [tidy]\n", "after_each: []\n"),
    Code("bad-errors", "An error shape without the message",
         "The shape is any JSON with {message} in one of its texts; else an agent never learns what was wrong.",
         "errors: {error: failed}\n", 'errors: {error: "{message}"}\n'),
    Code("missing-description", "A tool without a description",
         "An agent chooses tools by what they say of themselves.", _tool("kind: read"), _tool(*_READ)),
    Code("unknown-placeholder", "A placeholder that stands for nothing",
         "In prose {NAME} stands for a constant, in messages {name} for a parameter, too. Plain brackets around a word are doubled.",
         "description: At most {MAX_NOTES} notes.\n", "constants:\n  MAX_NOTES: 3\ndescription: At most {MAX_NOTES} notes.\n"),
    Code("prose-number", "A number in prose that contradicts a constant",
         "What people and agents read comes from the constants that the logic uses, or it will differ one day.",
         "constants:\n  CASHBACK: 0.02\ndescription: You earn 3% cashback on every purchase.\n",
         "constants:\n  CASHBACK_PERCENT: 2\ndescription: You earn {CASHBACK_PERCENT}% on every purchase.\n"),
)  # fmt: skip
