"""The articles that an evaluator has learnt from: the evaluator's side of the contamination guard."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from annotation.texts.text_digests import sha256_of, text_digest
from scoring.contract.items import Item, PoolExample

EVERY_DIMENSION = ""
"""Instead of a dimension's name: whatever the labels are about, as where the text itself was learnt."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The articles that a fitted evaluator has learnt from, by the dimension of the labels it has seen.

    Comparisons with labels of that dimension leave out their summaries.
    """

    article_ids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Dimension or EVERY_DIMENSION -> ids of articles, at least one."""
    text_digests: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The same -> digests of articles' texts (`text_digest`), which find an article under another id."""
    near: Container[str] = ()
    """Texts of articles that nearly repeat one whose text was learnt."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """Digest -> how the text was used, where a model card says so, such as "validation"."""
    example_ids: tuple[str, ...] = ()
    digest: str = ""
    """SHA-256 of the examples' texts and labels; empty when nothing was seen."""

    @classmethod
    def of(
        cls, examples: Iterable[PoolExample], learnt: Mapping[str, Sequence[PoolExample]] | None = None
    ) -> Self:
        """Return what these examples teach; their order and repetition do not matter.

        `learnt` gives those of each dimension; without it, every label was learnt from.
        """
        unique = sorted({example.id: example for example in examples}.values(), key=lambda each: each.id)
        content = [
            [each.id, each.article_id, each.article, each.summary, each.references, dict(each.labels)]
            for each in unique
        ]
        digests = {each.id: digest_of_article(each) for each in unique}
        taught = (
            [(name, each) for each in unique for name in each.labels]
            if learnt is None
            else [(name, each) for name, several in learnt.items() for each in several]
        )
        return cls(
            article_ids=by_dimension((name, each.article_id) for name, each in taught),
            text_digests=by_dimension((name, digests[each.id]) for name, each in taught if digests[each.id]),
            example_ids=tuple(each.id for each in unique),
            digest=sha256_of(content),
        )

    @classmethod
    def by_any(cls, several: Sequence["Seen"]) -> Self:
        """Return the articles that any of these has seen."""
        ids = [(name, each) for seen in several for name, those in seen.article_ids.items() for each in those]
        texts = [
            (name, each) for seen in several for name, those in seen.text_digests.items() for each in those
        ]
        return cls(by_dimension(ids), by_dimension(texts))

    @property
    def all_article_ids(self) -> frozenset[str]:
        """Ids of the articles seen in any dimension."""
        return frozenset[str]().union(*self.article_ids.values())

    @property
    def all_text_digests(self) -> frozenset[str]:
        return frozenset[str]().union(*self.text_digests.values())

    def dimensions_of(self, text: Item | PoolExample, dimensions: Collection[str]) -> frozenset[str]:
        """Return the dimensions among `dimensions` in which the text's article was seen.

        It is found under this id or another, and where its text was learnt also as a near-duplicate, unless
        the text is missing here.
        """
        digest = digest_of_article(text) if self.text_digests else ""

        def is_in(dimension: str) -> bool:
            return text.article_id in self.article_ids.get(dimension, ()) or digest in self.text_digests.get(
                dimension, ()
            )

        if is_in(EVERY_DIMENSION) or (text.article and text.article in self.near):
            return frozenset(dimensions)
        return frozenset(filter(is_in, dimensions))

    def cannot_be_checked(self, item: Item) -> str | None:
        """Return what the item lacks to tell whether its article was seen, or None."""
        if self.article_ids and item.article_id is None:
            return "article_id is missing, so it cannot be checked against the labelled pool"
        if self.text_digests and not self.article_ids and not digest_of_article(item):
            return "the article's text is missing, so it cannot be checked against the training data"
        return None


def digest_of_article(text: Item | PoolExample) -> str:
    """Return the `text_digest` of the text's article; empty if it is not known."""
    return text.article_digest or text_digest(text.article or "")


def by_dimension(pairs: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return dimension -> the ids or digests that are paired with it."""
    found: dict[str, set[str]] = defaultdict(set)
    for dimension, name in pairs:
        found[dimension].add(name)
    return {dimension: frozenset(names) for dimension, names in found.items()}
