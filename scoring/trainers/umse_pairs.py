"""Texts that match or do not, made from articles and their references without any rating."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from annotation.texts.text_digests import text_digest
from scoring.texts.sentences import sentences
from scoring.texts.tokens import unicode_words

LEAD = 3
"""Sentences of an article that stand for a good summary."""
SIMILAR = 10
"""Similar summaries from which a foreign sentence may come, the most similar first."""


@dataclass(frozen=True, slots=True)
class Source:
    """An article with its references, at least one."""

    digest: str
    """The article's text digest."""
    article: str
    references: tuple[str, ...]
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Matching:
    """A summary and the texts with which it is read; `label` is 1 if it matches them, else 0."""

    scenario: str
    texts: tuple[str, ...]
    """The summary, then the article, the reference or both, in this order."""
    label: int


def matchings(
    sources: Sequence[Source], scenarios: Sequence[str], negatives: int, seed: int
) -> list[Matching]:
    """Return as many examples as can be made for each scenario: a matching one, then `negatives` others.

    In sum_ref the article's first three sentences match a reference (summary matching); in sum_doc a
    reference matches its article (document matching); in sum_doc_ref the first three sentences match both.
    An example that does not match has one sentence of its summary, at a random place, replaced by one of a
    similar summary of another article, found by BM25. A summary with fewer than `negatives` such similar
    ones gives no example. The same sources and seed give the same examples.

    Source: Gao et al. 2023, section 3; that of sum_doc_ref is ours, as their code has none.
    """
    found: list[Matching] = []
    for scenario in scenarios:
        summaries = [
            _Summary(source, sentences(text, source.language))
            for source in sources
            for text in (source.references if scenario == "sum_doc" else [_lead(source)])
        ]
        for summary, similar in _with_similar(summaries):
            random = Random(f"{seed} {scenario} {summary.source.digest} {text_digest(summary.text)}")
            changed = [_swapped(summary, other, random) for other in similar[:negatives]]
            if len(changed) == negatives:
                for beside in _beside(scenario, summary.source):
                    found.append(Matching(scenario, (summary.text, *beside), 1))
                    found += [Matching(scenario, (each, *beside), 0) for each in changed]
    return found


def _lead(source: Source) -> str:
    return " ".join(sentences(source.article, source.language)[:LEAD])


def _beside(scenario: str, source: Source) -> Iterator[tuple[str, ...]]:
    """Yield the texts with which a summary of the source is read."""
    if scenario == "sum_doc":
        yield (source.article,)
        return
    for reference in source.references:
        yield (reference,) if scenario == "sum_ref" else (source.article, reference)


@dataclass(frozen=True, slots=True)
class _Summary:
    source: Source
    sentences: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def words(self) -> list[str]:
        return unicode_words(self.text)

    def foreign(self, other: "_Summary") -> list[str]:
        """Return the sentences with words of another summary that this one lacks."""
        own = set(map(text_digest, self.sentences))
        return [each for each in other.sentences if unicode_words(each) and text_digest(each) not in own]


def _with_similar(summaries: Sequence[_Summary]) -> Iterator[tuple[_Summary, list[_Summary]]]:
    """Yield each summary with words, and those similar to it of other articles with a sentence it lacks."""
    import bm25s

    told = [each for each in summaries if each.words]
    if not told:
        return
    words = [each.words for each in told]
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    own = max(len(each.source.references) for each in told)
    places, _ = index.retrieve(words, k=min(len(words), SIMILAR + own), show_progress=False)
    for summary, row in zip(told, places.tolist(), strict=True):
        similar = [told[place] for place in row]
        others = [each for each in similar if each.source.digest != summary.source.digest]
        yield summary, [each for each in others[:SIMILAR] if summary.foreign(each)]


def _swapped(summary: _Summary, other: _Summary, random: Random) -> str:
    """Return the summary with one sentence of the other."""
    changed = list(summary.sentences)
    changed[random.randrange(len(changed))] = random.choice(summary.foreign(other))
    return " ".join(changed)
