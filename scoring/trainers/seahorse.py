from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.declared.settings import setting
from scoring.contract.digests import sha256_of
from scoring.contract.setup_names import model_name
from scoring.trainers.contract import CannotTrain, Trained, Trainer, TrainingData, TrainingItem, Watch
from scoring.trainers.loop_params import LoopParams, base_model_setting
from scoring.trainers.seahorse_examples import LabelledSummary, examples_of, weighted
from scoring.trainers.splits import Article, Split, digests_by_split, split_articles

if TYPE_CHECKING:
    from scoring.trainers.learner import Learner

CHOICES = {"pearson": "validation_pearson", "auc": "validation_auc", "loss": "validation_loss"}


class SeahorseTrainer(Trainer):
    """Trains a model to answer questions about summaries as people answered them, with yes or no.

    A T5 or mT5 learns to write 1 for yes and 0 for no after reading article and summary, as the authors
    trained mT5; the score is the probability of 1. An encoder, such as BERT, RoBERTa or XLM-RoBERTa, gets a
    head with two classes instead, which suits smaller data and machines. With one question this is the
    authors' form, a model per question. Several questions share one model that reads the question first.

    Labels other than 0 and 1, such as means of raters who disagree, are not learnt from. Of summaries with
    the same text for the same article one is kept, and none if their labels contradict each other. The
    checkpoint with the best agreement on validation articles is kept. Test articles are never seen.
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
            details="Each needs labels of 0 and 1, such as answers of yes and no.",
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
            choices={"pearson": "Pearson's r", "auc": "ROC AUC", "loss": "loss"},
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
                for example in examples_of(article, self.params.dimensions, counts)
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
                "Validation articles": len({each.article for each in validation}),
                "Test articles, not seen": sum(each.split is Split.TEST for each in articles),
                "Training examples": len(train),
                "Validation examples": len(validation),
                "Yes in training": sum(each.label for each in train),
                "Yes in validation": sum(each.label for each in validation),
                **+counts,
            },
            articles=digests_by_split(used),
            dimensions=self.params.dimensions,
            languages=tuple(sorted(languages)),
            digest=sha256_of(
                [
                    [each.article, each.summary, each.dimension, each.label, each.weight]
                    for each in (*train, *validation)
                ]
            ),
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

    def _answers(self, article: Article) -> set[str]:
        """Return the answers to each question that the article gives examples of."""
        found = examples_of(article, self.params.dimensions, Counter())
        return {f"{each.dimension}={each.label}" for each in found}

    def _check(self, articles: Sequence[Article], found: dict[Split, list[LabelledSummary]]) -> None:
        """Raise CannotTrain unless both answers to each question occur in both splits."""
        there = {dimension for each in articles for item in each.items for dimension in item.labels}
        for dimension in self.params.dimensions:
            if dimension not in there:
                raise CannotTrain(
                    f"No summary has a label for {dimension!r}; there are labels for "
                    f"{', '.join(sorted(there)) or 'no question'}."
                )
            for split, examples in found.items():
                labels = Counter(each.label for each in examples if each.dimension == dimension)
                if len(labels) < 2:
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
        "answer must occur on at least two of the others. Collect more ratings there, or choose another "
        "question"
        f"{', or lower the test share' if is_drawn else ''}."
    )


def prompts(dimensions: Sequence[str]) -> dict[str, str]:
    """Return dimension -> the prompt of a model for these dimensions; the authors' for a single one."""
    prompt = "premise: {article} hypothesis: {summary}"
    if len(dimensions) == 1:
        return {dimensions[0]: prompt}
    return {each: f"question: {each.replace('_', ' ')} {prompt}" for each in dimensions}
