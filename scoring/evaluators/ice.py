import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from scoring.asking.request import Address, Asking, Reply, Request
from scoring.asking.sender import Sender
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import (
    EMPTY_SUMMARY,
    NO_ARTICLE,
    NO_REFERENCE,
    EvaluatorError,
    Item,
    Need,
    PoolExample,
    Queue,
    Scored,
    Seen,
)
from scoring.judge.asked_marks import MARKS
from scoring.judge.dimensions import Dimension
from scoring.judge.ice_params import LOCAL_APIS, IceParams
from scoring.judge.in_context import InContext
from scoring.judge.prompt_length import ContextWindow, token_counter, tokenizer_file
from scoring.judge.prompting import Prompting, form_of
from scoring.judge.replies import READER_VERSION
from scoring.judge.score_modes import score_mode
from scoring.model_evaluator import versions
from scoring.weights import digest, has_chat_template, locate

TOO_LONG = "longer than the model's context"

_ABSENT = {"article": NO_ARTICLE, "reference": NO_REFERENCE}


class Ice(AskingEvaluator):
    """A language model continues a list of rated examples: a number in [0, 1] per dimension.

    A few examples from the labelled pool, each of another article, stand with their human labels as
    two-decimal scores before the summary. For consistency the model sees the article too, for relevance a
    reference, for fluency and coherence the summary alone. Articles of drawn examples count as seen.

    As in the paper: four examples, each of another article, for all dimensions from the same four articles;
    drawn uniformly, or stratified by quarters of the label, with any example where a quarter has none; in
    random order; no description of the dimension; the first reference; temperature 0. Not as in the paper:
    its stratified draw takes the assignment of quarters to articles with the most summaries to choose from,
    even if a quarter then stays empty that could be filled; here as many as possible are filled. Its prompts
    begin with two empty lines and keep line breaks; here a text is one line. Its labels are as short as
    possible (0.5, here 0.50). It takes the first number of a reply, whatever that is.

    Here the score is the number from 0 to 1 that a reply gives alone, at its start, behind the dimension's
    name or words such as Score, or in JSON; 85% and 0.8/1 are numbers, too. Nothing is rounded or clamped. A
    reply with two plausible readings or none has a reason instead: unparsable, refused, filtered, truncated,
    out of range or empty reply. All replies are kept, and can be read anew by a later version.

    The mode says how the score comes of replies: `greedy`, the paper's, from one; `samples` is the mean of
    several, and none where one of them cannot be read; `expected` is the mean of the marks 1 to 5 by their
    probabilities as the reply's first token, or P(Yes) / (P(Yes) + P(No)), with the share on all marks kept
    beside it; `candidates` is the mean of marks by their probabilities as whole replies of a local model.
    One mode never takes the place of another.

    Prompts of the form `described` say what is asked, and marks in the texts that could pass for a part of
    the prompt (`Score:`, `###`, `<|im_start|>`) are put into square brackets; `paper` has no such guard.
    """

    name = "ice"
    title = "ICE"
    version = 2
    source = "Jain et al. 2023, Multi-Dimensional Evaluation of Text Summarization with In-Context Learning"
    formula = (
        "the number that the model writes behind the examples and the summary; samples: their mean; "
        "expected: sum of p(mark) x worth(mark) over sum of p(mark), worth from 0 to 1 in even steps"
    )
    weaknesses = (
        "Depends on the model, on the examples drawn and on their order; a hosted model may change under "
        "its name."
    )
    cost = "One request for each summary and dimension, with the mode samples as many as samples."
    needs = frozenset({Need.ARTICLE, Need.REFERENCES, Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    deterministic = False
    queue = "llm"
    batch_size = 32  # whose requests go out together; each reply is stored as it comes
    seen_reason = "article is in the in-context pool"

    Params = IceParams
    params: IceParams

    def __init__(self, params: IceParams) -> None:
        super().__init__(params)
        self._judged: dict[str, Dimension] = {}
        self._drawn: dict[str, list[PoolExample]] = {}
        self._beginnings: dict[str, str] = {}
        marks = MARKS[params.marks]
        self._mode = score_mode(
            params.mode,
            marks,
            structured=params.structured,
            samples=params.samples,
            temperature=params.temperature,
        )
        form = form_of(params.prompt, params.marks, params.examples, structured=params.structured)
        self._prompting = Prompting(form, marks, is_chat=params.api in ("chat", "local_chat"))
        self._context = ContextWindow(params.context_tokens, params.max_tokens, params.tokenizer)
        stratified = params.sampling == "stratified"
        sizes = params.examples, params.pool_articles, params.seed
        self._in_context = InContext(*sizes, stratified, self._prompting, self._context)
        if not params.examples:
            self.dimensions = tuple(dict.fromkeys(params.dimensions))
            self._judged = params.judged(self.dimensions)
            self._drawn = {name: [] for name in self.dimensions}

    @classmethod
    def needs_for(cls, params: IceParams) -> frozenset[Need]:
        if not params.dimensions:
            return cls.needs
        seen = {each.sees for each in params.judged(params.dimensions).values()}
        needs = {Need.LABELLED_POOL} if params.examples else set()
        needs |= {Need.ARTICLE} if "article" in seen else set()
        needs |= {Need.REFERENCES} if "reference" in seen else set()
        return frozenset(needs)

    @classmethod
    def queue_for(cls, params: IceParams) -> Queue:
        return "gpu" if params.api in LOCAL_APIS else cls.queue

    @classmethod
    def models_for(cls, params: IceParams) -> dict[str, str]:
        local = {"model": params.model} if params.api in LOCAL_APIS else {}
        return local | super().models_for(params)

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Draws the examples. The same draw comes from the whole pool and from the drawn examples alone."""
        asked = self.params.dimensions or sorted({name for each in pool for name in each.labels})
        dimensions = tuple(dict.fromkeys(asked))
        if not dimensions:
            raise EvaluatorError(
                "the labelled pool holds no label: it takes some ratings, or `examples` 0 with the prompt "
                "described and the names of `dimensions`",
                permanent=True,
            )
        try:
            self._judged = self.params.judged(dimensions)
        except ValueError as error:
            raise EvaluatorError(str(error), permanent=True) from error
        self._drawn = self._in_context.drawn(self._judged, pool)
        self.dimensions = dimensions
        self.seen = Seen.of(
            replace(each, labels={name: each.labels[name] for name in dimensions if name in each.labels})
            for examples in self._drawn.values()
            for each in examples
        )

    def provenance(self) -> dict[str, object]:
        tokenizer = self.params.tokenizer
        return {
            "prompts": self._prompting.files,
            "descriptions": {
                name: each.description for name, each in self._judged.items() if each.description
            },
            "examples": {dimension: [each.id for each in drawn] for dimension, drawn in self._drawn.items()},
            "reader": READER_VERSION,
            **({"tokenizer": digest(tokenizer_file(tokenizer))} if tokenizer else {}),
            **({"weights": digest(self._folder), "libraries": versions()} if self._is_local else {}),
        }

    @property
    def _is_local(self) -> bool:
        return self.params.api in LOCAL_APIS

    @property
    def address(self) -> Address | None:
        params = self.params
        if self._is_local:
            return None
        return Address(params.base_url, params.model, params.api, params.api_key_env, params.timeout_s)

    @cached_property
    def _model(self) -> Asking:
        if self.address is not None:
            return Sender(self.address)
        from scoring.neural.causal_lm import LocalModel

        return LocalModel(self._folder, self.params.precision, is_chat=self.params.api == "local_chat")

    @property
    def _folder(self) -> Path:
        """Of the local model. Raises EvaluatorError, permanent, where it is not here or cannot chat."""
        folder = locate(self.params.model)
        if self.params.api == "local_chat" and not has_chat_template(folder):
            raise EvaluatorError(
                f"parameter 'api': found local_chat, but {self.params.model!r} has no chat template; "
                "local_completions asks it to continue the list",
                permanent=True,
            )
        return folder

    def model_itself(self) -> Asking:
        return self._model

    def is_same_judge(self, params: IceParams) -> bool:
        """Whether a person would call a judge with these parameters the same one: the same model, form of the
        prompt and mode, and the same words on a dimension that both score.

        Where and how long the model is asked does not matter, nor which examples it is shown.
        """
        own = self.params
        if (own.model, own.prompt, own.mode) != (params.model, params.prompt, params.mode):
            return False
        shared = (name for name in self.dimensions if not params.dimensions or name in params.dimensions)
        return any(self._judged[name] == params.words_on(name) for name in shared)

    def tokens_at_most(self, text: str) -> int:
        return token_counter(self.params.tokenizer)(text)

    def requests(self, item: Item) -> list[Request]:
        return [
            request
            for dimension in self.dimensions
            if self._problem(dimension, item) is None
            for request in self._mode.requests(self._question(dimension, item))
        ]

    def read(self, item: Item, replies: Sequence[Reply]) -> Scored:
        values: dict[str, float] = {}
        reasons: dict[str, str] = {}
        kept: dict[str, str] = {}
        came = iter(replies)
        for dimension in self.dimensions:
            number, problem = math.nan, self._problem(dimension, item)
            if problem is None:
                answers = [next(came) for _ in range(self._mode.count)]
                kept[dimension] = self._mode.kept(answers)
                number, problem = self._mode.verdict(answers, dimension)
            values[dimension] = number
            if problem:
                reasons[dimension] = problem
        return Scored(values, reasons, kept)

    def _problem(self, dimension: str, item: Item) -> str | None:
        """Why nothing is asked of the item on this dimension, or None."""
        if not item.summary.strip():
            return EMPTY_SUMMARY
        judged = self._judged[dimension]
        if judged.beside(item) is None:
            return _ABSENT[judged.sees]
        if not self._context.holds(self._prompting.system, self.prompt(dimension, item)):
            return TOO_LONG
        return None

    def _question(self, dimension: str, item: Item) -> Request:
        return Request(
            self.prompt(dimension, item),
            system=self._prompting.system,
            shared=len(self._beginning(dimension)),
            max_tokens=self.params.max_tokens,
        )

    def reread(self, replies: Mapping[str, str], reasons: Mapping[str, str]) -> Scored:
        """A summary's scores by the present reader, from what was kept of it; nobody is asked.

        `replies` and `reasons` by dimension, as in the Scored of that time. Without a reply the reason stays,
        and so does an ending of which the endpoint told.
        """
        values: dict[str, float] = {}
        anew: dict[str, str] = {}
        for dimension in self.dimensions:
            reason = reasons.get(dimension)
            if replies.get(dimension):
                number, problem = self._mode.reread(replies[dimension], reason, dimension)
            else:
                number, problem = math.nan, reason
            values[dimension] = number
            if problem:
                anew[dimension] = problem
        return Scored(values, anew, replies)

    def prompt(self, dimension: str, item: Item) -> str:
        """The text sent: the drawn examples with their scores, then `item` up to its score."""
        return self._beginning(dimension) + self._prompting.ending(self._judged[dimension], item)

    def _beginning(self, dimension: str) -> str:
        if dimension not in self._beginnings:
            written = self._prompting.beginning(self._judged[dimension], self._drawn[dimension])
            self._beginnings[dimension] = written
        return self._beginnings[dimension]
