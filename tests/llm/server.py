"""A model server on loopback that speaks Anthropic's and OpenAI's protocols, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKENS_IN, TOKENS_OUT = 100, 10


@dataclass(frozen=True)
class Step:
    """What the server does with one request. ``fault`` is `hang`, `drip`, `drop`, `half` or `garbage`."""

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = ""  # `length` or `refusal`; by default what fits the content
    reasoning: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str = "it does not work"
    code: str = ""
    fault: str = ""
    raw: Any = None  # a body to send as it is
    delay: float = 0.0


def text(content: str, **more: Any) -> Step:
    return Step(text=content, **more)


def call(name: str, arguments: str, **more: Any) -> Step:
    return Step(calls=((name, arguments),), **more)


def status(number: int, **more: Any) -> Step:
    return Step(status=number, **more)


class Server(ThreadingHTTPServer):
    """Answers with ``steps`` in order, then with ``otherwise`` of the request's last message."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.steps: list[Step] = []
        self.otherwise: Callable[[str], Step] = lambda said: text(f"echo: {said}")
        self.key: str | None = None
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.tokens_in = self.tokens_out = 0
        self.most_at_once = self._now = 0
        self.lock = threading.Lock()
        self.closing = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has left is no news."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def seen(self) -> int:
        return len(self.bodies)

    def llm(self, protocol: str = "openai", **options: Any) -> str:
        """A `--llm` value for this server."""
        address = f"{self.url}/v1" if protocol == "openai" else self.url
        return ",".join([f"{protocol}/tiny", f"base_url={address}", *(f"{k}={v}" for k, v in options.items())])

    def step(self, body: dict[str, Any]) -> Step:
        with self.lock:
            if self.steps:
                return self.steps.pop(0)
        return self.otherwise(said(body))

    @contextmanager
    def busy(self) -> Iterator[None]:
        with self.lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self.lock:
                self._now -= 1


def said(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a body would wait until the headers before it were acknowledged
    timeout = 30

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def do_POST(self) -> None:
        with self.server.busy():
            self._answer()

    def _answer(self) -> None:
        server = self.server
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with server.lock:
            server.bodies.append(body)
            server.headers.append({k.lower(): v for k, v in self.headers.items()})
        anthropic = self.path.endswith("/messages")
        sent = self.headers.get("x-api-key") or (self.headers.get("authorization") or "").removeprefix("Bearer ")
        if server.key is not None and sent != server.key:
            self._send(401, _error(anthropic, f"invalid x-api-key: {sent}", "authentication_error"))
            return
        step = server.step(body)
        if step.delay:
            server.closing.wait(step.delay)
        if step.fault:
            self._misbehave(step)
        elif step.raw is not None:
            self._send(200, step.raw)
        elif step.status != 200:
            self._send(step.status, _error(anthropic, step.error, step.code), step.headers)
        else:
            with server.lock:
                server.tokens_in += TOKENS_IN
                server.tokens_out += TOKENS_OUT
            self._send(200, _message(step) if anthropic else _completion(step))

    def _send(self, code: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _misbehave(self, step: Step) -> None:
        self.close_connection = True
        if step.fault == "hang":
            self.server.closing.wait(20)
        elif step.fault == "garbage":
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "8")
            self.end_headers()
            self.wfile.write(b"<html>\xff{")
        elif step.fault in {"half", "drip"}:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "x", ')
            while step.fault == "drip" and not self.server.closing.wait(0.02):
                self.wfile.write(b" ")
                self.wfile.flush()
        # `drop`: the connection is closed without a word.


def _error(anthropic: bool, message: str, code: str) -> dict[str, Any]:
    if anthropic:
        return {"type": "error", "error": {"type": code or "api_error", "message": message}}
    return {"error": {"message": message, "type": code or "server_error", "code": code or None}}


def _message(step: Step) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if step.reasoning:
        content.append({"type": "thinking", "thinking": step.reasoning, "signature": "sig"})
    if step.text:
        content.append({"type": "text", "text": step.text})
    for number, (name, arguments) in enumerate(step.calls):
        try:
            given = json.loads(arguments)
        except ValueError:
            given = arguments
        content.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given})
    stop = {"length": "max_tokens", "refusal": "refusal", "": "tool_use" if step.calls else "end_turn"}[step.finish]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "tiny", "content": content,
        "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": TOKENS_IN - 30, "cache_read_input_tokens": 30, "output_tokens": TOKENS_OUT},
    }  # fmt: skip


def _completion(step: Step) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    if step.reasoning:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(step.calls)
        ]
    finish = {"length": "length", "refusal": "stop", "": "tool_calls" if step.calls else "stop"}[step.finish]
    if step.finish == "refusal":
        message.update(content=None, refusal=step.text or "No.")
    return {
        "id": "cmpl-1", "object": "chat.completion", "created": 0, "model": "tiny",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT, "total_tokens": TOKENS_IN + TOKENS_OUT,
            "prompt_tokens_details": {"cached_tokens": 30},
        },
    }  # fmt: skip


@contextmanager
def serving() -> Iterator[Server]:
    """The server, running in a thread of this process."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
