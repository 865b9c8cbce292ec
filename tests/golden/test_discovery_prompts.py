"""What models are asked when environments are looked for, to the letter; with `--refresh-golden` written anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.assess.models import replied, scripted
from tests.draft.test_discovery import THEME

from envscaler.draft.filtering import sieve
from envscaler.draft.inferring import infer
from envscaler.plugin import Task

EXPECTED = Path(__file__).parent / "expected"
TASK = "Reschedule my appointment with Dr. Wells to a morning in the week after."


@pytest.mark.parametrize("name", ["filter", "infer"])
def test_prompts_are_as_expected(refresh: bool, name: str, tmp_path: Path) -> None:
    reply = {"filter": replied("Verdict", {"reason": "A clinic.", "stateful": True}), "infer": replied("Theme", THEME)}
    own = tmp_path / "prompts" / "draft" / f"{name}.j2"
    own.parent.mkdir(parents=True)
    own.write_text("Mine: {{ task }}", encoding="utf-8")
    with scripted(planner=[reply[name]] * 2) as (models, backends):
        for folders in ((), (str(tmp_path),)):
            llm = models.role("planner")
            asked = (
                sieve(Task(TASK, "f", 1), llm, folders=folders)
                if name == "filter"
                else infer(TASK, llm, folders=folders)
            )
            models.run(asked)  # type: ignore[arg-type]
        shipped, overridden = backends["planner"].requests
    text = "\n".join(f"== {message.role}\n{message.content}" for message in shipped.messages) + "\n"
    file = EXPECTED / f"draft_{name}.txt"
    if refresh:
        file.write_text(text, encoding="utf-8", newline="\n")
    assert text == file.read_text(encoding="utf-8")
    assert overridden.messages[1].content.startswith(f"Mine: {TASK}")
    assert overridden.messages[0] == shipped.messages[0]
