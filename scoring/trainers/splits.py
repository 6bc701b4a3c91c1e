"""The split of articles into those to learn from, those to validate on, and those never seen."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256
from operator import attrgetter

from annotation.declared.settings import setting
from annotation.texts.text_digests import text_digest
from scoring.texts.near_duplicates import near_duplicates
from scoring.trainers.contract import TrainingItem


class Split(StrEnum):
    """A part of the articles. The names are those of imported files."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"
    """Articles that no training sees."""


@dataclass(frozen=True)
class SplitParams:
    """Settings for splitting articles."""

    validation_share: float = setting(
        0.1,
        label="Validation share",
        help="Share of the articles that choose the best checkpoint.",
        low=0.01,
        high=0.5,
        group="Articles",
        details="Applies unless articles of the split validation are given. More are taken where these lack "
        "an answer that the measure needs.",
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
        help="Seed for choosing the articles of the training share.",
        group="Articles",
    )
    split_seed: int = setting(
        0, label="Split seed", help="Seed for splitting the articles.", group="Articles"
    )


@dataclass(frozen=True, slots=True)
class Article:
    """The items of one text, whatever ids it has, in the order of their own ids."""

    digest: str
    group: str
    """The first digest of the article and its near-duplicates."""
    split: Split
    items: tuple[TrainingItem, ...]


def split_articles(
    items: Iterable[TrainingItem],
    params: SplitParams,
    kinds: Callable[[Article], Collection[str]] = lambda _: (),
    least: int = 1,
) -> list[Article]:
    """Return the articles with their splits, in the order of their digests.

    Near-duplicates and a text under several ids belong to one split, even if they were given several: to the
    one of test, validation and train that comes first. Articles without a given split, and training articles
    where no validation articles are given, are split by a hash of the seed and the first digest of the
    near-duplicates. Training articles beyond `training_share` are left out.

    `kinds` tells what an article's examples are good for, such as an answer. Where chance leaves fewer than
    `least` articles of a kind for training or validation, others move there, in the order of their hashes, if
    the part that they leave keeps enough. Near-duplicates count once and move together. Parts that have
    enough do not change.
    """
    by_digest: dict[str, list[TrainingItem]] = defaultdict(list)
    digests: dict[str, str] = {}
    for item in items:
        if item.article not in digests:
            digests[item.article] = item.article_digest or text_digest(item.article)
        by_digest[digests[item.article]].append(item)
    groups = _groups(by_digest)
    by_group: dict[str, list[TrainingItem]] = defaultdict(list)
    for digest, each in by_digest.items():
        by_group[groups[digest]] += each
    given = {group: _given_split(each) for group, each in by_group.items()}
    has_validation = Split.VALIDATION in given.values()
    splits = {group: _split_of(group, each, has_validation, params) for group, each in given.items()}
    articles = [
        Article(
            digest,
            groups[digest],
            splits[groups[digest]],
            tuple(sorted(by_digest[digest], key=attrgetter("id"))),
        )
        for digest in sorted(by_digest)
    ]
    if not has_validation:
        kinds_of: dict[str, set[str]] = defaultdict(set)
        for article in articles:
            if article.split is not Split.TEST:
                kinds_of[article.group].update(kinds(article))
        free = sorted(kinds_of, key=lambda group: _place("split", params.split_seed, group))
        moved = _with_enough({group: splits[group] for group in free}, kinds_of, least)
        articles = [replace(each, split=moved.get(each.group, each.split)) for each in articles]
    left_out = _beyond_share([each.digest for each in articles if each.split is Split.TRAIN], params)
    return [each for each in articles if each.digest not in left_out]


def near_duplicate_counts(articles: Sequence[Article]) -> dict[str, int]:
    """Return the number of articles that nearly repeat another of them, by its name; empty if none does."""
    sizes = Counter(each.group for each in articles)
    repeating = sum(size for size in sizes.values() if size > 1)
    return {"Near-duplicate articles": repeating} if repeating else {}


def digests_by_split(articles: Sequence[Article]) -> Mapping[str, tuple[str, ...]]:
    """Return "train" and "validation" -> the digests of their articles, sorted."""
    return {
        str(split): tuple(sorted(each.digest for each in articles if each.split is split))
        for split in (Split.TRAIN, Split.VALIDATION)
    }


def _groups(by_digest: Mapping[str, Sequence[TrainingItem]]) -> dict[str, str]:
    """Return digest -> the first digest of the article and its near-duplicates."""
    digests = sorted(by_digest)
    # Texts of one digest may differ in their words. The first of them does not depend on ids.
    texts = tuple(min(item.article for item in by_digest[digest]) for digest in digests)
    return dict(zip(digests, map(digests.__getitem__, _repeated(texts)), strict=True))


# A learning curve splits the same articles for each of its models.
_repeated = lru_cache(maxsize=1)(near_duplicates)


def _given_split(items: Sequence[TrainingItem]) -> Split | None:
    stated = {item.split for item in items}
    return next((split for split in (Split.TEST, Split.VALIDATION, Split.TRAIN) if split in stated), None)


def _with_enough(
    splits: Mapping[str, Split], kinds: Mapping[str, Collection[str]], least: int
) -> dict[str, Split]:
    """Return group -> split, so that both parts have `least` groups of each kind where that is possible.

    `splits` are in the order in which articles go to validation; the rarest kind comes first.
    """
    found = dict(splits)
    have = {
        part: Counter(kind for group, split in splits.items() if split is part for kind in kinds[group])
        for part in (Split.TRAIN, Split.VALIDATION)
    }
    totals = have[Split.TRAIN] + have[Split.VALIDATION]
    order = list(splits)
    for source, target, ordered in (
        (Split.TRAIN, Split.VALIDATION, order),
        (Split.VALIDATION, Split.TRAIN, order[::-1]),
    ):
        for kind in sorted(totals, key=lambda each: (totals[each], each)):
            for group in ordered:
                if have[target][kind] >= least:
                    break
                spares = all(have[source][each] > least for each in kinds[group])
                if found[group] is source and kind in kinds[group] and spares:
                    found[group] = target
                    have[source].subtract(kinds[group])
                    have[target].update(kinds[group])
    return found


def _split_of(group: str, given: Split | None, has_validation: bool, params: SplitParams) -> Split:
    if given in (Split.TEST, Split.VALIDATION):
        return given
    place = _place("split", params.split_seed, group)
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
