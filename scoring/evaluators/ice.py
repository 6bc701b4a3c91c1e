import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from annotation.imports.reading.blank_texts import is_blank
from scoring.contract.evaluator import EvaluatorError, Need, Queue
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import model_name
from scoring.contract.requests import Address, Asking, Reach, Reply, Request
from scoring.contract.scores import EMPTY_SUMMARY, NO_ARTICLE, NO_REFERENCE, Scored
from scoring.contract.seen import Seen
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.evaluators.bases.model_evaluator import versions
from scoring.evaluators.ice_params import LOCAL_APIS, IceParams
from scoring.llm.client import HostedModel
from scoring.prompts.dimensions import Dimension
from scoring.prompts.examples import ExampleDraw
from scoring.prompts.marks import MARKS
from scoring.prompts.prompt import Prompting, form_of
from scoring.prompts.prompt_length import ContextWindow, token_counter, tokenizer_file
from scoring.prompts.replies import READER_VERSION
from scoring.prompts.score_modes import score_mode
from scoring.weights.model_files import digest, has_chat_template, locate

TOO_LONG = "longer than the model's context"

_ABSENT = {"article": NO_ARTICLE, "reference": NO_REFERENCE}


class Ice(AskingEvaluator):
    """A language model continues a list of rated examples with a score in [0, 1] per dimension.

    A few examples from the labelled pool, each of another article, precede the summary with their human
    labels as two-decimal scores. For consistency the model also sees the article, for relevance a reference,
    for fluency and coherence only the summary. Articles of drawn examples count as seen on the
    dimensions that they are drawn for.

    As in the paper: four examples, each of another article, for all dimensions from the same four articles;
    drawn uniformly, or stratified by quarters of the label, with any example where a quarter has none; in
    random order; no description of the dimension; the first reference; temperature 0. Unlike the paper: its
    stratified draw chooses the assignment of quarters to articles with the most summaries, even if a quarter
    then stays empty that could be filled; here as many as possible are filled. Its prompts begin with two
    empty lines and keep line breaks; here a text is one line. Its labels are as short as possible (0.5, here
    0.50). It takes the first number of a reply, whatever that is.

    Here the score is the number from 0 to 1 that a reply gives alone, at its start, after the dimension's
    name or words such as Score, or in JSON; 85% and 0.8/1 are numbers, too. Nothing is rounded or clamped. A
    reply with two plausible readings or none has a reason instead: unparsable, refused, filtered, truncated,
    out of range or empty reply. All replies are kept, and a later version can read them again.

    The mode says how replies become a score: `greedy`, the paper's, takes one reply; `samples` takes the mean
    of several, and gives no score if one of them cannot be read; `expected` takes the mean of the marks 1 to
    5 by their probabilities as the reply's first token, or P(Yes) / (P(Yes) + P(No)), where yes and YES count
    as Yes, keeps the probability of all marks together, and gives no score if that is less than half;
    `candidates` takes the mean of marks by their probabilities as whole replies of a local model. One mode
    never replaces another.

    Prompts of the form `described` describe the dimension, and put marks in the texts that imitate the prompt
    (`Score:`, `###`, `<|im_start|>`) into square brackets; `paper` has no such protection.
    """

    name = "ice"
    title = "ICE"
    version = 2
    source = "Jain et al. 2023, Multi-Dimensional Evaluation of Text Summarization with In-Context Learning"
    formula = (
        "the number that the model writes after the examples and the summary; samples: their mean; "
        "expected: sum of p(mark) x worth(mark) over sum of p(mark), worth from 0 to 1 in even steps"
    )
    weaknesses = (
        "Depends on the model, on the drawn examples and on their order; a hosted model may change under "
        "its name."
    )
    cost = "One request per summary and dimension; with the mode samples, as many as samples."
    needs = frozenset({Need.ARTICLE, Need.REFERENCES, Need.LABELLED_POOL})
    dimensions: tuple[str, ...] = ()
    deterministic = False
    queue = "llm"
    batch_size = 32  # requests go out together; each reply is stored on arrival
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
        self._in_context = ExampleDraw(*sizes, stratified, self._prompting, self._context)
        if not params.examples:
            self.dimensions = tuple(dict.fromkeys(params.dimensions))
            self._judged = params.judged(self.dimensions)
            self._drawn = {name: [] for name in self.dimensions}

    def headline(self) -> tuple[str, frozenset[str]]:
        number = self.params.examples
        shown = f"{number} example{'s' * (number > 1)}" if number else "no examples"
        return f"ICE, {shown}, {model_name(self.params.model)}", frozenset({"examples", "model"})

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
    def unused_params(cls, params: IceParams) -> frozenset[str]:
        return params.unused

    @classmethod
    def queue_for(cls, params: IceParams) -> Queue:
        return "gpu" if params.api in LOCAL_APIS else cls.queue

    @classmethod
    def models_for(cls, params: IceParams) -> dict[str, str]:
        local = {"model": params.model} if params.api in LOCAL_APIS else {}
        return local | super().models_for(params)

    def fit(self, pool: Sequence[PoolExample]) -> None:
        """Draw the examples. The whole pool and the drawn examples alone give the same draw."""
        asked = self.params.dimensions or sorted({name for each in pool for name in each.labels})
        dimensions = tuple(dict.fromkeys(asked))
        if not dimensions:
            raise EvaluatorError(
                "the labelled pool has no labels: collect ratings, or set `examples` to 0, the prompt to "
                "described, and `dimensions`",
                permanent=True,
            )
        try:
            self._judged = self.params.judged(dimensions)
        except ValueError as error:
            raise EvaluatorError(str(error), permanent=True) from error
        self._drawn = self._in_context.drawn(self._judged, pool)
        self.dimensions = dimensions
        asked_labels = (
            replace(each, labels={name: each.labels[name] for name in dimensions if name in each.labels})
            for examples in self._drawn.values()
            for each in examples
        )
        self.seen = Seen.of(asked_labels, self._drawn)

    def provenance(self) -> dict[str, object]:
        tokenizer = self.params.tokenizer
        spellings = list(MARKS[self.params.marks].spellings)
        # Earlier versions counted one spelling, so only setups with several differ from theirs.
        is_spelt = self.params.mode == "expected" and len(spellings) > len(MARKS[self.params.marks].menu)
        return {
            "prompts": self._prompting.files,
            "descriptions": {
                name: each.description for name, each in self._judged.items() if each.description
            },
            "examples": {dimension: [each.id for each in drawn] for dimension, drawn in self._drawn.items()},
            "reader": READER_VERSION,
            **({"spellings": spellings} if is_spelt else {}),
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
            # Workers put a store in front; only who has a shell here asks the model itself.
            return HostedModel(replace(self.address, reach=Reach.ANYWHERE))
        from scoring.neural.causal_lm import LocalModel

        return LocalModel(self._folder, self.params.precision, is_chat=self.params.api == "local_chat")

    @property
    def _folder(self) -> Path:
        """Folder of the local model. Raises EvaluatorError, permanent, if it is missing or cannot chat."""
        folder = locate(self.params.model)
        if self.params.api == "local_chat" and not has_chat_template(folder):
            raise EvaluatorError(
                f"parameter 'api': found local_chat, but {self.params.model!r} has no chat template; use "
                "local_completions",
                permanent=True,
            )
        return folder

    def model_itself(self) -> Asking:
        return self._model

    def is_same_judge(self, params: IceParams) -> bool:
        """Return whether people would call a judge with these parameters the same one.

        That is: the same model, form of the prompt and mode, and the same description of a dimension that
        both score. Endpoint, timeouts and examples do not matter.
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
        found: dict[str, tuple[float, str | None]] = {}
        kept: dict[str, str] = {}
        came = iter(replies)
        for dimension in self.dimensions:
            found[dimension] = math.nan, self._problem(dimension, item)
            if found[dimension][1] is None:
                answers = [next(came) for _ in range(self._mode.count)]
                kept[dimension] = self._mode.kept(answers)
                found[dimension] = self._mode.verdict(answers, dimension)
        values = {name: number for name, (number, _) in found.items()}
        reasons = {name: problem for name, (_, problem) in found.items() if problem}
        return Scored(values, reasons, kept)

    def _problem(self, dimension: str, item: Item) -> str | None:
        """Return why the item cannot be scored on this dimension, or None."""
        if self.seen.dimensions_of(item, [dimension]):
            return self.seen_reason
        if is_blank(item.summary):
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

    def prompt(self, dimension: str, item: Item) -> str:
        """Return the text sent: the drawn examples with their scores, then `item` up to its score."""
        return self._beginning(dimension) + self._prompting.ending(self._judged[dimension], item)

    def _beginning(self, dimension: str) -> str:
        if dimension not in self._beginnings:
            written = self._prompting.beginning(self._judged[dimension], self._drawn[dimension])
            self._beginnings[dimension] = written
        return self._beginnings[dimension]
