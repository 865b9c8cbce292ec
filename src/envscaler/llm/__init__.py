"""Language models: messages, structured calls, retries, an account of every token, memory, recordings."""

from __future__ import annotations

from envscaler.llm.backend import Backend, Factory
from envscaler.llm.cache import Cache
from envscaler.llm.client import Answer, Llm, Spent, Structured
from envscaler.llm.labels import labelled
from envscaler.llm.ledger import Ledger
from envscaler.llm.messages import Message, Reply, Request, Tool, ToolCall, Usage
from envscaler.llm.models import Models, in_order
from envscaler.llm.replies import split_reasoning
from envscaler.llm.secrets import read_key, redact
from envscaler.llm.settings import RoleSettings

__all__ = [
    "Answer", "Backend", "Cache", "Factory", "Ledger", "Llm", "Message", "Models", "Reply", "Request", "RoleSettings",
    "Spent", "Structured", "Tool", "ToolCall", "Usage", "in_order", "labelled", "read_key", "redact", "split_reasoning",
]  # fmt: skip
