"""The table of operators: every way in which a spec, its module or the runtime is made to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from envscaler.assess.mutation import conditions, declared, modules, refusing, values
from envscaler.assess.mutation.blocks import LogicBlock, blocks
from envscaler.assess.mutation.declared import Declared
from envscaler.assess.mutation.generated import Generated
from envscaler.assess.mutation.mutants import Fault, Layer, Site
from envscaler.compiler import compile_spec
from envscaler.spec.checked import Checked

__all__ = ["OPERATORS", "Material", "Operator"]

InLogic = Callable[[LogicBlock], Iterator[Site]]
InForm = Callable[[Declared], Iterator[Site]]
InModule = Callable[[Generated], Iterator[Site]]


class Material:
    """A spec free of errors, in the forms in which operators look at it; each is made once, when it is first asked for."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked

    @cached_property
    def blocks(self) -> list[LogicBlock]:
        return list(blocks(self.checked))

    @cached_property
    def declared(self) -> Declared:
        return Declared(self.checked)

    @cached_property
    def generated(self) -> Generated:
        return Generated(self.checked, compile_spec(self.checked))


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to go wrong: in the logic and in the declarations of a spec, or in its module."""

    name: str
    summary: str
    fault: Fault
    logic: tuple[InLogic, ...] = ()
    forms: tuple[InForm, ...] = ()
    module: InModule | None = None

    @property
    def layer(self) -> Layer:
        """What its edits are of."""
        return "spec" if self.module is None else "module"

    def sites(self, material: Material) -> Iterator[Site]:
        """Every place of a spec where it applies."""
        for block in material.blocks if self.logic else ():
            for find in self.logic:
                yield from find(block)
        for look in self.forms:
            yield from look(material.declared)
        if self.module is not None:
            yield from self.module(material.generated)


def _spec(name: str, summary: str, fault: Fault, *logic: InLogic, forms: tuple[InForm, ...] = ()) -> Operator:
    return Operator(name, summary, fault, logic, forms)


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
    *(Operator(name, summary, fault, module=sites) for name, summary, fault, sites in modules.OPERATORS),
)  # fmt: skip

OPERATORS: Final[Mapping[str, Operator]] = {o.name: o for o in _ALL}
