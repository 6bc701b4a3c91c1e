"""One request to a language model and its reply, wherever the model runs."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from scoring.digests import sha256_of

TOO_LONG = "too long for the model"


class Wanted(StrEnum):
    """What of a reply is wanted."""

    TEXT = "text"
    FIRST_TOKEN = "first_token"
    """Probabilities of `marks` as the first token of the reply, among all tokens."""
    LIKELIHOOD = "likelihood"
    """Probabilities of `marks` as the whole reply, to its end; from local models only."""


@dataclass(frozen=True, slots=True)
class Request:
    """One reply wanted from a model. Equal requests are one request, however often they are made."""

    prompt: str
    system: str = ""
    """Said before the prompt in a chat; empty for a completion."""
    shared: int = 0
    """Leading characters of the prompt that many requests have in common, for caches of its beginning."""
    wanted: Wanted = Wanted.TEXT
    marks: tuple[str, ...] = ()
    """With FIRST_TOKEN and LIKELIHOOD: what may be replied."""
    temperature: float = 0.0
    sample: int = 0
    """Which of several draws from the same prompt, from 0; draws of one prompt are independent."""
    max_tokens: int = 16
    schema: str = ""
    """JSON schema, as JSON, that the endpoint is to hold the reply to; empty: free text."""
    occasion: str = ""
    """Tells a repetition, made on purpose, from the first time: then a stored reply does not serve."""

    def digest(self, address: "Address") -> str:
        """SHA-256, 64 hex digits, over all that the reply depends on; `shared` changes no reply."""
        content = asdict(self) | {"shared": 0, "to": [address.base_url, address.model, address.api]}
        return sha256_of(content)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the endpoint or the local model counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    `problem` says why it is not a whole answer, if so: an `Unread`, or TOO_LONG. `probabilities`, where asked
    for, has the marks of which the reply tells: mark -> probability in [0, 1].
    """

    text: str
    problem: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    usage: Usage | None = None
    model: str = ""
    """The model's name as the endpoint tells it."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a hosted model is asked."""

    base_url: str
    model: str
    api: str
    """chat or completions."""
    api_key_env: str
    """Environment variable with the key, where the project keeps none."""
    timeout_s: float = 60.0


class Asking(Protocol):
    """Gets replies: from a hosted model, from a local one, or from a store before these."""

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply per request, in order.

        Raises EvaluatorError, permanent or not, if some cannot be had; those that came are not lost where
        there is a store.
        """
        ...


Arrivals = Generator[list[tuple[int, Reply]], None, None]


@runtime_checkable
class Answering(Protocol):
    """Gives replies as soon as they have come, as hosted models are asked."""

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        """Places in `requests` and replies, one or several at once.

        Raises EvaluatorError when some cannot be had, after the others. Who may leave the loop early closes
        it (contextlib.closing), or requests stay under way.
        """
        ...
