"""The table of operators: every way in which a spec, its module or the runtime is made to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from envscaler.assess.mutation import conditions, declared, modules, refusing, values
from envscaler.assess.mutation.blocks import LogicBlock, blocks
from envscaler.assess.mutation.declared import Declared
from envscaler.assess.mutation.mutants import Fault, Operator, Site
from envscaler.spec.checked import Checked

__all__ = ["OPERATORS"]

InLogic = Callable[[LogicBlock], Iterator[Site]]
InForm = Callable[[Declared], Iterator[Site]]


def _spec(
    name: str, summary: str, fault: Fault, *logic: InLogic, forms: tuple[InForm, ...] = (), owners: str = ""
) -> Operator:
    """An operator on a spec's text; ``owners``: the kinds of blocks it looks at, all by default."""

    def sites(checked: Checked) -> Iterator[Site]:
        for block in blocks(checked):
            if not owners or block.kind in owners.split():
                for find in logic:
                    yield from find(block)
        if forms:
            tree = Declared(checked)
            for look in forms:
                yield from look(tree)

    return Operator(name, summary, fault, "spec", sites)


_ALL: Final = (
    _spec("drop-requirement", "a `require` or `fail` is gone", "logic", conditions.drop_requirement),
    _spec("invert-requirement", "a `require` asks for the opposite", "logic", conditions.invert_requirement),
    _spec("wrong-condition", "an `if` or a filter takes the other way", "logic", conditions.inverted_condition),
    _spec("wrong-connective", "`and` for `or`, `or` for `and`", "logic", conditions.wrong_connective),
    _spec("wrong-comparison", "`<` for `>`, `==` for `!=`, `in` for `not in`", "logic", conditions.wrong_comparison),
    _spec("off-by-one", "a bound too far or too near, a number one too large", "logic", conditions.off_by_one,
          forms=(declared.declared_bounds,)),
    _spec("wrong-field", "another field of the same type", "logic", values.wrong_field),
    _spec("missing-update", "a statement that changes the state is gone", "logic", values.missing_update),
    _spec("wrong-record", "another record of the collection is changed", "logic", values.wrong_record),
    _spec("swapped-arguments", "two values of one type change places", "logic", values.swapped_arguments),
    _spec("wrong-sign", "plus for minus, minus for plus", "logic", values.wrong_sign),
    _spec("enum-slip", "another member of the enum; a move that is lost", "logic", values.enum_slip,
          forms=(declared.wrong_default, declared.wrong_moves)),
    _spec("wrong-error", "the words or the rule of another requirement", "messages", refusing.wrong_error),
    _spec("missing-error", "the words for what is missing are gone", "messages", refusing.missing_error,
          forms=(declared.dropped_missing,)),
    _spec("hidden-write", "a read tool writes", "purity", refusing.hidden_write),
    _spec("lost-reference", "a reference is mere text, or its check is gone", "references", refusing.dropped_existence,
          forms=(declared.lost_reference,)),
    _spec("type-error", "a number as text, a length for a text", "types", values.type_error),
    _spec("enum-typo", "a member of an enum is misspelt", "types", values.enum_typo),
    _spec("attribute-error", "a field, key or method is misspelt", "attributes", values.attribute_error),
    *(Operator(name, summary, fault, "module", sites) for name, summary, fault, sites in modules.OPERATORS),
)  # fmt: skip

OPERATORS: Final[Mapping[str, Operator]] = {o.name: o for o in _ALL}
