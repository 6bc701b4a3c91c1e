"""The split of articles into those to learn from, those to validate on, and those never seen."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from operator import attrgetter

from annotation.declared.settings import setting
from annotation.texts.text_digests import text_digest
from scoring.trainers.contract import TrainingItem


class Split(StrEnum):
    """A part of the articles. The names are those of imported files."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    """Never seen by a training."""


@dataclass(frozen=True)
class SplitParams:
    """How articles are split."""

    validation_share: float = setting(
        0.1,
        label="Validation share",
        help="Share of the articles that choose the best checkpoint.",
        low=0.01,
        high=0.5,
        group="Articles",
        details="Applies unless articles of the split validation are given.",
    )
    test_share: float = setting(
        0.2,
        label="Test share",
        help="Share of the articles that are never seen.",
        low=0.0,
        high=0.9,
        group="Articles",
        details="Applies to articles without a given split. Those of the split test are never seen anyway.",
    )
    training_share: float = setting(
        1.0,
        label="Training share",
        help="Share of the training articles to learn from.",
        low=0.001,
        high=1.0,
        group="Articles",
        details="A smaller share is a part of each larger one with the same split seed and share seed.",
    )
    share_seed: int = setting(
        0,
        label="Share seed",
        help="Another number takes other articles into the training share.",
        group="Articles",
    )
    split_seed: int = setting(
        0, label="Split seed", help="Another number splits the articles differently.", group="Articles"
    )


@dataclass(frozen=True, slots=True)
class Article:
    """The items of one text, whatever ids it has, in the order of their own ids."""

    digest: str
    split: Split
    items: tuple[TrainingItem, ...]


def split_articles(items: Iterable[TrainingItem], params: SplitParams) -> list[Article]:
    """Return the articles with their splits, in the order of their digests.

    A text belongs to one split even if its ids are in several: to the one of test, validation and train that
    comes first. Articles without a given split, and training articles where no validation articles are given,
    are split by a hash of the seed and the text. Training articles beyond `training_share` are left out.
    """
    by_digest: dict[str, list[TrainingItem]] = defaultdict(list)
    digests: dict[str, str] = {}
    for item in items:
        if item.article not in digests:
            digests[item.article] = item.article_digest or text_digest(item.article)
        by_digest[digests[item.article]].append(item)
    given = {digest: _given_split(each) for digest, each in by_digest.items()}
    has_validation = Split.VALIDATION in given.values()
    splits = {
        digest: _split_of(digest, given[digest], has_validation, params) for digest in sorted(by_digest)
    }
    left_out = _beyond_share([each for each, split in splits.items() if split is Split.TRAIN], params)
    return [
        Article(digest, split, tuple(sorted(by_digest[digest], key=attrgetter("id"))))
        for digest, split in splits.items()
        if digest not in left_out
    ]


def digests_by_split(articles: Sequence[Article]) -> Mapping[str, tuple[str, ...]]:
    """Return "train" and "validation" -> the digests of their articles, sorted."""
    return {
        str(split): tuple(sorted(each.digest for each in articles if each.split is split))
        for split in (Split.TRAIN, Split.VALIDATION)
    }


def _given_split(items: Sequence[TrainingItem]) -> Split | None:
    stated = {item.split for item in items}
    return next((split for split in (Split.TEST, Split.VALIDATION, Split.TRAIN) if split in stated), None)


def _split_of(digest: str, given: Split | None, has_validation: bool, params: SplitParams) -> Split:
    if given in (Split.TEST, Split.VALIDATION):
        return given
    place = _place("split", params.split_seed, digest)
    if given is None:
        if place < params.test_share:
            return Split.TEST
        place = (place - params.test_share) / (1 - params.test_share)
    return Split.VALIDATION if not has_validation and place < params.validation_share else Split.TRAIN


def _beyond_share(training: Sequence[str], params: SplitParams) -> frozenset[str]:
    """Return the training articles (digests) beyond the training share, by an order that the seeds give."""
    purpose = f"training share {params.share_seed}"
    ordered = sorted(training, key=lambda digest: _place(purpose, params.split_seed, digest))
    return frozenset(ordered[max(1, round(params.training_share * len(ordered))) :])


def _place(purpose: str, seed: int, digest: str) -> float:
    """Return a number from 0 to below 1, independent of other articles and purposes."""
    hashed = sha256(f"{purpose}\x1f{seed}\x1f{digest}".encode()).digest()
    return int.from_bytes(hashed[:8], "big") / 2**64
