"""The session at a terminal: prompt, completion menu, history, colours. Only `play` imports it, with prompt_toolkit."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import CompletionState
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, get_common_complete_suffix
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.shortcuts import CompleteStyle
from prompt_toolkit.styles import Style

from envscaler.diagnostics import printable
from envscaler.play import Answer, Line, Player, View
from envscaler.play.cursor import tokens
from envscaler.texts import counted

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Terminal"]

# Only the sixteen colours that a terminal's own theme decides, so that light and dark backgrounds both work.
_STYLES: Final = {
    "ok": "green", "error": "bold red", "dim": "bright_black", "key": "cyan", "text": "", "number": "yellow",
    "constant": "magenta", "add": "green", "remove": "red", "change": "yellow", "name": "bold", "heading": "bold",
    "caret": "bold red", "agent": "bold blue", "user": "bold magenta",
}  # fmt: skip
_PROMPT: Final = Style.from_dict({
    "prompt.agent": "bold ansiblue", "prompt.user": "bold ansimagenta",
    "line.tool": "bold", "line.command": "ansiyellow", "line.name": "ansicyan",
    "bottom-toolbar": "noreverse fg:ansibrightblack bg:default",
    "completion-menu": "bg:default fg:default",
    "completion-menu.completion": "bg:default fg:default",
    "completion-menu.completion.current": "reverse",
    "completion-menu.meta.completion": "bg:default fg:ansibrightblack",
    "completion-menu.meta.completion.current": "bg:default fg:default bold",
    "scrollbar.background": "bg:default", "scrollbar.button": "bg:ansibrightblack",
})  # fmt: skip
_ROWS: Final = 120


class _Completions(Completer):
    def __init__(self, player: Player) -> None:
        self._player = player

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        if document.text_after_cursor.strip():
            return
        text = document.text_before_cursor
        for found in self._player.completer.candidates(text):
            if found.text != text[found.start :]:
                meta = _one_line(found.meta)
                yield Completion(
                    found.text,
                    start_position=found.start - len(text),
                    display=_one_line(found.display),
                    display_meta=meta,
                )


_KEYS: Final = KeyBindings()


@_KEYS.add("tab")
def _complete(event: KeyPressEvent) -> None:
    """Complete at once. The library's own binding does it later and drops the key when a menu is just being made, which
    is what happens to those who type fast."""
    buffer = event.current_buffer
    if buffer.complete_state is not None:
        buffer.complete_next()
        return
    found = list(buffer.completer.get_completions(buffer.document, CompleteEvent(completion_requested=True)))
    common = get_common_complete_suffix(buffer.document, found)
    if len(found) == 1:
        buffer.apply_completion(found[0])
    elif common:
        buffer.insert_text(common)
    elif found:
        buffer.complete_state = CompletionState(buffer.document, found)
        buffer.go_to_completion(0)


class _Colours(Lexer):
    """Tool, parameter names and commands of the line that is being typed."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        rows = document.lines
        return lambda number: _coloured(rows[number] if number < len(rows) else "")


def _coloured(text: str) -> StyleAndTextTuples:
    parts: StyleAndTextTuples = []
    done = 0
    for number, (start, end) in enumerate(tokens(text)):
        parts.append(("", text[done:start]))
        name = text[start:end].find("=") + 1
        if number == 0:
            parts.append(
                ("class:line.command" if text[start:end].startswith(":") else "class:line.tool", text[start:end])
            )
        else:
            parts += [("class:line.name", text[start : start + name]), ("", text[start + name : end])]
        done = end
    return [*parts, ("", text[done:])]


def _one_line(text: str) -> str:
    return printable(text).replace("\n", "\\n").replace("\t", " ")


class Terminal:
    """A player at a terminal. ``history``: the file that keeps the typed lines, None for none."""

    def __init__(self, player: Player, history: Path | None) -> None:
        from rich.console import Console

        self._player = player
        self._console: Console = Console(highlight=False, markup=False, emoji=False)
        self._session: PromptSession[str] = PromptSession(
            history=_history(history),
            completer=_Completions(player),
            complete_while_typing=True,
            complete_style=CompleteStyle.COLUMN,
            bottom_toolbar=lambda: FormattedText([("class:bottom-toolbar", f" {_one_line(player.status)}")]),
            lexer=_Colours(),
            key_bindings=_KEYS,
            style=_PROMPT,
            color_depth=ColorDepth.DEPTH_1_BIT if os.environ.get("NO_COLOR") else None,
            reserve_space_for_menu=8,
        )

    def run(self, first: Iterable[str]) -> None:
        """Read and answer lines until the player leaves."""
        self._print(self._player.welcome)
        for text in first:
            self._answer(text)
        text, at = "", 0
        while True:
            try:
                typed = self._session.prompt(self._prompt, default=text, pre_run=partial(self._aim, at))
            except KeyboardInterrupt:
                text, at = "", 0
                continue
            except EOFError:
                break
            text, at = "", 0
            entries = list(_split(typed))
            for number, entry in enumerate(entries):
                if len(entries) > 1:
                    self._print([self._player.echo(entry)])
                answer = self._answer(entry)
                if answer.leave:
                    self._leave()
                    return
                if not answer.understood:  # what was typed stays, with the cursor where it went wrong
                    text = "\n".join(entries[number:])
                    at = len(entry) if answer.error is None else answer.error.at
                    break
        self._leave()

    def _prompt(self) -> FormattedText:
        return FormattedText([(f"class:prompt.{self._player.episode.actor}", self._player.prompt)])

    def _aim(self, at: int) -> None:
        buffer = self._session.default_buffer
        if at:
            buffer.cursor_position = min(at, len(buffer.text))

    def _answer(self, text: str) -> Answer:
        self._player.view = View(self._width - 1, _ROWS)
        try:
            answer = self._player.handle(text)
        except KeyboardInterrupt:
            answer = Answer([Line((("dim", "  interrupted; the call was taken back"),))])
        self._print(answer.lines)
        return answer

    def _leave(self) -> None:
        episode = self._player.episode
        if episode.steps and episode.unsaved:
            calls = counted(len(episode.steps), "call")
            self._print([Line((("dim", f"{calls}, not saved (:save FILE keeps them)"),))])

    # -- printing

    @property
    def _width(self) -> int:
        return max(20, self._session.output.get_size().columns)

    def _print(self, lines: Iterable[Line]) -> None:
        for row in lines:
            for text in self._wrapped(row):
                self._console.print(text, soft_wrap=True)

    def _wrapped(self, row: Line) -> Iterator[Any]:
        from rich.text import Text

        text = Text.assemble(*((part, _STYLES.get(style, "")) for style, part in row.parts))
        width, hang = self._width, row.hang
        if text.cell_len <= width or hang >= width // 2:
            yield text
            return
        head, rest = text.divide([hang])
        for number, piece in enumerate(rest.wrap(self._console, width - hang)):
            piece.rstrip()
            yield Text.assemble(head if number == 0 else " " * hang, piece)


def _split(typed: str) -> Iterator[str]:
    """The lines of what was typed or pasted at once; JSON that is not closed goes on in the next."""
    from envscaler.cli.play import entries

    yield from (entry for entry in entries(typed.splitlines()) if entry.strip())


def _history(file: Path | None) -> History:
    if file is None:
        return InMemoryHistory()
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(mode=0o600)
    except OSError as error:
        print(f"no history: {error}", file=sys.stderr)
        return InMemoryHistory()
    return FileHistory(str(file))
