from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from annotation.declared.settings import setting
from annotation.texts.text_digests import sha256_of
from scoring.contract.evaluator import GENERAL
from scoring.evaluators.bases.joint_evaluator import WHOLE
from scoring.trainers.contract import (
    VALIDATION_ARTICLES,
    CannotTrain,
    Trained,
    Trainer,
    TrainingData,
    TrainingItem,
    Watch,
)
from scoring.trainers.loop_params import (
    OPTIMISATION,
    LoopParams,
    base_model_setting,
    epochs_setting,
    learning_rate_setting,
    patience_setting,
)
from scoring.trainers.splits import Article, Split, near_duplicate_counts, split_articles
from scoring.trainers.umse_pairs import Matching, Source, fewest_sentences, matchings, shortcuts

SCENARIOS: Mapping[str, tuple[str, ...]] = {
    "all": ("sum_ref", "sum_doc", "sum_doc_ref"),
    "as_released": ("sum_ref", "sum_doc"),
    "sum_ref": ("sum_ref",),
    "sum_doc": ("sum_doc",),
    "sum_doc_ref": ("sum_doc_ref",),
}
"""Choice -> scenarios that one network learns."""
_IN_WORDS = {
    "all": "with reference, article, or both",
    "as_released": "with reference or article",
    "sum_ref": "with the reference",
    "sum_doc": "with the article",
    "sum_doc_ref": "with article and reference together",
}
TELLING_WORDS, TELLING_LENGTH = 0.95, 0.75
"""Shares of pairs above which a warning says that words or length alone tell them apart."""
PAIRS, PREFIX = "Examples", "Prefix"


class UmseTrainer(Trainer):
    """Learns from articles and their references alone, without any rating, whether texts match.

    The first sentences of an article match its reference. The reference of the most similar article, as found
    by BM25, does not, although one of its sentences is replaced by one of the first three. A reference
    matches its article, but not when one of its sentences is replaced by one of the most similar article's
    reference. One network learns up to three scenarios, told apart by a prefix of learnt vectors: one prefix,
    in another order for each scenario. The checkpoint with the lowest loss on pairs of articles that were set
    aside is kept. The preview says how many pairs can be told apart by shared words or by length alone,
    because a network may learn no more than that.

    Paper and released code differ. As in the paper, mismatches are made as above, the prefix is in the input
    after the first token, where its order counts, and all three scenarios are learnt. As in the code, texts
    have at most 380 tokens, the prefix of sum_ref is reversed, and the rates are 1e-5 for the encoder and
    3e-5 for the rest. The code's keys and values, its two scenarios and its frozen lower layers are choices.
    Three things of the code are not offered: its choice of the checkpoint by SummEval's ratings, which are
    also its test; its mix of layers, which makes a text depend on its batch; and its rates by layer, which
    run backwards.

    Other things are ours. A match has as many of an article's first three sentences as come nearest to the
    mismatch in words; the paper's three are often longer, and a network can learn that instead. A text that
    matches and its mismatches are in one batch. No mismatch comes from a near-duplicate of the article.
    Training stops early. The mean over the tokens leaves the prefix out. The paper does not say from which
    texts the network learns to read article and reference together: they are those of summary matching. The
    marks between texts and the types of tokens are those of the encoder's family.
    """

    name = "umse"
    title = "UMSE"
    source = "Gao et al. 2023, UMSE: Unified Multi-scenario Summarization Evaluation (Findings of ACL)"
    help = "An evaluator for texts like yours, from articles and references alone."
    examples = "pairs of texts"

    @dataclass(frozen=True)
    class Params(LoopParams):
        model: str = base_model_setting(
            "FacebookAI/roberta-large",
            details="An encoder: BERT, RoBERTa or XLM-RoBERTa; other kinds only with a prefix in the input.",
        )
        scenarios: str = setting(
            "all",
            label="Scenarios",
            help="Texts that the model reads together with a summary.",
            choices=_IN_WORDS,
            group=PAIRS,
        )
        negatives: int = setting(
            1,
            label="Mismatches",
            help="Texts that do not match for each that does.",
            low=1,
            high=8,
            group=PAIRS,
        )
        lead: str = setting(
            "as_long",
            label="Lead",
            help="First sentences of an article that match its reference.",
            choices={"as_long": "one to three, about as long as the mismatch", "three": "three"},
            group=PAIRS,
            details="three: as in the paper.",
        )
        max_length: int = setting(
            380,
            label="Maximum length",
            help="The most tokens of all texts together, without the prefix.",
            low=16,
            high=65_536,
            group=PAIRS,
            details="Texts are cut as the evaluator cuts them; less where the encoder has fewer positions.",
        )
        prefix_form: str = setting(
            "input",
            label="Prefix",
            help="Place of the learnt prefix.",
            choices={"input": "vectors in the input", "keys": "keys and values in every layer"},
            group=PREFIX,
            details="input: as in the paper. keys: as in the released code, where the order has no effect.",
        )
        prefix_sharing: str = setting(
            "perturbed",
            label="Prefix sharing",
            help="Use of the prefix in the different scenarios.",
            choices={
                "perturbed": "one, in another order for each",
                "shared": "one, in the same order",
                "separate": "one for each scenario",
            },
            group=PREFIX,
        )
        prefix_length: int = setting(
            128,
            label="Prefix length",
            help="Vectors of the prefix; 0: no prefix.",
            low=0,
            high=512,
            group=PREFIX,
        )
        pooling: str = setting(
            "first",
            label="Pooling",
            help="Vector of the encoder that the estimator reads.",
            choices={"first": "the first token's", "mean": "the mean over all tokens"},
        )
        trained_part: str = setting(
            "all",
            label="Trained part",
            help="Part of the encoder that is trained with prefix and estimator.",
            choices={
                "all": "the whole encoder",
                "upper": "the encoder above its first layer",
                "none": "nothing",
            },
            group=OPTIMISATION,
            details="upper: as in the released code.",
        )
        encoder_rate: float = learning_rate_setting(
            1e-5, label="Encoder's rate", help="Learning rate of the encoder."
        )
        learning_rate: float = learning_rate_setting(3e-5, help="Learning rate of prefix and estimator.")
        dropout: float = setting(
            0.15,
            label="Dropout",
            help="Dropout of the estimator while training.",
            low=0.0,
            high=0.9,
            group=OPTIMISATION,
        )
        epochs: int = epochs_setting(15)
        patience: int = patience_setting(2)

    params: Params

    @property
    def trains_all(self) -> bool:
        return self.params.trained_part != "none"

    def prepare(self, items: Iterable[TrainingItem]) -> TrainingData:
        scenarios, negatives = SCENARIOS[self.params.scenarios], self.params.negatives
        articles = split_articles(items, self.params, self._kinds, least=negatives + 1)
        sources = {split: _sources(articles, split) for split in (Split.TRAIN, Split.VALIDATION)}
        # Each part by itself, so that no sentence of a validation article is in a training example.
        found = {
            split: matchings(
                each, scenarios, negatives, self.params.split_seed, as_long=self.params.lead == "as_long"
            )
            for split, each in sources.items()
        }
        for split, examples in found.items():
            for scenario in scenarios:
                if all(each.scenario != scenario for each in examples):
                    raise CannotTrain(self._lack(scenario, split, sources[split]))
        train, validation = found.values()
        known = {each.digest for each in chain(*sources.values())}
        shares, warnings = _shortcuts(scenarios, [*train, *validation])
        counts = {
            "Training articles": len(sources[Split.TRAIN]),
            VALIDATION_ARTICLES: len(sources[Split.VALIDATION]),
            "Test articles, never seen": sum(each.split is Split.TEST for each in articles),
            "Articles without a reference": sum(
                each.split is not Split.TEST and each.digest not in known for each in articles
            ),
            **near_duplicate_counts(articles),
            "Training examples": len(train),
            "Validation examples": len(validation),
            **shares,
        }
        return TrainingData(
            train=train,
            validation=validation,
            counts=counts,
            texts={each.digest: each.article for each in chain(*sources.values())},
            articles={str(split): tuple(each.digest for each in found) for split, found in sources.items()},
            dimensions=(GENERAL,),
            languages=tuple(
                sorted({each.language for found in sources.values() for each in found if each.language})
            ),
            digest=sha256_of([[_as_json(each) for each in found] for found in (train, validation)]),
            warnings=warnings,
        )

    def _kinds(self, article: Article) -> list[str]:
        """Return the scenarios that the article's references are good for."""
        found = _sources([article], article.split)
        return [
            scenario
            for scenario in SCENARIOS[self.params.scenarios]
            if any(each.summaries(fewest_sentences(scenario)) for each in found)
        ]

    def _lack(self, scenario: str, split: Split, sources: Sequence[Source]) -> str:
        """Return why the articles of a split give no examples of a scenario, and what to do."""
        fewest = fewest_sentences(scenario)
        count = sum(bool(each.summaries(fewest)) for each in sources)
        kind = "a reference" if fewest == 1 else f"a reference of at least {fewest} sentences"
        return (
            f"The {split} articles give no examples {_IN_WORDS[scenario]}: there are {count} with {kind}, "
            f"and at least {self.params.negatives + 1} with different sentences are needed, not counting "
            "near-duplicates. Add more, lower the test share, or choose other scenarios."
        )

    def train(self, data: TrainingData, folder: Path, watch: Watch, origin: str = "") -> Trained:
        from scoring.neural.umse_network import Shape, UmseNetwork
        from scoring.trainers.learner import without_attention_dropout
        from scoring.trainers.learning import learn
        from scoring.trainers.umse_learner import UmseLearner

        params = self.params
        shape = Shape(
            scenarios=SCENARIOS[params.scenarios],
            prefix_form=params.prefix_form,
            prefix_sharing=params.prefix_sharing,
            prefix_length=params.prefix_length,
            pooling=params.pooling,
            dropout=params.dropout,
            max_length=params.max_length,
        )

        def build(base: Path) -> UmseLearner:
            changes = {} if params.attention_dropout else without_attention_dropout(base)
            network = UmseNetwork.start(base, shape, **changes)
            learner = UmseLearner(network, base, params.encoder_rate, params.negatives)
            learner.freeze(params.trained_part)
            if params.gradient_checkpointing:
                learner.save_memory()
            return learner

        return learn(
            self,
            build,
            data,
            folder,
            watch,
            origin=origin,
            title=f"UMSE: {_IN_WORDS[params.scenarios]}",
            evaluator_params=_evaluator_params(params.scenarios),
            settings=asdict(shape),
        )


def _evaluator_params(scenarios: str) -> dict[str, str]:
    """Return the evaluator's parameters for a network that has learnt these scenarios."""
    if scenarios in ("all", "as_released"):
        return {"granularity": WHOLE}
    return {"granularity": WHOLE, "scenario": scenarios, "fusion": "none"}


def _shortcuts(
    scenarios: Iterable[str], examples: Sequence[Matching]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the shares of pairs that words and length alone tell apart, by their names, and warnings."""
    shares: dict[str, float] = {}
    warnings = []
    for scenario in scenarios:
        found = shortcuts([each for each in examples if each.scenario == scenario])
        where = _IN_WORDS[scenario]
        for what, share, most, advice in (
            ("shared words", found.words, TELLING_WORDS, "Compare it with ROUGE before you rely on it."),
            (
                "length",
                found.length,
                TELLING_LENGTH,
                "Use references about as long as one to three sentences of their articles, or leave this "
                "scenario out.",
            ),
        ):
            shares[f"Told apart by {what} alone, {where}"] = share
            if share > most:
                warnings.append(
                    f"Scenario {where}: {what} alone can tell {share:.0%} of the matching texts from those "
                    f"that do not match, and the model may learn no more than that. {advice}"
                )
    return shares, tuple(warnings)


def _sources(articles: Iterable[Article], split: Split) -> list[Source]:
    """Return the articles of a split that have text and references, each reference once."""
    found = []
    for article in articles:
        first = article.items[0]
        references = dict.fromkeys(each for item in article.items for each in item.references if each.strip())
        if article.split is split and first.article.strip() and references:
            found.append(Source(article.digest, first.article, tuple(references), first.language))
    return found


def _as_json(example: Matching) -> list[object]:
    return [example.scenario, list(example.texts), example.label]
