"""How many tokens a prompt takes, before it is sent."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from scoring.contract import EvaluatorError

MESSAGE_TOKENS = 16
"""Allowed for what a chat format puts around a message."""
_CHEAP = (string.ascii_letters + " ").encode()


def at_most_tokens(text: str) -> int:
    """More tokens than a text takes in practice, whatever the model's tokenizer is.

    Letters of ASCII and spaces count half a token each, every other character one token for each of its
    UTF-8 bytes, which is the most that a tokenizer can make of it that falls back on bytes. GPT-2's, which
    is thriftless with all but English, takes 0.4 times the bound of English news, 0.6 to 0.8 times that of
    German, Russian, Spanish, Turkish, Chinese, Hindi and Thai, 0.98 of a Vietnamese summary at most, and
    more than the bound only of letters in random order. (One token for two bytes would be too few: it takes
    up to 0.69 for a byte of Vietnamese or Chinese.)
    """
    octets = text.encode("utf-8", "surrogatepass")
    cheap = len(octets) - len(octets.translate(None, _CHEAP))
    return len(octets) - cheap // 2


@dataclass(frozen=True)
class ContextWindow:
    """What a model takes at once: `tokens` of messages and reply together (0: not known, so all fits)."""

    tokens: int
    longest_reply: int
    """In tokens."""
    tokenizer: str = ""
    """As `token_counter` takes it."""

    def holds(self, *messages: str) -> bool:
        """Whether a request with these messages (empty ones are not sent) leaves room for the reply."""
        if not self.tokens:
            return True
        taken = sum(MESSAGE_TOKENS + self._count(message) for message in messages if message)
        return taken + self.longest_reply <= self.tokens

    @cached_property
    def _count(self) -> Callable[[str], int]:
        return token_counter(self.tokenizer)


def token_counter(tokenizer: str) -> Callable[[str], int]:
    """Counts by the named model's tokenizer, without special tokens, or by `at_most_tokens` if none is named.

    Raises EvaluatorError, permanent, where the model or its tokenizer.json is not on this machine.
    """
    if not tokenizer:
        return at_most_tokens
    loaded = _loaded(tokenizer_file(tokenizer))
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def tokenizer_file(tokenizer: str) -> Path:
    """The tokenizer.json of a model on this machine. Raises EvaluatorError, permanent, if there is none."""
    from scoring.weights import locate

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
