"""The rules, by their codes. A rule takes a spec and the words of the trade, and yields findings at lines of the spec."""

import difflib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from envscaler.plugin import Finding
from envscaler_naming.parts import Named, named_things, stem, words_of

__all__ = ["RULES"]

Rule = Callable[[Any, frozenset[str]], Iterable[Finding]]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VAGUE = _words(
    "arg bar baz content data do elem element entity foo func generic handle info information input item manage misc "
    "obj object output param perform process stuff temp thing things tmp val value values var x y"
)
_VOWELLESS = _words(
    "by cvv db dns fly gps http html https id iban mb my ms nth pdf pm qr sms sql ssn try tv url vat vpn why xml"
)
_SMALL = _words("a all an and any are at by for from in into is it its of on one or that the this to with")
_MEASURES = _words(
    "age delay depth distance duration height interval length power pressure speed temperature timeout volume wait weight "
    "width"
)
_UNITS = _words(
    "bar bars byte bytes c celsius cm cubic day days degree degrees f fahrenheit feet foot ft g gb gram grams h hour hours "
    "hz inch inches kb kelvin kg kilogram kilograms kilometer kilometers kilometre kilometres km kmh kw l lb lbs liter liters "
    "litre litres m mb meter meters metre metres mi mile miles milliliter millilitre millilitres minute minutes ml mm month "
    "months mph ms newton ounce ounces oz pa pascal percent points pounds psi second seconds ton tons tonne tonnes unit "
    "units volt w watt watts week weeks yard yards year years"
)


def vague_name(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A name of which no word says anything."""
    for thing in named_things(spec):
        words = words_of(thing.name)
        empty = [word for word in words if word in _VAGUE or word.isdigit()]
        if thing.kind != "field" and len(empty) == len(words) and not trade & set(words):
            yield Finding(
                "vague-name", f"the {thing} could be anything", thing.span,
                help="name what it holds or does, in the words of the trade",
            )  # fmt: skip


def numbered_name(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """`status2`: a name told apart from another by a number alone."""
    by_owner: dict[tuple[str, str], set[str]] = defaultdict(set)
    for thing in named_things(spec):
        by_owner[thing.kind, thing.owner].add(thing.name)
    for thing in named_things(spec):
        base = thing.name.rstrip("0123456789")
        same = {n.rstrip("0123456789_") for n in by_owner[thing.kind, thing.owner] - {thing.name}}
        if base != thing.name and base.rstrip("_") in same and thing.name not in trade:
            yield Finding(
                "numbered-name", f"the {thing} differs from another one by a number alone", thing.span,
                help="say in the name what makes it different",
            )  # fmt: skip


def abbreviation(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A word without a vowel, which a reader has to guess."""
    for thing in named_things(spec):
        for word in words_of(thing.name):
            guessed = len(word) > 2 and word.isalpha() and not set(word) & set("aeiouy")
            if guessed and word not in _VOWELLESS | trade:
                yield Finding(
                    "abbreviation", f"'{word}' in the {thing} has to be guessed", thing.span,
                    help="write the word out, or name it in the setting 'words'",
                )  # fmt: skip


def thin_description(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A tool whose description has fewer than three words, or none that its name does not have."""
    for tool in _tools(spec):
        said = [word for word in words_of(tool.description) if word not in _SMALL]
        new = {stem(word) for word in said} - {stem(word) for word in words_of(tool.name)}
        if len(said) < 2 or not new:
            yield Finding(
                "thin-description", f"the description of {tool.name} says nothing that its name does not", tool.span,
                help="say what it does, for whom, and what it gives back",
            )  # fmt: skip


def like_descriptions(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """Two tools that are described in almost the same words."""
    for one, other in combinations(_tools(spec), 2):
        first, second = (" ".join(words_of(tool.description)) for tool in (one, other))
        match = difflib.SequenceMatcher(None, first, second)
        if min(len(first), len(second)) > 12 and match.quick_ratio() > 0.95 and match.ratio() > 0.95:
            yield Finding(
                "like-descriptions", f"{other.name} and {one.name} are described in almost the same words", other.span,
                detail=f"{one.name} is at line {one.span.line}", help="say when one is wanted and when the other",
            )  # fmt: skip


def near_names(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """Two tools whose names differ by a plural, or by the order of words that are not joined by `to`."""
    for one, other in combinations(_tools(spec), 2):
        words = [[stem(word) for word in words_of(tool.name)] for tool in (one, other)]
        if words[0] == words[1] or (sorted(words[0]) == sorted(words[1]) and "to" not in words[0]):
            yield Finding(
                "near-names", f"{other.name} is easily taken for {one.name}", other.span,
                detail=f"{one.name} is at line {one.span.line}",
            )  # fmt: skip


def noun_first(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A tool that changes something and is called after the thing instead of the deed: `account_close`."""
    nouns = {stem(words[-1]) for state in spec.states.values() if (words := words_of(state.name))}
    nouns |= {stem(word) for state in spec.states.values() for word in words_of(state.record.name)[-1:]}
    for tool in spec.tools.values():
        first, *rest = words_of(tool.name)
        if tool.kind == "write" and rest and stem(first) in nouns:
            better = "_".join([*rest, first])
            yield Finding(
                "noun-first", f"{tool.name} begins with what it works on, not with what it does", tool.span,
                help=f"call it {better}", severity="note",
            )  # fmt: skip


def mixed_terms(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A parameter that names a record otherwise than most tools do, without a word of the record's own; one that ends in
    `_id` names a part that the record plays."""
    by_type: Mapping[str, list[Named]] = defaultdict(list)
    for thing in named_things(spec):
        if thing.kind == "parameter" and thing.type.startswith("key of "):
            by_type[thing.type].append(thing)
    for of, params in by_type.items():
        state = spec.states.get(of.removeprefix("key of "))
        usual, times = Counter(p.name for p in params).most_common(1)[0]
        if state is None or times * 2 <= len(params):
            continue
        own = {stem(word) for name in (state.name, state.record.name, usual) for word in words_of(name)} - {"id"}
        alone = {owner for owner, count in Counter(p.owner for p in params).items() if count == 1}
        for param in params:
            if (
                param.owner in alone
                and not param.name.endswith("_id")
                and not own & {stem(word) for word in words_of(param.name)}
            ):
                yield Finding(
                    "mixed-terms", f"the {param} is what other tools call {usual}", param.span,
                    help=f"call it {usual}",
                )  # fmt: skip


def no_unit(spec: Any, trade: frozenset[str]) -> Iterator[Finding]:
    """A measure without a unit, neither in its name nor in what is said of it."""
    for thing in named_things(spec):
        words = set(words_of(thing.name))
        numeric = thing.type.rstrip("?") in ("int", "float", "number")
        said = words | set(words_of(thing.description))
        if thing.kind == "parameter":
            said |= set(words_of(spec.tools[thing.owner].description.value))
        if numeric and words & _MEASURES and not said & _UNITS:
            yield Finding(
                "no-unit", f"the {thing} has no unit", thing.span, help="put it into the name or the description"
            )


def _tools(spec: Any) -> list[Named]:
    return [thing for thing in named_things(spec) if thing.kind == "tool"]


RULES: Mapping[str, Rule] = {
    rule.__name__.replace("_", "-"): rule
    for rule in (
        vague_name, numbered_name, abbreviation, thin_description, like_descriptions, near_names, noun_first, mixed_terms,
        no_unit,
    )
}  # fmt: skip
