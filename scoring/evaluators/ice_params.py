"""ICE's parameters, and their valid combinations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from annotation.declared.settings import setting
from scoring.evaluators.bases.model_evaluator import precision_setting
from scoring.llm.addresses import problem_of
from scoring.prompts.dimensions import Dimension, described, seen_beside
from scoring.prompts.marks import MARKS

LOCAL_APIS = ("local_chat", "local_completions")
"""APIs of models on this machine."""
MODEL, PROMPT, SCORE, EXAMPLES, LIMITS = "Model", "Prompt", "Score", "Examples", "Limits"


@dataclass(frozen=True)
class IceParams:
    model: str = setting(
        label="Model",
        help="Name of the model at the endpoint; dated names are safer than aliases.",
        group=MODEL,
        details="With a local api a folder on this machine, or an id on the Hugging Face hub "
        "(owner/name, or owner/name@revision), of any causal language model in safetensors "
        "files.",
    )
    base_url: str = setting(
        "https://api.openai.com/v1",
        label="Endpoint address",
        help="Address of the OpenAI-compatible endpoint.",
        phrase="at {}",
        group=MODEL,
    )
    api: str = setting(
        "chat",
        label="API",
        help="Chat or text completion, by a hosted or a local model.",
        choices={
            "chat": "chat",
            "completions": "completions",
            "local_chat": "local chat",
            "local_completions": "local completions",
        },
        group=MODEL,
        details="chat: a system message asks for the number; completions: the model continues the list. "
        "local_chat and local_completions: the same of a model on this machine, on the queue "
        "gpu; a chat by the template of its tokenizer.",
    )
    api_key_env: str = setting(
        "OPENAI_API_KEY",
        label="API key variable",
        help="Environment variable of the worker with the key; local endpoints need none.",
        group=MODEL,
        details="Its name ends in _API_KEY. An endpoint on the same machine or in a private network "
        "needs none.",
    )
    prompt: str = setting(
        "paper",
        label="Prompt",
        help="Rated examples alone, as in the paper, or after a description.",
        choices={"paper": "the paper's prompt", "described": "described dimensions"},
        group=PROMPT,
        details="described: the dimension is described first, and marks of a prompt inside the texts are "
        "made harmless.",
    )
    dimensions: tuple[str, ...] = setting(
        (),
        label="Dimensions",
        help="Dimensions to score; empty: those of the labelled pool.",
        phrase="{} only",
        group=PROMPT,
    )
    mode: str = setting(
        "greedy",
        label="Scoring mode",
        help="Method that turns replies into a score.",
        choices={
            "greedy": "single reply",
            "samples": "mean of samples",
            "expected": "expected value",
            "candidates": "expected value over candidates",
        },
        group=SCORE,
        details="greedy: one reply at temperature 0; samples: the mean of several, each of which must "
        "give a score; expected: the mean of marks by their probabilities as the first token of "
        "a reply, of which at least half must be on marks; candidates: the mean of marks "
        "(decimals in steps of 0.05) by their probabilities as whole replies, of which only a "
        "local api tells.",
    )
    marks: str = setting(
        "decimals",
        label="Rating scale",
        help="Form of the model's replies and of the examples' labels.",
        choices={"decimals": "0.00 to 1.00", "1-5": "1 to 5", "yes_no": "yes or no"},
        phrase="scale {}",
        group=SCORE,
        details="1-5: the nearest of five, halfway the higher; yes_no: Yes for labels above 0.5, No "
        "below, and no example at 0.5. With the mode expected 1-5 or yes_no, which are one token "
        "each.",
    )
    samples: int = setting(
        5,
        label="Samples",
        help="Replies per dimension, for a mean of samples.",
        low=2,
        high=100,
        phrase="{} samples",
        group=SCORE,
    )
    temperature: float = setting(
        0.7,
        label="Sampling temperature",
        help="Temperature for a mean of samples; otherwise 0.",
        low=0.01,
        high=2,
        phrase="temperature {}",
        group=SCORE,
    )
    structured: bool = setting(
        False,
        label="Structured replies",
        help="Require replies that match a JSON schema.",
        group=SCORE,
        details="Not with the prompt paper, the mode expected or completions.",
    )
    examples: int = setting(
        4,
        label="Examples",
        help="In-context examples per dimension; 0 needs described dimensions.",
        low=0,
        high=64,
        phrase="{} examples",
        group=EXAMPLES,
        details="0 takes no labelled pool, but the prompt described and named dimensions.",
    )
    sampling: str = setting(
        "uniform",
        label="Example selection",
        help="Draw examples from all labels, or evenly from their quarters.",
        choices={"uniform": "uniform", "stratified": "stratified"},
        phrase="{} selection",
        group=EXAMPLES,
        details="stratified: of each quarter of the labels' range as many, as far as there are any.",
    )
    pool_articles: int = setting(
        4,
        label="Example articles",
        help="Articles that all examples come from; 0: any number.",
        low=0,
        phrase="examples from {} articles",
        group=EXAMPLES,
        details="At least `examples`.",
    )
    seed: int = setting(
        0, label="Random seed", help="Seed for drawing the examples.", low=0, phrase="seed {}", group=EXAMPLES
    )
    sees: tuple[str, ...] = setting(
        (),
        label="Visible texts",
        help="Text shown beside the summary, such as consistency=article.",
        group=PROMPT,
        details="dimension=article, dimension=reference or dimension=summary (nothing else); needed as "
        "descriptions are, for every form of the prompt.",
    )
    descriptions: str = setting(
        "",
        label="Descriptions",
        help="Descriptions in described prompts, as dimension=description; separated by semicolons.",
        group=PROMPT,
        details="Or a JSON object. In a project needed only for dimensions that neither its questions "
        "nor its own dimensions describe.",
    )
    context_tokens: int = setting(
        0,
        label="Context window",
        help="Tokens of prompt and reply that the model takes; 0: unchecked.",
        low=0,
        group=LIMITS,
        details="Examples that leave no room are refused before the run, summaries that are too long get "
        "no score.",
    )
    tokenizer: str = setting(
        "",
        label="Tokenizer",
        help="Model whose tokenizer counts tokens; empty: a safe upper bound.",
        is_weights=True,
        group=LIMITS,
        details="The bound is about twice as many as English has.",
    )
    max_tokens: int = setting(
        16,
        label="Maximum reply",
        help="The most tokens of a reply; reasoning models need thousands.",
        low=1,
        high=65_536,
        phrase="replies of {} tokens at most",
        group=LIMITS,
        details="Of a reply that is cut only a score at its start counts.",
    )
    precision: str = precision_setting("Number format of a local model's computation.", group=MODEL)
    timeout_s: float = setting(
        60.0,
        label="Timeout",
        help="Seconds to wait for a reply.",
        low=0.1,
        high=3600,
        phrase="timeout {} s",
        group=LIMITS,
    )

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError("parameter 'model': found '', expected a model's name")
        if problem := problem_of(self.base_url):
            raise ValueError(f"parameter 'base_url': found {self.base_url!r}, expected {problem}")
        # Whoever chooses parameters must not be able to send other secrets of the worker away.
        if not re.fullmatch(r"[A-Z][A-Z0-9_]*_API_KEY", self.api_key_env):
            raise ValueError(
                f"parameter 'api_key_env': found {self.api_key_env!r}, expected a name such as OPENAI_API_KEY"
            )
        self._refuse_invalid_combinations()
        self.judged(self.dimensions)

    def _refuse_invalid_combinations(self) -> None:
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

    @property
    def unused(self) -> frozenset[str]:
        """The parameters that change no score, beside this API, mode and number of examples."""
        names = {"api_key_env", "timeout_s"}
        names |= {"base_url"} if self.api in LOCAL_APIS else {"precision"}
        if self.mode != "samples":
            names |= {"samples", "temperature"}
        if not self.examples:
            names |= {"sampling", "pool_articles", "seed"}
        return frozenset(names)

    def judged(self, dimensions: Sequence[str]) -> dict[str, Dimension]:
        """Return name -> the dimension as prompts need it. Raises ValueError if a parameter lacks it."""
        sees = seen_beside(dimensions, self.sees)
        texts = described(dimensions if self.prompt == "described" else (), self.descriptions)
        return {name: Dimension(name, sees[name], texts.get(name, "")) for name in dimensions}

    def words_on(self, dimension: str) -> Dimension | None:
        """Return the dimension as prompts describe it, or None if these parameters lack it."""
        try:
            return self.judged([dimension])[dimension]
        except ValueError:
            return None
