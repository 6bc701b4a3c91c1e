"""ICE's parameters, and which of them go together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from scoring.judge.asked_marks import MARKS
from scoring.judge.dimensions import Dimension, described, seen_beside
from scoring.judge.prompting import FORMS
from scoring.model_evaluator import precision_param
from scoring.params import param

LOCAL_APIS = ("local_chat", "local_completions")
"""Ways to ask a model on this machine."""
MODEL, PROMPT, SCORE, EXAMPLES, LIMITS = "Model", "Prompt", "Score", "Examples", "Limits"


@dataclass(frozen=True)
class IceParams:
    model: str = param(
        doc="The model's name at the endpoint; better a dated one than an alias that moves. With a local "
        "api a folder on this machine, or its id on the Hugging Face hub (owner/name, or "
        "owner/name@revision), of any causal language model in safetensors files.",
        group=MODEL,
    )
    base_url: str = param(
        "https://api.openai.com/v1", doc="Address of the OpenAI-compatible endpoint.", group=MODEL
    )
    api: str = param(
        "chat",
        choices=("chat", "completions", *LOCAL_APIS),
        doc="chat: a system message asks for the number; completions: the model continues the list. "
        "local_chat and local_completions: the same of a model on this machine, on the queue gpu; a chat "
        "by the template of its tokenizer.",
        group=MODEL,
    )
    api_key_env: str = param(
        "OPENAI_API_KEY",
        doc="Environment variable of the worker that holds the key; its name ends in _API_KEY. An endpoint "
        "on the same machine or in a private network needs none.",
        group=MODEL,
    )
    prompt: str = param(
        "paper",
        choices=tuple(FORMS),
        doc="paper: rated examples alone, as published; described: the dimension is described first, "
        "and marks of a prompt inside the texts are made harmless.",
        group=PROMPT,
    )
    dimensions: tuple[str, ...] = param(
        (), doc="Dimensions to score; empty: those of the labelled pool.", group=PROMPT
    )
    mode: str = param(
        "greedy",
        choices=("greedy", "samples", "expected", "candidates"),
        doc="greedy: one reply at temperature 0; samples: the mean of several, each of which must give a "
        "score; expected: the mean of marks by their probabilities as the first token of a reply, of "
        "which at least half must be on marks; candidates: the mean of marks (decimals in steps of 0.05) "
        "by their probabilities as whole replies, of which only a local api tells.",
        group=SCORE,
    )
    marks: str = param(
        "decimals",
        choices=tuple(MARKS),
        doc="What is replied, and how labels of examples are written. decimals: 0.00 to 1.00; 1-5: the "
        "nearest of five, halfway the higher; yes_no: Yes for labels above 0.5, No below, and no example "
        "at 0.5. With the mode expected 1-5 or yes_no, which are one token each.",
        group=SCORE,
    )
    samples: int = param(5, low=2, high=100, doc="Replies per dimension in the mode samples.", group=SCORE)
    temperature: float = param(
        0.7, low=0.01, high=2, doc="Temperature in the mode samples; else it is 0.", group=SCORE
    )
    structured: bool = param(
        False,
        doc="Have the endpoint hold replies to a JSON schema, and read only such replies; not with the "
        "prompt paper, the mode expected or completions.",
        group=SCORE,
    )
    examples: int = param(
        4,
        low=0,
        high=64,
        doc="In-context examples per dimension. 0 takes no labelled pool, but the prompt described and "
        "named dimensions.",
        group=EXAMPLES,
    )
    sampling: str = param(
        "uniform",
        choices=("uniform", "stratified"),
        doc="uniform: any examples; stratified: of each quarter of the labels' range as many, as far as "
        "there are any.",
        group=EXAMPLES,
    )
    pool_articles: int = param(
        4,
        low=0,
        doc="Articles that the examples of all dimensions come from, at least `examples`; 0: any.",
        group=EXAMPLES,
    )
    seed: int = param(0, low=0, doc="Seed of the draw of examples.", group=EXAMPLES)
    sees: tuple[str, ...] = param(
        (),
        doc="What the model sees beside the summary, as dimension=article, dimension=reference or "
        "dimension=summary (nothing else); needed as descriptions are, for every form of the prompt.",
        group=PROMPT,
    )
    descriptions: str = param(
        "",
        doc="What prompts of the form described say of a dimension, as dimension=description; several "
        "separated by semicolons, or as a JSON object. In a project needed only for dimensions that "
        "neither its questions nor its own dimensions describe.",
        group=PROMPT,
    )
    context_tokens: int = param(
        0,
        low=0,
        doc="Tokens of prompt and reply together that the model takes; 0: not checked. Examples that "
        "leave no room are refused before the run, summaries that are too long get no score.",
        group=LIMITS,
    )
    tokenizer: str = param(
        "",
        is_weights=True,
        doc="Model on the server whose tokenizer counts tokens; empty: a bound that is on the safe side, "
        "about twice as many as English has.",
        group=LIMITS,
    )
    max_tokens: int = param(
        16,
        low=1,
        high=65_536,
        doc="Longest reply; of one that is cut only a score at its start counts. A model that thinks "
        "before it replies needs room for that, too: thousands.",
        group=LIMITS,
    )
    precision: str = precision_param("With a local api: numbers the model computes with.", group=MODEL)
    timeout_s: float = param(60.0, low=0.1, high=3600, doc="Seconds to wait for a reply.", group=LIMITS)

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
                f"parameter 'api_key_env': found {self.api_key_env!r}, expected a name such as OPENAI_API_KEY"
            )
        self._refuse_what_does_not_go_together()
        self.judged(self.dimensions)

    def _refuse_what_does_not_go_together(self) -> None:
        if self.mode == "expected" and not MARKS[self.marks].are_single_tokens:
            raise ValueError(
                f"parameter 'marks': found {self.marks!r}, expected 1-5 or yes_no: the mode expected "
                "reads probabilities of single tokens"
            )
        if self.mode == "candidates" and self.api not in LOCAL_APIS:
            raise ValueError(
                "parameter 'mode': found 'candidates', expected greedy, samples or expected but with the "
                "api local_chat or local_completions: endpoints do not tell how likely whole replies are"
            )
        if self.structured and (self.prompt, self.api, self.mode == "expected") != (
            "described",
            "chat",
            False,
        ):
            raise ValueError(
                "parameter 'structured': found yes, expected no but with the prompt described, the api "
                "chat and the mode greedy or samples"
            )
        if not self.examples and self.prompt != "described":
            raise ValueError(
                "parameter 'examples': found 0, expected 1 or more but with the prompt described: "
                "nothing else says what is asked"
            )
        if not self.examples and not self.dimensions:
            raise ValueError(
                "parameter 'dimensions': found none, expected the names of some: without examples there "
                "is no labelled pool to name them"
            )

    def judged(self, dimensions: Sequence[str]) -> dict[str, Dimension]:
        """Name -> what a prompt needs to know of it. Raises ValueError where these parameters lack it."""
        sees = seen_beside(dimensions, self.sees)
        texts = described(dimensions if self.prompt == "described" else (), self.descriptions)
        return {name: Dimension(name, sees[name], texts.get(name, "")) for name in dimensions}

    def words_on(self, dimension: str) -> Dimension | None:
        """What a prompt says of it; None where these parameters lack it."""
        try:
            return self.judged([dimension])[dimension]
        except ValueError:
            return None
