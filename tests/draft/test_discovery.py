"""Tasks are sieved and themes inferred: what models are asked, and what is made of what they say."""

from __future__ import annotations

from typing import Any

import pytest

from envscaler.draft.asking import Unusable
from envscaler.draft.filtering import sieve
from envscaler.draft.inferring import infer, name_of
from envscaler.draft.themes import Origin, Sieved, Theme
from envscaler.llm import Reply
from envscaler.plugin import Task
from tests.assess.models import replied, scripted

TASK = Task("Renew my contact lens prescription.", "lv3-train.json", 445)
THEME = {
    "title": "Contact Lens Practice",
    "name": "contact_lens_practice",
    "summary": "The prescriptions and orders of an optician's practice.",
    "introduction": "It holds patients, their prescriptions and what they ordered. " * 3,
    "usefulness": 7,
    "modelability": 9,
}


def theme(*said: dict[str, Any]) -> tuple[Theme, Any]:
    with scripted(planner=[replied("Theme", one) for one in said]) as (models, backends):
        return models.run(infer(TASK.text, models.role("planner"), origin=Origin(file="f", line=1))), backends[
            "planner"
        ]


def test_a_task_is_sieved() -> None:
    replies = [replied("Verdict", {"reason": " Needs an\noptician's records. ", "stateful": True})]
    with scripted(planner=replies) as (models, backends):
        made = models.run(sieve(TASK, models.role("planner"), source="api-bank"))
        (attempt,) = models.ledger.attempts()
    origin = Origin(file="lv3-train.json", line=445, source="api-bank")
    assert made == Sieved(task=TASK.text, origin=origin, stateful=True, reason="Needs an optician's records.")
    assert (attempt.stage, attempt.role) == ("discovery", "planner")
    (request,) = backends["planner"].requests
    assert TASK.text in request.messages[1].content
    assert TASK.text not in request.messages[0].content  # the same for all tasks, so that providers can keep it


def test_a_verdict_that_is_none_is_said() -> None:
    replies = [Reply.from_json({"message": {"content": "I think so."}})] * 3
    with scripted(planner=replies) as (models, _), pytest.raises(Unusable) as caught:
        models.run(sieve(TASK, models.role("planner")))
    assert caught.value.code == "llm-invalid-reply"


def test_a_theme_is_inferred() -> None:
    made, backend = theme(THEME)
    assert made == Theme(**THEME, task=TASK.text, origin=Origin(file="f", line=1))
    assert Theme.model_validate_json(made.model_dump_json()) == made
    assert len(backend.requests) == 1


def test_what_is_nearly_right_is_taken() -> None:
    made, backend = theme({**THEME, "name": "", "usefulness": "8/10", "modelability": 9.0, "summary": "One\n line."})
    assert (made.name, made.usefulness, made.modelability, made.summary) == ("contact_lens_practice", 8, 9, "One line.")
    assert len(backend.requests) == 1
    made, backend = theme({**THEME, "introduction": ["A practice keeps lenses.", THEME["introduction"]]})
    assert (made.introduction, len(backend.requests)) == (
        f"A practice keeps lenses.\n{str(THEME['introduction']).strip()}",
        1,
    )
    made, backend = theme({**THEME, "usefulness": 11}, {**THEME, "introduction": "Short."}, THEME)
    assert made.usefulness == 7
    assert len(backend.requests) == 3


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("ContactLens Practice", "contact_lens_practice"),
        ("Café Orders (2nd)", "cafe_orders_2nd"),
        ("2nd Hand Shop", "n_2nd_hand_shop"),
        ("class", "class_"),
        ("The Very Long Name of a System That Nobody Can Say", "the_very_long_name_of_a_system_that"),
        ("x" * 90, "x" * 40),
        ("眼镜店", ""),
        ("", ""),
    ],
)
def test_names(said: str, name: str) -> None:
    assert name_of(said) == name
