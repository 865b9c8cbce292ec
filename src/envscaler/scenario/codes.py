"""The codes of what is wrong with scenarios, each with its reason, and a bad and a good snippet over a small spec."""

from __future__ import annotations

from typing import Final

from envscaler.spec.codes.base import Code

__all__ = ["CODES", "SPEC", "complete"]

SPEC: Final = """\
envscaler: 1
name: kiosk
description: A kiosk sells papers; a clerk keeps its stock.
constants:
  MOST: 40
states:
  papers:
    record: Paper
    key: {name: paper_id}
    fields: {title: str, stock: {type: int, ge: 0}}
  till:
    record: Till
    single: true
    fields: {open: bool}
rules:
  shelf: {text: "A paper has at most {MOST} copies in stock."}
tools:
  order:
    kind: write
    description: Order copies of a paper.
    params: {paper_id: {ref: papers, as: paper}, copies: {type: int, ge: 1}}
    do: |
      require(paper.stock + copies <= MOST, f"There is room for {MOST - paper.stock} copies.", rule="shelf")
      paper.stock += copies
  shut:
    kind: write
    description: Shut the till.
    do: |
      till.open = False
  list_papers:
    kind: read
    description: All papers.
    do: |
      return list(papers.values())
initial_state:
  papers:
    herald: {title: Herald, stock: 3}
    globe: {title: Globe, stock: 9}
  till: {open: true}
"""
"""The spec that the snippets are about."""

_PARTS: Final = {
    "spec": "spec: kiosk\n",
    "task": "task: Order 10 copies of the Herald.\n",
    "goals": 'goals:\n  - final.papers["herald"].stock == 13\n',
    "solution": "solution:\n  - {tool: order, arguments: {paper_id: herald, copies: 10}}\n",
}


def complete(snippet: str) -> str:
    """The snippet as a whole scenario: what it lacks of spec, task, goals and solution is put before it."""
    if snippet.startswith(("{", "scenarios:")):
        return snippet
    keys = {line.split(":")[0] for line in snippet.splitlines() if line[:1].isalpha()}
    return "".join(part for name, part in _PARTS.items() if name not in keys) + snippet


def _goal(text: str) -> str:
    return f"goals:\n  - {text}\n"


def _step(text: str) -> str:
    return f"solution:\n  - {text}\n"


def _only(text: str) -> str:
    return f"guards:\n  - only: {text}\n"


_ASKED = (
    "task: How many copies of the Herald are there?\nanswers: {copies: int}\n"
    + _goal("answer.copies == 3")
    + "solution:\n  - {tool: list_papers}\n"
)
_TALK = "user:\n  facts:\n    copies: {value: 10, text: Ten copies.}\n"

_CODES = (
    Code("scenario-not-json", "A line that is not JSON",
         "Each line of a .jsonl file is one scenario, an object of JSON. Other files end in .yaml.",
         '{"spec": "kiosk", "task": "Order', '{"spec": "kiosk", "task": "Order.", "goals": ["final.till.open"]}'),
    Code("scenario-unknown-key", "A key that scenarios do not have",
         "Nothing that is written counts for nothing: a misspelt key would leave the scenario without what it says.",
         "gaurds: []\n", "guards: []\n"),
    Code("scenario-missing-key", "A key that is missing", "Every scenario has a spec and a task, every step a tool.",
         _step("{arguments: {paper_id: herald, copies: 10}}"),
         _step("{tool: order, arguments: {paper_id: herald, copies: 10}}")),
    Code("scenario-wrong-type", "A value of the wrong kind",
         "Texts, numbers, lists and objects stand where the form has them.", "seed: one\n", "seed: 1\n"),
    Code("scenario-duplicate-id", "Two scenarios with one id",
         "Runs, proofs and scores name a scenario by its id.",
         "scenarios:\n" + 2 * '  - {id: a, spec: kiosk, task: Shut., goals: ["not final.till.open"]}\n',
         "scenarios:\n" + "".join(
             f'  - {{id: {name}, spec: kiosk, task: Shut., goals: ["not final.till.open"]}}\n' for name in "ab")),
    Code("scenario-spec", "A scenario for another spec",
         "Goals and solution mean what they mean in one spec. When it changed, all of them must be proved again; whoever "
         "knows better asks for it.",
         'spec: {name: kiosk, hash: "sha256:0000"}\n', "spec: {name: kiosk}\n"),
    Code("scenario-state", "A state that the spec does not allow",
         "An initial state has the spec's types, its references exist, and its rules hold.",
         "state:\n  papers: {herald: {title: Herald, stock: -1}}\n  till: {open: true}\n",
         "state:\n  papers: {herald: {title: Herald, stock: 3}}\n  till: {open: true}\n"),
    Code("scenario-unknown-tool", "A tool that does not exist",
         "Steps call the tools of the spec, each by the actor whose tool it is; setup calls its setup functions.",
         _step("{tool: ordr, arguments: {paper_id: herald, copies: 10}}"),
         _step("{tool: order, arguments: {paper_id: herald, copies: 10}}")),
    Code("scenario-argument", "Arguments that the tool does not take",
         "The arguments of a step that is meant to succeed are what the tool's schema asks for.",
         _step("{tool: order, arguments: {paper: herald, copies: 10}}"),
         _step("{tool: order, arguments: {paper_id: herald, copies: 10}}")),
    Code("scenario-source", "A source that is not there",
         "An argument comes from the task, from a fact of the user, or from what an earlier step found.",
         _step("{tool: order, arguments: {paper_id: herald, copies: 10}, sources: {copies: {from: fact, name: copies}}}"),
         _step("{tool: order, arguments: {paper_id: herald, copies: 10}, sources: {copies: task}}")),
    Code("scenario-no-stop", "A conversation without an end",
         "A user who knows something and does not know when to be content goes on for ever, or makes something up. Say when "
         "to stop.", _TALK, _TALK + "  stop_when: The copies are ordered.\n"),
    Code("scenario-no-goals", "No goals",
         "An empty list of goals would be met by whatever an agent does. A task in which nothing may change has a goal "
         "about the answer or the reason of the refusal.", "goals: []\n", _goal('final.papers["herald"].stock == 13')),
    Code("scenario-unknown-state", "A state of a guard that does not exist",
         "`only` names states of the spec; collections by key, a single record under the empty key.",
         _only("{fields: {paper: {herald: [stock]}}}"), _only("{fields: {papers: {herald: [stock]}}}")),
    Code("scenario-unknown-field", "A field of a guard that does not exist",
         "`only` names fields of the records. One that does not exist would allow nothing.",
         _only("{fields: {papers: {herald: [stok]}}}"), _only("{fields: {papers: {herald: [stock]}}}")),
    Code("scenario-submitted", "An end that does not fit the outcome",
         "The solution ends by filling every answer slot with a value of its type, or by refusing for a reason: a rule of the "
         "spec, or `not_found`, `not_possible`, `missing_information`.",
         _ASKED + "submitted: {answer: {copies: three}}\n", _ASKED + "submitted: {answer: {copies: 3}}\n"),
    Code("scenario-number", "A number that only the task has",
         "What the task asks for stands in a goal or an argument, is known by the user, or is found in the state. A number "
         "that is nowhere else is often a goal that was not changed with the task.",
         "task: Order 12 copies of the Herald.\n", "task: Order 10 copies of the Herald.\n"),
)  # fmt: skip

CODES: Final[dict[str, Code]] = {code.name: code for code in _CODES}
