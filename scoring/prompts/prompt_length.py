"""The number of tokens of a prompt, before it is sent."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from scoring.contract.evaluator import EvaluatorError

MESSAGE_TOKENS = 16
"""Allowance for a chat format's tokens around a message."""
_CHEAP = (string.ascii_letters + " ").encode()


def at_most_tokens(text: str) -> int:
    """Return an upper bound of a text's tokens, whatever the model's tokenizer is.

    ASCII letters and spaces count half a token each, every other character one token per UTF-8 byte, the most
    that a tokenizer with byte fallback can make of it. GPT-2's tokenizer, which is wasteful with all but
    English, takes 0.4 times the bound for English news, 0.6 to 0.8 times for German, Russian, Spanish,
    Turkish, Chinese, Hindi and Thai, at most 0.98 for a Vietnamese summary, and more only for letters in
    random order. (Half a token per byte would be too few: it takes up to 0.69 per byte of Vietnamese or
    Chinese.)
    """
    octets = text.encode("utf-8", "surrogatepass")
    cheap = len(octets) - len(octets.translate(None, _CHEAP))
    return len(octets) - cheap // 2


@dataclass(frozen=True)
class ContextWindow:
    """A model's limit: `tokens` of messages and reply together (0: unknown, so everything fits)."""

    tokens: int
    longest_reply: int
    """Tokens of the longest reply."""
    tokenizer: str = ""
    """The tokenizer to count with, named as for `token_counter`."""

    def holds(self, *messages: str) -> bool:
        """Return whether these messages leave room for the reply; empty ones are not sent."""
        if not self.tokens:
            return True
        taken = sum(MESSAGE_TOKENS + self._count(message) for message in messages if message)
        return taken + self.longest_reply <= self.tokens

    @cached_property
    def _count(self) -> Callable[[str], int]:
        return token_counter(self.tokenizer)


def token_counter(tokenizer: str) -> Callable[[str], int]:
    """Return a counter of tokens by the named model's tokenizer, without special tokens.

    An empty name gives `at_most_tokens`. Raises EvaluatorError, permanent, if the model or its tokenizer.json
    is not on this machine or cannot be read.
    """
    if not tokenizer:
        return at_most_tokens
    file = tokenizer_file(tokenizer)
    try:
        loaded = _loaded(file)
    except Exception as error:  # what the library of tokenizers raises has no class of its own
        found = f"found {tokenizer!r}, whose tokenizer.json cannot be read: {error}"
        raise EvaluatorError(f"parameter 'tokenizer': {found}", permanent=True) from error
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def tokenizer_file(tokenizer: str) -> Path:
    """Return a local model's tokenizer.json. Raises EvaluatorError, permanent, if there is none."""
    from scoring.weights.model_files import locate

    file = locate(tokenizer) / "tokenizer.json"
    if not file.is_file():
        raise EvaluatorError(
            f"parameter 'tokenizer': found {tokenizer!r}, which has no tokenizer.json", permanent=True
        )
    return file


@cache
def _loaded(file: Path) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(file))
