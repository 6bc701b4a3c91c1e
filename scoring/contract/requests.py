"""One request to a language model and its reply, wherever the model runs."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import Enum, StrEnum
from typing import Protocol, runtime_checkable

from annotation.texts.text_digests import sha256_of

TOO_LONG = "too long for the model"


class Wanted(StrEnum):
    """The part of a reply that is wanted."""

    TEXT = "text"
    FIRST_TOKEN = "first_token"
    """Probabilities of `marks` as the first token of the reply, among all tokens."""
    LIKELIHOOD = "likelihood"
    """Probabilities of `marks` as the whole reply, to its end; from local models only."""


@dataclass(frozen=True, slots=True)
class Request:
    """One reply wanted from a model. Equal requests are one request."""

    prompt: str
    system: str = ""
    """System message of a chat; empty for a completion."""
    shared: int = 0
    """Leading characters of the prompt that many requests have in common, for prompt caches."""
    wanted: Wanted = Wanted.TEXT
    marks: tuple[str, ...] = ()
    """Possible replies, for FIRST_TOKEN and LIKELIHOOD; of a word's spellings the usual one comes first."""
    temperature: float = 0.0
    sample: int = 0
    """The number of the draw from the same prompt, from 0; draws of one prompt are independent."""
    max_tokens: int = 16
    schema: str = ""
    """JSON schema, as JSON, that the reply must match; empty: free text."""
    occasion: str = ""
    """Distinguishes a deliberate repetition, which must not be served from stored replies."""

    def digest(self, address: "Address") -> str:
        """Return the SHA-256, 64 hex digits, of all that the reply depends on, so not of `shared`."""
        content = asdict(self) | {"shared": 0, "to": [address.base_url, address.model, address.api]}
        return sha256_of(content)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, as the endpoint or the local model counts them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply.

    `problem` says why it is not a whole answer: an `Unread`, or TOO_LONG. `probabilities`, where wanted, has
    the marks that the reply tells of: mark -> probability in [0, 1].
    """

    text: str
    problem: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    usage: Usage | None = None
    model: str = ""
    """The model's name as the endpoint states it."""


class Reach(Enum):
    """The network addresses that connections to an endpoint may lead to."""

    PUBLIC = "public"
    THIS_MACHINE = "this machine"
    """Public ones and loopback."""
    ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a hosted model."""

    base_url: str
    model: str
    api: str
    """chat or completions."""
    api_key_env: str
    """Environment variable with the key, if the project stores none."""
    timeout_s: float = 60.0
    reach: Reach = Reach.PUBLIC
    """Wider only where the operator allows it."""


class Asking(Protocol):
    """A source of replies: a hosted model, a local one, or a store in front of either."""

    def replies(self, requests: Sequence[Request]) -> list[Reply]:
        """Return one reply per request, in order.

        Raises EvaluatorError, permanent or not, if a reply cannot be had; a store keeps those that arrived.
        """
        ...


Arrivals = Generator[list[tuple[int, Reply]], None, None]


@runtime_checkable
class Answering(Protocol):
    """A source that gives replies as soon as they arrive, such as a hosted model."""

    def arrivals(self, requests: Sequence[Request]) -> Arrivals:
        """Yield lists of (place in `requests`, reply).

        Raises EvaluatorError if a reply cannot be had, after the others. A caller that may leave the loop
        early must close it (contextlib.closing), or requests stay under way.
        """
        ...
