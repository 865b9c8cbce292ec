"""A tokenizer and a model made on the spot, small enough to be trained on a CPU; and one that says what it is told to say.

Needs torch, transformers and trl. Nothing is downloaded.
"""

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, ClassVar

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

torch.set_num_threads(1)  # what is so small only waits for others

PAD, END = "<|endoftext|>", "<|im_end|>"
CONTROL = [PAD, "<|im_start|>", END]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]


def tokenizer(texts: Iterable[str], size: int = 1200) -> PreTrainedTokenizerFast:
    """A tokenizer that has learnt from ``texts``, with the chat template of Qwen3, as TRL knows it."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    learn = trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, special_tokens=CONTROL, show_progress=False)
    made.train_from_iterator(texts, learn)
    found = PreTrainedTokenizerFast(tokenizer_object=made, eos_token=END, pad_token=PAD)
    found.add_tokens(MARKS)
    found.chat_template = files("trl").joinpath("chat_templates/qwen3.jinja").read_text(encoding="utf-8")
    return found


def config(words: PreTrainedTokenizerFast) -> Qwen3Config:
    """The shape of the model."""
    return Qwen3Config(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=1,
        num_key_value_heads=1, head_dim=32, max_position_embeddings=32_768, tie_word_embeddings=True,
        eos_token_id=words.eos_token_id, pad_token_id=words.pad_token_id, bos_token_id=None,
    )  # fmt: skip


class Scripted(Qwen3ForCausalLM):
    """A model that is trained as any other, and generates what is written down.

    ``scripts``: replies by a text that stands in the prompt. Every other one of the prompts of a batch that have no reply yet
    is answered with ``idle`` alone.
    """

    words: Any = None
    scripts: ClassVar[dict[str, Sequence[str]]] = {}
    idle = "Nothing to do."

    def generate(self, input_ids: torch.Tensor, **_: Any) -> torch.Tensor:
        """The prompts, each with its next reply behind it."""
        replies = []
        for place, ids in enumerate(input_ids.tolist()):
            text = self.words.decode(ids)
            done = text.count("<|im_start|>assistant") - 1
            (script,) = [script for mark, script in self.scripts.items() if mark in text]
            said = self.idle if done == 0 and place % 2 else [*script, "It is done."][done]
            replies.append(self.words.encode(f"<think>\n\n</think>\n\n{said}{END}", add_special_tokens=False))
        longest = max(map(len, replies))
        padded = [reply + [self.words.pad_token_id] * (longest - len(reply)) for reply in replies]
        return torch.cat([input_ids, torch.tensor(padded, device=input_ids.device)], dim=1)
