"""The embedders that ship, and how a run asks one: in batches, again when it fails, accounted for, remembered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import pytest

from envscaler.builtin.embedders import OpenAIEmbedder, Sentence, Words
from envscaler.draft.embedding import opened, text_of
from envscaler.errors import BudgetError, PluginError, UsageError
from envscaler.llm.errors import AccessError, ProtocolError
from envscaler.plugin import Vectors
from envscaler.session.llm import LlmOptions, open_models
from envscaler.session.plugins import open_plugins
from envscaler.testing import EmbedderConformance
from tests.draft.loopback import serving
from tests.draft.themes import AGAIN, SIXTY

pytest_plugins = ["envscaler.testing.fixtures"]


class Endpoint(BaseHTTPRequestHandler):
    """`/v1/embeddings`: a vector of letters for each text, in any order; ``faults`` are answered first."""

    protocol_version = "HTTP/1.1"
    bodies: ClassVar[list[dict[str, Any]]] = []
    faults: ClassVar[list[tuple[int, Any]]] = []

    def log_message(self, *args: Any) -> None:
        """Nothing is printed."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.bodies.append({**body, "path": self.path, "key": self.headers.get("authorization")})
        status, answer = self.faults.pop(0) if self.faults else (200, self.good(body["input"]))
        data = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(data)),
            "retry-after": "0",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def good(self, texts: list[str]) -> dict[str, Any]:
        vectors = [[float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        tokens = sum(len(text) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "data": data[::-1], "model": "m", "usage": usage}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(Endpoint) as address:
        yield f"{address}/v1"


@pytest.fixture(autouse=True)
def fresh() -> None:
    Endpoint.bodies.clear()
    Endpoint.faults.clear()


class TestWords(EmbedderConformance):
    make = staticmethod(Words)


class TestOpenAI(EmbedderConformance):
    make = staticmethod(OpenAIEmbedder)

    @pytest.fixture(autouse=True)
    def _server(self, url: str) -> None:
        type(self).settings = {"model": "m", "base_url": url}


@pytest.fixture(scope="module")
def sentence_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The smallest model that sentence-transformers can load: one layer, letters as tokens, weights that were drawn."""
    if find_spec("sentence_transformers") is None:
        pytest.skip("sentence-transformers is not installed: pip install 'envscaler[sentence]'")
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("model")
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,;'-"
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    torch.manual_seed(1)
    size = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(vocabulary), **size)).save_pretrained(folder / "bert")
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    part = Transformer(str(folder / "bert"), max_seq_length=128)
    SentenceTransformer(modules=[part, Pooling(16)], device="cpu").save(str(folder / "whole"))
    return str(folder / "whole")


class TestSentence(EmbedderConformance):
    make = staticmethod(Sentence)
    meant = False

    @pytest.fixture(autouse=True)
    def _model(self, sentence_model: str) -> None:
        type(self).settings = {"model": sentence_model, "device": "cpu"}


def models(tmp_path: Path, **options: Any) -> Any:
    return open_models(LlmOptions(cache=str(tmp_path / "cache"), **options))


def ask(said: str, texts: list[str], tmp_path: Path, **options: Any) -> tuple[list[list[float]], list[Any]]:
    """The vectors of texts, and what the ledger says."""
    with models(tmp_path, **options) as opened_models:
        embedding = opened(said, open_plugins(third_parties=False), opened_models)

        async def asked() -> list[list[float]]:
            try:
                return await embedding.vectors(texts)
            finally:
                await embedding.aclose()

        return opened_models.run(asked()), list(opened_models.ledger.attempts())


def test_words_know_who_says_the_same(tmp_path: Path) -> None:
    import numpy as np

    vectors, attempts = ask("words", [text_of(theme) for theme in [*SIXTY, *AGAIN]], tmp_path)
    assert attempts == []
    unit = np.array(vectors)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit @ unit.T - np.eye(len(unit))
    near = {tuple(sorted(map(int, pair))) for pair in np.argwhere(cosines >= Words.near)}
    assert near == {(0, 60), (5, 61), (24, 62), (46, 63)}


def test_an_endpoint_is_asked_in_batches_and_accounted_for(
    tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sesame")
    texts = [f"text {'ab' * n}" for n in range(150)]
    Endpoint.faults += [(503, {"error": {"message": "busy"}}), (200, {"data": []})]
    said = f"openai/m,base_url={url},key_env=MY_KEY,backoff=0,price_in=2"
    vectors, attempts = ask(said, texts, tmp_path)
    assert [row[0] for row in vectors] == [float(n) for n in range(150)]
    assert len(Endpoint.bodies) == 5
    assert {len(body["input"]) for body in Endpoint.bodies} == {64, 22}
    assert {body["path"] for body in Endpoint.bodies} == {"/v1/embeddings"}
    assert {body["key"] for body in Endpoint.bodies} == {"Bearer sesame"}
    assert sorted(one.outcome for one in attempts) == ["ok", "ok", "ok", "overloaded", "protocol"]
    assert {(one.role, one.stage, one.backend, one.model) for one in attempts} == {
        ("embedder", "discovery", "openai", "m")
    }
    tokens = sum(one.usage.tokens_in or 0 for one in attempts)
    assert tokens == sum(map(len, texts))
    assert sum(one.cost or 0 for one in attempts) == tokens * 2000
    again, attempts = ask(said, texts, tmp_path)
    assert again == vectors
    assert {one.outcome for one in attempts} == {"cached"}
    assert len(Endpoint.bodies) == 5


def test_what_an_endpoint_does_wrong(tmp_path: Path, url: str) -> None:
    said = f"openai/m,base_url={url},attempts=1"

    def vector(*numbers: Any, index: int = 0) -> dict[str, Any]:
        return {"index": index, "embedding": list(numbers)}

    for answer in (
        {}, {"data": None}, {"data": [vector(1.0), vector(1.0, index=1)]}, {"data": [vector(1.0, index=3)]}, {"data": [vector("x")]},
        {"data": [{"index": 0}]}, {"data": [{"index": 0, "embedding": None}]}, {"data": [vector(1e999)]}, [],
    ):  # fmt: skip
        Endpoint.faults.append((200, answer))
        with pytest.raises(ProtocolError):
            ask(said, ["text"], tmp_path)
    Endpoint.faults += [(200, {"data": [vector(1.0)] * 1}), (200, {"data": [vector(1.0, 2.0)]})]
    with pytest.raises(ProtocolError, match="two batches differ in length"):
        _in_ones(said, tmp_path)
    Endpoint.faults.append((401, {"error": {"message": "no"}}))
    with pytest.raises(AccessError, match="key_env"):
        ask(said, ["text"], tmp_path)
    with pytest.raises(BudgetError):
        ask(f"{said},price_in=1", ["text"], tmp_path, max_cost=0.0)
    with pytest.raises(UsageError, match="no price is known"):
        ask(said, ["text"], tmp_path, max_cost=1.0)


def _in_ones(said: str, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OpenAIEmbedder, "batch", 1)
        ask(said, ["one", "two"], tmp_path)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("word", "no embedder is called 'word'; .*did you mean words?"),
        ("words,size=3", "words has no setting size"),
        ("openai", "openai needs a model"),
        ("openai/m,base_ur=x", "there is no option base_ur"),
        ("openai/m,base_url=x", "base_url begins with http"),
        ("openai/m,key=x", "keys are read from environment variables only"),
        ("openai/", "BACKEND/MODEL"),
        ("", "no embedder|BACKEND/MODEL"),
        ("words,x", "'x' is not of the form option=value"),
        ("sentence", "sentence needs a model"),
    ],
)
def test_what_is_wrong_is_said_at_once(tmp_path: Path, said: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ask(said, [], tmp_path)


def test_packages_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envscaler.builtin.embedders.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"envscaler\[draft\]"):
        Words({})
    with pytest.raises(UsageError, match=r"envscaler\[sentence\]"):
        Sentence({"model": "m"})


def test_an_embedder_of_a_plugin_stands_behind_the_boundary(
    envscaler_plugins: Callable[..., Any], tmp_path: Path
) -> None:
    import types

    from envscaler.plugin import EmbedderEntry, hookimpl

    class Odd:
        identity, near, batch, free = "odd", 0.9, 2, True

        def __init__(self, settings: Any) -> None:
            pass

        async def embed(self, texts: Any) -> Any:
            if "raise" in texts:
                raise KeyError("raise")
            return Vectors([[1.0]] * len(texts)) if "good" in texts else [[1.0]]

        async def aclose(self) -> None:
            pass

    plugin = types.ModuleType("odd")
    plugin.envscaler_embedders = hookimpl(lambda: [EmbedderEntry("odd", "Odd", Odd)], specname="envscaler_embedders")  # type: ignore[attr-defined]
    with models(tmp_path) as opened_models:
        embedding = opened("odd", envscaler_plugins(plugin), opened_models)
        assert opened_models.run(embedding.vectors(["good"])) == [[1.0]]
        for text in ("raise", "list"):
            with pytest.raises(PluginError, match="odd"):
                opened_models.run(embedding.vectors([text]))
