import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scoring.contract import (
    EMPTY_SUMMARY,
    NO_ARTICLE,
    NO_REFERENCE,
    Evaluator,
    EvaluatorError,
    Item,
    Need,
    PoolExample,
    Scored,
    Seen,
)
from scoring.endpoint import Endpoint, Reply
from scoring.params import param

if TYPE_CHECKING:
    from openai import OpenAI

_ENTRY, _SYSTEM = "ice_v1.txt", "ice_chat_v1.txt"

SEES: Mapping[str, str] = {
    "comprehensibility": "summary",
    "repetition": "summary",
    "grammar": "summary",
    "attribution": "article",
    "main_ideas": "article",
    "conciseness": "article",
    "coherence": "summary",
    "consistency": "article",
    "fluency": "summary",
    "relevance": "reference",
}
"""What stands beside the summary in the prompt, for the dimensions of SEAHORSE and SummEval."""

_ABSENT = {"article": NO_ARTICLE, "reference": NO_REFERENCE}
_SCORE_FIRST = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?=[.,;:)]?(?:\s|$))[^0-9%/]*")


class Ice(Evaluator):
    """A language model continues a list of rated examples: a number in [0, 1] per dimension.

    The basic form of ICE: a few examples from the labelled pool, drawn uniformly at random, each of another
    article, with their human labels as two-decimal scores, then the summary; no description of the task.
    For consistency the model sees the article too, for relevance a reference, for fluency and coherence the
    summary alone. Articles of drawn examples count as seen. A reply that does not start with a number from
    0 to 1 gives no score, and is kept.
    """

    name = "ice"
    title = "ICE"
    version = 1
    source = "Jain et al. 2023, Multi-Dimensional Evaluation of Text Summarization with In-Context Learning"
    formula = "the number that the model writes behind the examples and the summary"
    weaknesses = (
        "Depends on the model, on the examples drawn and on their order; a hosted model may change under "
        "its name."
    )
    cost = "One request for each summary and dimension."
    needs = frozenset({Need.ARTICLE, Need.REFERENCES, Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    deterministic = False
    queue = "llm"
    batch_size = 1  # what an endpoint was paid for is stored before the next summary is sent
    seen_reason = "article is in the in-context pool"

    @dataclass(frozen=True)
    class Params:
        model: str = param(
            doc="The model's name at the endpoint; better a dated one than an alias that moves."
        )
        base_url: str = param("https://api.openai.com/v1", doc="Address of the OpenAI-compatible endpoint.")
        api: str = param(
            "chat",
            choices=("chat", "completions"),
            doc="chat: a system message asks for the number; completions: the model continues the list.",
        )
        api_key_env: str = param(
            "OPENAI_API_KEY",
            doc="Environment variable of the worker that holds the key; its name ends in _API_KEY.",
        )
        dimensions: tuple[str, ...] = param((), doc="Dimensions to score; empty: those of the labelled pool.")
        sees: tuple[str, ...] = param(
            (),
            doc="What the model sees beside the summary, as dimension=article, dimension=reference or "
            "dimension=summary (nothing else); needed for dimensions other than SEAHORSE's and SummEval's.",
        )
        examples: int = param(4, low=1, high=64, doc="In-context examples per dimension.")
        seed: int = param(0, low=0, doc="Seed of the draw of examples.")
        max_tokens: int = param(16, low=1, high=4096, doc="Longest reply; one that is cut gives no score.")
        timeout_s: float = param(60.0, low=0.1, high=3600, doc="Seconds to wait for a reply.")

        def __post_init__(self) -> None:
            if not self.model:
                raise ValueError("parameter 'model': found '', expected a model's name")
            address = urlsplit(self.base_url)
            if address.scheme not in ("http", "https") or not address.hostname or address.username:
                raise ValueError(
                    f"parameter 'base_url': found {self.base_url!r}, expected an http or https address "
                    "without user and password"
                )
            # Whoever chooses parameters must not be able to send other secrets of the worker away.
            if not re.fullmatch(r"[A-Z][A-Z0-9_]*_API_KEY", self.api_key_env):
                raise ValueError(
                    f"parameter 'api_key_env': found {self.api_key_env!r}, expected a name such as "
                    "OPENAI_API_KEY"
                )
            self.sees_for(self.dimensions)

        def sees_for(self, dimensions: Iterable[str]) -> dict[str, str]:
            """Dimension -> article, reference or summary. Raises ValueError where nothing says which."""
            table = dict(SEES)
            for entry in self.sees:
                dimension, _, what = entry.partition("=")
                if not dimension or what not in ("article", "reference", "summary"):
                    raise ValueError(
                        f"parameter 'sees': found {entry!r}, expected dimension=article, dimension=reference "
                        "or dimension=summary"
                    )
                table[dimension] = what
            for dimension in dimensions:
                if dimension not in table:
                    raise ValueError(
                        f"parameter 'sees': found nothing for the dimension {dimension!r}, expected for "
                        f"example {dimension}=article"
                    )
            return {dimension: table[dimension] for dimension in dimensions}

    params: Params

    def __init__(self, params: Params) -> None:
        super().__init__(params)
        self._sees: dict[str, str] = {}
        self._drawn: dict[str, list[PoolExample]] = {}
        self._client: OpenAI | None = None
        self._endpoint = Endpoint(
            params.base_url,
            params.model,
            "chat" if params.api == "chat" else "completions",
            params.api_key_env,
            params.max_tokens,
            params.timeout_s,
        )

    @classmethod
    def needs_for(cls, params: Params) -> frozenset[Need]:
        if not params.dimensions:
            return cls.needs
        seen = params.sees_for(params.dimensions).values()
        needs = {Need.LABELLED_POOL}
        needs |= {Need.ARTICLE} if "article" in seen else set()
        needs |= {Need.REFERENCES} if "reference" in seen else set()
        return frozenset(needs)

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Draws the examples. The same draw comes from the whole pool and from the drawn examples alone."""
        asked = self.params.dimensions or sorted({name for each in pool for name in each.labels})
        dimensions = tuple(dict.fromkeys(asked))
        if not dimensions:
            raise EvaluatorError("the labelled pool holds no label", permanent=True)
        try:
            self._sees = self.params.sees_for(dimensions)
        except ValueError as error:
            raise EvaluatorError(str(error), permanent=True) from error
        shuffled = sorted(pool, key=self._place_in_draw)
        self._drawn = {dimension: self._draw(dimension, shuffled) for dimension in dimensions}
        self.dimensions = dimensions
        self.seen = Seen.of(
            replace(each, labels={name: each.labels[name] for name in dimensions if name in each.labels})
            for examples in self._drawn.values()
            for each in examples
        )

    def _place_in_draw(self, example: PoolExample) -> str:
        """Sorting by it is a random order that stays when the pool loses or gains examples."""
        return hashlib.sha256(f"{self.params.seed}\n{example.id}".encode()).hexdigest()

    def _draw(self, dimension: str, shuffled: Iterable[PoolExample]) -> list[PoolExample]:
        drawn: dict[str, PoolExample] = {}
        for example in shuffled:
            usable = dimension in example.labels and example.summary.strip()
            if usable and example.article_id not in drawn and self._beside(dimension, example) is not None:
                drawn[example.article_id] = example
            if len(drawn) == self.params.examples:
                return list(drawn.values())
        raise EvaluatorError(
            f"{dimension} needs {self.params.examples} labelled examples of different articles, with the "
            f"{self._sees[dimension]}; the pool has {len(drawn)}",
            permanent=True,
        )

    def provenance(self) -> dict[str, object]:
        prompts = [_ENTRY, _SYSTEM] if self.params.api == "chat" else [_ENTRY]
        return {
            "prompts": {name: _prompt(name) for name in prompts},
            "examples": {dimension: [each.id for each in drawn] for dimension, drawn in self._drawn.items()},
        }

    def score(self, items: Sequence[Item]) -> list[Scored]:
        if not self.dimensions:
            raise RuntimeError("ice scores only after fit(pool)")
        return [self._score(item) for item in items]

    def _score(self, item: Item) -> Scored:
        if not item.summary.strip():
            return Scored.unscored(self.dimensions, EMPTY_SUMMARY)
        values: dict[str, float] = {}
        reasons: dict[str, str] = {}
        replies: dict[str, str] = {}
        for dimension in self.dimensions:
            if self._beside(dimension, item) is None:
                values[dimension], reasons[dimension] = math.nan, _ABSENT[self._sees[dimension]]
                continue
            reply = self._ask(self.prompt(dimension, item))
            replies[dimension] = reply.text
            number, problem = _number(reply)
            values[dimension] = number
            if problem:
                reasons[dimension] = problem
        return Scored(values, reasons, replies)

    def prompt(self, dimension: str, item: Item) -> str:
        """The text sent: the drawn examples with their scores, then `item` up to its score."""
        entries = [
            self._entry(dimension, each, f"{each.labels[dimension]:.2f}") for each in self._drawn[dimension]
        ]
        return "\n\n".join([*entries, self._entry(dimension, item, "").rstrip()])

    def _entry(self, dimension: str, example: PoolExample | Item, score: str) -> str:
        fields = {
            self._sees[dimension]: self._beside(dimension, example),
            "summary": _single_line(example.summary),
            "dimension": dimension.replace("_", " ").capitalize(),
            "score": score,
        }
        lines = [
            line
            for line in _prompt(_ENTRY).splitlines()
            if set(re.findall(r"{(\w+)}", line)) <= fields.keys()
        ]
        return "\n".join(lines).format_map(fields)

    def _beside(self, dimension: str, example: PoolExample | Item) -> str | None:
        """What the prompt shows beside the summary (of references the first not blank); None if absent."""
        what = self._sees[dimension]
        if what == "summary":
            return _single_line(example.summary)
        texts = (example.article or "",) if what == "article" else example.references
        return next((_single_line(text) for text in texts if text.strip()), None)

    def _ask(self, prompt: str) -> Reply:
        if self._client is None:
            self._client = self._endpoint.connect()
        return self._endpoint.ask(self._client, prompt, system=_prompt(_SYSTEM).strip())


@cache
def _prompt(name: str) -> str:
    return (Path(__file__).parent / "prompts" / name).read_text("utf-8")


def _single_line(text: str) -> str:
    """White space as single spaces: one line per text, so that no text can pass for an entry of its own."""
    return " ".join(text.split())


def _number(reply: Reply) -> tuple[float, str | None]:
    """The score with which the reply's first line starts, or nan and why. Nothing is rounded or clamped."""
    if reply.problem:
        return math.nan, reply.problem
    found = _SCORE_FIRST.fullmatch(reply.text.strip().splitlines()[0])
    if not found:
        return math.nan, "no single number at the start of the reply"
    number = float(found[1])
    if not 0 <= number <= 1:
        return math.nan, f"the reply's number {found[1]} is not from 0 to 1"
    return number, None
