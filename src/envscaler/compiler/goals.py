"""Goals and guards as functions over two states of an episode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from envscaler.compiler.load import load_expression
from envscaler.compiler.naming import Naming
from envscaler.compiler.plan import module_names
from envscaler.compiler.transforms import lower
from envscaler.runtime import Environment, State
from envscaler.runtime import shapes as s
from envscaler.spec.checked import Checked, CheckedBody, Effects
from envscaler.spec.model import Spec
from envscaler.spec.types import Field, Type

__all__ = ["Goal", "GoalCompiler"]

Goal = Callable[[State | None, State, Mapping[str, Any], str | None], bool]
"""``(initial state, final state, answer slots by name in internal form, refusal) -> whether it holds``. Raises what the
expression raises. The first state may be None where the goal does not speak of it. A goal charges the steps it takes to
the last state, as a call does; whoever runs it calls `runtime.state.rollback` on the states afterwards."""


class GoalCompiler:
    """Compiles the checked goals of one spec, for the class that was compiled from it."""

    def __init__(self, checked: Checked, environment: type[Environment]) -> None:
        self.environment = environment
        self.naming = module_names(checked)
        helpers = {name: self.naming.helper(name) for name in checked.helpers}
        self.names = _Names(self.naming, {name: f"_{helper}" for name, helper in helpers.items()})
        self.aliases = {f"_{helper}": helper for helper in helpers.values()}

    def function(self, body: CheckedBody) -> tuple[Goal, bool]:
        """The function of a goal, and whether it looks at the first state."""
        code, initial = self.code(body)
        return self.load(f"lambda _initial, _state, answer, refusal: (\n{code}\n)"), initial

    def code(self, body: CheckedBody) -> tuple[str, bool]:
        """The Python of a goal, over `_initial`, `_state`, `answer` and `refusal`, and whether it looks at the first."""
        code = lower(body, self.names, "goal").code
        return code, "_initial." in code

    def load(self, text: str) -> Any:
        """The value of generated code that the goal's was made into."""
        return load_expression(text, self.environment, self.aliases)

    def shape(self, slot: Field) -> s.Field:
        """An answer slot as the runtime describes it."""
        found = load_expression(f"_s.params{self._fields(slot)}", self.environment, {})
        return next(iter(found.values()))  # type: ignore[no-any-return]

    def _fields(self, slot: Field) -> str:
        from envscaler.compiler.layout import flat

        return flat(self.naming.fields_doc([slot], "_s.Param"))


class _Names:
    """The names of the spec's module, but that helpers have one that no local name of a goal can be equal to."""

    def __init__(self, naming: Naming, helpers: Mapping[str, str]) -> None:
        self.spec: Spec = naming.spec
        self._naming = naming
        self._helpers = helpers

    def helper(self, name: str) -> str:
        return self._helpers[name]

    def constant(self, name: str) -> str:
        return self._naming.constant(name)

    def shape(self, of: Type) -> str:
        return self._naming.shape(of)

    def out(self, of: Type, value: str) -> str:
        return self._naming.out(of, value)

    def default(self, of: Field) -> str | None:
        return self._naming.default(of)

    def effects(self, helper: str) -> Effects:
        return self._naming.effects(helper)
