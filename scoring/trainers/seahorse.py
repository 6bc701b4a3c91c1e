from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from annotation.texts.text_digests import sha256_of
from scoring.contract.params import model_name
from scoring.trainers.contract import (
    VALIDATION_ARTICLES,
    CannotTrain,
    Trained,
    Trainer,
    TrainingData,
    TrainingItem,
    Watch,
)
from scoring.trainers.loop_params import LoopParams, base_model_setting
from scoring.trainers.seahorse_examples import (
    ADJUDICATED,
    MAJORITY,
    RATINGS,
    SHARE,
    LabelledSummary,
    examples_of,
    labels_of,
    weighted,
)
from scoring.trainers.splits import Article, Split, digests_by_split, near_duplicate_counts, split_articles

if TYPE_CHECKING:
    from scoring.trainers.learner import Learner

FEWEST_ANSWERS = 10
"""Validation answers of yes, and of no, below which a warning says so."""
_IN_WORDS = {"pearson": "Pearson's r", "auc": "ROC AUC", "loss": "loss"}
CHOICES = {"pearson": "validation_pearson", "auc": "validation_auc", "loss": "validation_loss"}


class SeahorseTrainer(Trainer):
    """Trains a model to answer questions about summaries as people answered them, with yes or no.

    A T5 or mT5 learns to write 1 for yes and 0 for no after reading article and summary, as the authors
    trained mT5; the score is the probability of 1. An encoder, such as BERT, RoBERTa or XLM-RoBERTa, gets a
    head with two classes instead, which suits smaller data and machines. With one question this is the
    authors' form, a model per question. Several questions share one model that reads the question first.

    Where raters disagree, the model learns the answer of most, the adjudicated one, each of them or their
    share of yes. The preview says how many labels are left out, and what that does to the share of yes.
    Summaries with the same text for the same article count once, and not at all if one is a yes and another a
    no; of shares the mean is learnt, and of each rater's answers all are kept. The checkpoint with the best
    agreement on validation articles is kept. Test articles are never seen.
    """

    name = "seahorse"
    title = "SEAHORSE"
    source = (
        "Clark et al. 2023, SEAHORSE: A Multilingual, Multifaceted Dataset for Summarization Evaluation, "
        "section 4 and appendix A"
    )
    help = "Learn from ratings to predict raters' answers for new summaries."
    examples = "answers"

    @dataclass(frozen=True, kw_only=True)
    class Params(LoopParams):
        model: str = base_model_setting(
            "google/mt5-small",
            details="A T5 or mT5, or an encoder. The authors trained mT5 large and XXL.",
        )
        dimensions: tuple[str, ...] = setting(
            label="Questions",
            help="Dimensions to learn; several share one model.",
            details="Each needs answers of yes and no. On other scales, labels above the middle are yes.",
        )
        labels: str = setting(
            MAJORITY,
            label="Disagreement",
            help="Label of a summary on which raters disagree.",
            choices={
                MAJORITY: "the answer of most raters",
                ADJUDICATED: "the adjudicated answer, else that of most raters",
                RATINGS: "each rater's answer, as an example of its own",
                SHARE: "the share of raters who said yes",
            },
            details="Summaries with as many yes as no are left out, except with each rater's answer or the "
            "share. Where only the mean of the answers is known, as in a file, it counts as one rater's.",
        )
        max_length: int = setting(
            2048,
            label="Maximum length",
            help="Longest input in tokens; less where the model allows less.",
            low=16,
            high=65_536,
            details="The end of a longer article is cut.",
        )
        best_by: str = setting(
            "pearson",
            label="Best by",
            help="Validation measure that chooses the checkpoint.",
            choices=_IN_WORDS,
            details="With several questions their mean.",
        )
        class_weights: bool = setting(
            False,
            label="Class weights",
            help="Give both answers to a question the same weight in all.",
            details="Else the more frequent answer counts more.",
        )
        lora_rank: int = setting(
            0,
            label="LoRA rank",
            help="Train added matrices of this rank instead of all weights; 0: all weights.",
            low=0,
            high=1024,
            details="For large models: needs about a quarter of the memory. The matrices are merged into the "
            "weights when the model is saved. They need a learning rate about ten times as high.",
        )

        def __post_init__(self) -> None:
            if not self.dimensions:
                raise ValueError("parameter 'dimensions': found none, expected the questions to learn")
            if self.class_weights and self.labels == SHARE:
                raise ValueError(
                    "parameter 'class_weights': found yes with labels=share, which has no classes; "
                    "expected no, or labels=majority"
                )

    params: Params

    @property
    def trains_all(self) -> bool:
        return not self.params.lora_rank

    def prepare(self, items: Iterable[TrainingItem]) -> TrainingData:
        articles = split_articles(items, self.params, self._answers)
        counts: Counter[str] = Counter()
        found = {
            split: [
                example
                for article in articles
                if article.split is split
                for example in examples_of(article, self.params.dimensions, self.params.labels, counts)
            ]
            for split in (Split.TRAIN, Split.VALIDATION)
        }
        self._check(articles, found)
        train = weighted(found[Split.TRAIN]) if self.params.class_weights else found[Split.TRAIN]
        seen = {example.article for each in found.values() for example in each}
        used = [each for each in articles if any(item.article in seen for item in each.items)]
        languages = {item.language for each in used for item in each.items if item.language}
        validation = found[Split.VALIDATION]
        return TrainingData(
            train=train,
            validation=validation,
            counts={
                "Training articles": len({each.article for each in train}),
                VALIDATION_ARTICLES: len({each.article for each in validation}),
                "Test articles, not seen": sum(each.split is Split.TEST for each in articles),
                **near_duplicate_counts(articles),
                "Training examples": len(train),
                "Validation examples": len(validation),
                "Yes in training": sum(each.answer == 1 for each in train),
                "Yes in validation": sum(each.answer == 1 for each in validation),
                "Share of yes in what is learnt": fmean(each.label for each in (*train, *validation)),
                "Share of yes in all labels": fmean(self._labels(articles)),
                **+counts,
            },
            articles=digests_by_split(used),
            texts={each.digest: each.items[0].article for each in used},
            dimensions=self.params.dimensions,
            languages=tuple(sorted(languages)),
            digest=sha256_of(
                [
                    [each.article, each.summary, each.dimension, each.label, each.weight]
                    for each in (*train, *validation)
                ]
            ),
            warnings=tuple(self._few(validation)),
        )

    def train(self, data: TrainingData, folder: Path, watch: Watch, origin: str = "") -> Trained:
        from scoring.trainers.learning import learn

        named = ", ".join(each.replace("_", " ") for each in data.dimensions)
        return learn(
            self,
            self._build,
            data,
            folder,
            watch,
            origin=origin,
            title=f"{self.title}, {named}, from {model_name(self.params.model)}",
            evaluator_params={"max_length": self.params.max_length},
            settings={"prompts": prompts(data.dimensions)},
        )

    def _build(self, base: Path) -> "Learner":
        from scoring.trainers.seahorse_learners import learner_for

        return learner_for(
            base,
            prompts=prompts(self.params.dimensions),
            max_length=self.params.max_length,
            choose_by=CHOICES[self.params.best_by],
            lora_rank=self.params.lora_rank,
            gradient_checkpointing=self.params.gradient_checkpointing,
            attention_dropout=self.params.attention_dropout,
        )

    def _labels(self, articles: Iterable[Article]) -> Iterator[float]:
        """Yield the labels of articles that may be learnt from, also those that are left out."""
        for article in articles:
            if article.split is not Split.TEST:
                for item in article.items:
                    for dimension in self.params.dimensions:
                        yield from labels_of(item, dimension, self.params.labels)

    def _few(self, validation: Sequence[LabelledSummary]) -> Iterator[str]:
        """Yield a warning for each question of which the validation examples have few of an answer."""
        for dimension in self.params.dimensions:
            answers = Counter(each.answer for each in validation if each.dimension == dimension)
            if min(answers[0], answers[1]) < FEWEST_ANSWERS:
                yield (
                    f"{dimension}: the validation examples have {answers[1]} yes and {answers[0]} no. Fewer "
                    f"than {FEWEST_ANSWERS} of either hardly tell the best checkpoint by "
                    f"{_IN_WORDS[self.params.best_by]}, and say little of the model's worth. Raise the "
                    "validation share, or collect more ratings."
                )

    def _answers(self, article: Article) -> set[str]:
        """Return the answers to each question that the article gives examples of."""
        found = examples_of(article, self.params.dimensions, self.params.labels, Counter())
        return {f"{each.dimension}={each.answer}" for each in found}

    def _check(self, articles: Sequence[Article], found: dict[Split, list[LabelledSummary]]) -> None:
        """Raise CannotTrain unless both answers to each question occur in both splits."""
        items = [item for each in articles for item in each.items]
        there = {dimension for item in items for dimension in (*item.labels, *item.decided)}
        for dimension in self.params.dimensions:
            if dimension not in there:
                raise CannotTrain(
                    f"No summary has a label for {dimension!r}; there are labels for "
                    f"{', '.join(sorted(there)) or 'no question'}."
                )
            for split, examples in found.items():
                labels = Counter(each.answer for each in examples if each.dimension == dimension)
                if not (labels[0] and labels[1]):
                    raise CannotTrain(
                        f"Of the {split} articles' summaries {labels[1]} are answered with yes (label 1) and "
                        f"{labels[0]} with no (label 0) for {dimension!r}; both are needed. "
                        f"{advice(articles)}"
                    )


def advice(articles: Sequence[Article]) -> str:
    """Return what to do if the articles that may be learnt from lack an answer."""
    test = [each for each in articles if each.split is Split.TEST]
    is_drawn = any(item.split != Split.TEST for each in test for item in each.items)
    return (
        f"{len(test)} of {len(articles)} articles are test articles, which are never learnt from. Each "
        "answer must occur on at least two of the others, of which near-duplicates count as one. Collect "
        "more ratings there, or choose another question"
        f"{', or lower the test share' if is_drawn else ''}."
    )


def prompts(dimensions: Sequence[str]) -> dict[str, str]:
    """Return dimension -> the prompt of a model for these dimensions; the authors' for a single one."""
    prompt = "premise: {article} hypothesis: {summary}"
    if len(dimensions) == 1:
        return {dimensions[0]: prompt}
    return {each: f"question: {each.replace('_', ' ')} {prompt}" for each in dimensions}
