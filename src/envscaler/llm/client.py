"""A role's model as callers see it: chat and structured calls with retries, budget, ledger and memory behind them."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from envscaler.errors import EnvscalerError, LlmError, UsageError
from envscaler.llm.backend import Backend
from envscaler.llm.budget import Budget
from envscaler.llm.cache import Cache, cache_key
from envscaler.llm.errors import BackendError, CallError, InvalidReplyError, TruncatedError
from envscaler.llm.exchanges import Sitting, sitting
from envscaler.llm.gate import Gate
from envscaler.llm.labels import current
from envscaler.llm.ledger import CACHED, CANCELLED, OK, Attempt, Ledger
from envscaler.llm.messages import Message, Reply, Request, Tool, ToolCall, Usage, as_messages, as_tools
from envscaler.llm.prices import Prices
from envscaler.llm.replies import accepted, cleaned
from envscaler.llm.settings import RoleSettings
from envscaler.llm.shapes import Shape, corrected

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["Answer", "Llm", "Spent", "Structured"]

M = TypeVar("M", bound="BaseModel")
Messages = str | Message | Mapping[str, Any] | Iterable[Message | Mapping[str, Any]]

# What a server answers instead of a reply is not billed; what became of an attempt that ended otherwise is not known.
_UNBILLED = {"access", "request", "context_exceeded", "rate_limit", "overloaded", "server", "recording", "usage"}
_LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What a call used: all attempts, failed ones included.

    ``cost`` is in billionths of a US dollar, None if a part of it is not known. ``cached``: no attempt was made.
    """

    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    attempts: int = 0
    seconds: float = 0.0
    cost: int | None = 0
    cached: bool = False

    def and_(self, attempt: Attempt) -> Spent:
        cost = None if self.cost is None or attempt.cost is None else self.cost + attempt.cost
        return Spent(self.usage + attempt.usage, self.attempts + 1, self.seconds + attempt.seconds, cost)

    def __add__(self, other: Spent) -> Spent:
        """What both took together; `cached` only tells of one call."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Spent(
            self.usage + other.usage, self.attempts + other.attempts, self.seconds + other.seconds, cost
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """An accepted reply, and what it took."""

    reply: Reply
    spent: Spent

    @property
    def message(self) -> Message:
        """The assistant's message, ready to go into the next request."""
        return self.reply.message

    @property
    def content(self) -> str:
        return self.reply.content

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return self.reply.tool_calls


@dataclass(frozen=True, slots=True)
class Structured(Generic[M]):
    """A structured call's value, the reply that it was read from, and what it took."""

    value: M
    reply: Reply
    spent: Spent


@dataclass(slots=True)
class _Call:
    """One call under way: the name that joins its attempts in the ledger, and what they have used."""

    id: str
    role: str
    stage: str
    unit: str
    spent: Spent


class Llm:
    """One role's model.

    Coroutines may run at once, as many as wanted: the gate keeps a backend from getting more than it should. Errors are
    those of `llm/errors.py`; they carry what the call spent.
    """

    def __init__(
        self,
        backend: Backend,
        settings: RoleSettings,
        *,
        ledger: Ledger | None = None,
        cache: Cache | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
        gate: Gate | None = None,
    ) -> None:
        self.backend = backend
        self.settings = settings
        self.role = settings.role
        self.ledger = ledger or Ledger(None)
        self._cache = cache
        self._budget = budget or Budget(self.ledger)
        self._prices = prices or Prices(
            backend.name, backend.model, settings.base_url, settings.price_in, settings.price_out, backend.free
        )
        self._gate = gate or Gate(settings.concurrency)

    async def chat(
        self,
        messages: Messages,
        *,
        tools: Iterable[Tool | Mapping[str, Any]] = (),
        tool_choice: str = "auto",
        max_tokens: int | None = None,
        temperature: float | None = None,
        sample: int = 0,
        stage: str | None = None,
        unit: str | None = None,
    ) -> Answer:
        """The reply to messages, with tools on offer.

        ``tool_choice``: `auto`, `none`, `required` or a tool's name. Equal questions get the same reply from the cache;
        another ``sample`` asks anew. ``stage`` and ``unit`` file the call in the ledger; by default those of `labelled`.
        """
        request = self._request(messages, max_tokens, temperature, sample)
        request = replace(request, tools=as_tools(tools), tool_choice=tool_choice, key="")
        call = self._begin(stage, unit)

        async def make() -> Reply:
            return await self._retrying(call, request, accepted)

        reply = await self._remembered(call, request, make, lambda _: True)
        return Answer(reply, call.spent)

    async def structured(
        self,
        model: type[M],
        messages: Messages,
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        sample: int = 0,
        stage: str | None = None,
        unit: str | None = None,
    ) -> Structured[M]:
        """A pydantic model as the reply to messages.

        What does not have its shape goes back to the model with the problems, at most `corrections` times; a reply that
        was cut off is asked for once more with twice the room. Raises InvalidReplyError and TruncatedError after that.
        """
        shape = Shape(model, self.settings.structured)
        request = self._request(messages, max_tokens, temperature, sample)
        request = replace(request, output=shape.output, key="")
        call = self._begin(stage, unit)

        async def make() -> Reply:
            return await self._correcting(call, request, shape)

        def usable(reply: Reply) -> bool:
            try:
                shape.judge(reply)
            except CallError:
                return False  # the model's own checks have changed since
            return True

        reply = await self._remembered(call, request, make, usable)
        return Structured(shape.read(reply), reply, call.spent)

    async def aclose(self) -> None:
        """Let go of the backend's connections."""
        await self.backend.aclose()

    def _request(self, messages: Messages, max_tokens: int | None, temperature: float | None, sample: int) -> Request:
        own = self.settings
        return Request(
            as_messages(messages),
            max_tokens=own.max_tokens if max_tokens is None else max_tokens,
            temperature=own.temperature if temperature is None else temperature,
            seed=own.seed,
            timeout=own.timeout,
            sample=sample,
        )

    def _begin(self, stage: str | None, unit: str | None) -> _Call:
        around = current()
        return _Call(
            uuid.uuid4().hex,
            self.role,
            around[0] if stage is None else stage,
            around[1] if unit is None else unit,
            Spent(),
        )

    async def _remembered(
        self, call: _Call, request: Request, make: Callable[[], Any], usable: Callable[[Reply], bool]
    ) -> Reply:
        try:
            if self._cache is None:
                made: Reply = await make()
                return made
            reply, found = await self._cache.get(cache_key(request, self.backend.identity), make, usable)
        except CallError as error:
            error.spent = call.spent
            raise
        if found:
            self.ledger.add(self._entry(call, time.time(), 0.0, CACHED, Usage(0, 0), 0))
            call.spent = Spent(cached=True)
        return reply

    async def _correcting(self, call: _Call, request: Request, shape: Shape[M]) -> Reply:
        asked, roomier = request, False
        left = self.settings.corrections
        while True:
            try:
                return await self._retrying(call, shape.asked(asked), shape.judge)
            except InvalidReplyError as error:
                if not left:
                    tries = self.settings.corrections + 1
                    raise InvalidReplyError(
                        f"no {shape.output.name} in {tries} replies; the last one: {error}",
                        reply=error.reply,
                        problems=error.problems,
                    ) from None
                left -= 1
                asked = asked.asking(corrected(request.messages, error))
            except TruncatedError as error:
                limit = asked.max_tokens or (error.reply.usage.tokens_out if error.reply else None)
                if roomier or not limit:
                    raise
                asked, roomier = replace(asked, max_tokens=2 * limit), True

    async def _retrying(self, call: _Call, request: Request, judge: Callable[[Reply], Any]) -> Reply:
        """A reply that ``judge`` lets pass; passing faults are tried again within the role's attempts and patience."""
        from tenacity import AsyncRetrying, retry_if_exception

        plan = _Patience(self.settings, call, self._gate)
        number = 0
        try:
            async for attempt in AsyncRetrying(
                stop=lambda state: plan.after(state.attempt_number, _failure(state)) is None,
                wait=lambda state: plan.after(state.attempt_number, _failure(state)) or 0.0,
                retry=retry_if_exception(lambda e: isinstance(e, CallError) and e.transient),
                reraise=True,
            ):
                with attempt:
                    number = attempt.retry_state.attempt_number
                    return await self._attempt(call, request, judge)
        except CallError as error:
            if number > 1 and error.transient:
                error.args = (f"{error} (given up after {number} attempts)",)
            raise
        raise AssertionError("tenacity ends with a result or an error")

    async def _attempt(self, call: _Call, request: Request, judge: Callable[[Reply], Any]) -> Reply:
        unit = sitting()
        if unit is not None and (known := unit.recall(cache_key(request, self.backend.identity))) is not None:
            return self._again(call, known, judge, unit)
        async with self._gate.passing():
            self._budget.check()
            began, start = time.time(), time.monotonic()
            outcome, usage, served = CANCELLED, Usage(), ""
            try:
                reply = await self._asked(request)
                usage, served = reply.usage, reply.model
                self._judged(reply, judge, request, unit)
                outcome = OK
                return reply
            except EnvscalerError as error:
                outcome = error.kind if isinstance(error, LlmError) else "usage"
                raise
            finally:
                if outcome in _UNBILLED:
                    usage = Usage(0, 0)
                cost = self._prices.cost(usage, served)
                entry = self._entry(call, began, time.monotonic() - start, outcome, usage, cost)
                call.spent = call.spent.and_(entry)
                self.ledger.add(entry)

    def _judged(self, reply: Reply, judge: Callable[[Reply], Any], request: Request, unit: Sitting | None) -> None:
        """Judge a new reply; a unit of work remembers it, unless it is to be tried again as if nothing had come."""
        try:
            judge(reply)
        except CallError as error:
            unit = None if error.transient else unit
            raise
        finally:
            if unit is not None:
                unit.keep(cache_key(request, self.backend.identity), reply)
                unit.count(self.role, self.backend.identity, reply, self._prices.cost(reply.usage, reply.model))

    def _again(self, call: _Call, reply: Reply, judge: Callable[[Reply], Any], unit: Sitting) -> Reply:
        """A reply that the unit of work got before it was ended."""
        self.ledger.add(self._entry(call, time.time(), 0.0, CACHED, Usage(0, 0), 0))
        unit.count(self.role, self.backend.identity, reply, self._prices.cost(reply.usage, reply.model))
        judge(reply)
        return reply

    async def _asked(self, request: Request) -> Reply:
        """The backend's reply, cleaned; whatever a plugin's backend raises becomes a typed failure here."""
        try:
            return cleaned(await self.backend.attempt(request))
        except (LlmError, UsageError):
            raise
        except Exception as error:
            raise BackendError(f"{self.backend.identity}: {type(error).__name__}: {error}") from error

    def _entry(
        self, call: _Call, began: float, seconds: float, outcome: str, usage: Usage, cost: int | None
    ) -> Attempt:
        return Attempt(
            call.id, began, seconds, call.role, call.stage, call.unit, self.backend.name, self.backend.model,
            outcome, usage, cost,
        )  # fmt: skip


class _Patience:
    """How long to wait after each failed attempt of a call, and when to give up.

    What counts is the time in attempts and between them, not that in the gate: among a thousand calls, waiting for one's
    turn is no fault.
    """

    def __init__(self, settings: RoleSettings, call: _Call, gate: Gate) -> None:
        self._settings = settings
        self._call = call
        self._gate = gate
        self._waited = 0.0
        self._plans: dict[int, float | None] = {}

    def after(self, number: int, error: CallError) -> float | None:
        """Seconds to wait after attempt ``number``, None to give up; the same however often it is asked."""
        if number not in self._plans:
            self._plans[number] = self._planned(number, error)
        return self._plans[number]

    def _planned(self, number: int, error: CallError) -> float | None:
        own = self._settings
        if number >= min(own.attempts, error.most or own.attempts):
            return None
        if error.retry_after is not None:
            seconds = error.retry_after
        else:
            doubled = min(own.backoff * float(2 ** min(number - 1, 16)), _LONGEST_WAIT)
            seconds = doubled * random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries
        if self._call.spent.seconds + self._waited + seconds > own.patience:
            return None
        if error.retry_after is not None:
            self._gate.hold(seconds)
        self._waited += seconds
        return seconds


def _failure(state: Any) -> CallError:
    error = state.outcome.exception()
    assert isinstance(error, CallError)
    return error
