"""Texts that match or do not, made from articles and their references without any rating."""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from annotation.texts.text_digests import text_digest
from scoring.texts.near_duplicates import near_duplicates
from scoring.texts.sentences import sentences
from scoring.texts.tokens import unicode_words

LEAD = 3
"""First sentences of an article that can stand for a good summary."""
SIMILAR = 10
"""Similar articles whose references may be used, the most similar first."""


@dataclass(frozen=True, slots=True)
class Source:
    """An article with its references, at least one."""

    digest: str
    """The article's text digest."""
    article: str
    references: tuple[str, ...]
    language: str | None = None

    def summaries(self, fewest: int = 1) -> list[tuple[str, ...]]:
        """Return the references with words and so many sentences or more, as their sentences."""
        told = (sentences(each, self.language) for each in self.references if unicode_words(each))
        return [each for each in told if len(each) >= fewest]


@dataclass(frozen=True, slots=True)
class Matching:
    """A summary and the texts with which it is read; `label` is 1 if it matches them, else 0."""

    scenario: str
    texts: tuple[str, ...]
    """The summary, then the article, the reference or both, in this order."""
    label: int
    article: str
    """Text digest of the article from which it is made."""


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """Shares of pairs of a match and its mismatch that a plain property alone tells apart; a tie is half.

    From such pairs a network may learn the property instead of what the texts say.
    """

    words: float
    """The match shares more words with the other texts, in [0, 1]."""
    length: float
    """The match is the longer one, or the shorter one if that is more frequent, in [.5, 1]."""


def fewest_sentences(scenario: str) -> int:
    """Return the fewest sentences of a reference that a scenario takes.

    In summary matching a mismatch with a right sentence would otherwise keep nothing foreign.
    """
    return 1 if scenario == "sum_doc" else 2


def matchings(
    sources: Sequence[Source], scenarios: Sequence[str], negatives: int, seed: int, *, as_long: bool = True
) -> list[Matching]:
    """Return as many examples as can be made for each scenario: a matching one, then `negatives` others.

    Summary matching (sum_ref): an article's first three sentences match its reference; if `as_long`, only so
    many of them that they come nearest in words to the first mismatch. A similar article's reference does
    not match, although one of its sentences is replaced by one of the three. References of one sentence are
    left out. Document matching (sum_doc): a reference matches its article, and does not when
    one of its sentences is replaced by one of a similar article's reference. In sum_doc_ref the summaries of
    summary matching are read with article and reference. BM25 finds the articles similar to an article; its
    near-duplicates are none of them. Where fewer than `negatives` of the first ten have a suitable reference,
    there is no example. The same sources and seed give the same examples.

    Source: Gao et al. 2023, section 3.2, with `as_long` false. The texts for sum_doc_ref are ours, as the
    paper names none.
    """
    told = [each for each in sources if unicode_words(each.article) and each.summaries()]
    found: dict[str, list[Matching]] = {scenario: [] for scenario in scenarios}
    for source, similar in _with_similar(told):
        for scenario, examples in found.items():
            random = Random(f"{seed} {scenario} {source.digest}")
            for match, beside, mismatches in _candidates(scenario, source, similar, random, as_long):
                if len(mismatches) >= negatives:
                    examples += [
                        Matching(scenario, (text, *beside), label, source.digest)
                        for text, label in ((match, 1), *((each, 0) for each in mismatches[:negatives]))
                    ]
    return [each for examples in found.values() for each in examples]


def shortcuts(examples: Sequence[Matching]) -> Shortcuts:
    """Return how well words and length alone tell the matches from the mismatches after each of them."""
    more_words, longer, pairs = 0.0, 0.0, 0
    match = None
    for example in examples:
        if example.label:
            match = example
        elif match is not None:
            more_words += _is_greater(_shared_words(match), _shared_words(example))
            longer += _is_greater(*(len(unicode_words(each.texts[0])) for each in (match, example)))
            pairs += 1
    return Shortcuts(more_words / pairs, max(longer, pairs - longer) / pairs)


def _with_similar(sources: Sequence[Source]) -> Iterator[tuple[Source, list[Source]]]:
    """Yield each source, and others with articles similar to its own, the most similar first.

    Near-duplicates of its article are not among them, because their references match it, too.
    """
    import bm25s

    logging.getLogger(bm25s.__name__).setLevel(logging.WARNING)  # it logs each step by default
    if len(sources) < 2:
        return
    words = [unicode_words(each.article) for each in sources]
    index = bm25s.BM25()
    index.index(words, show_progress=False)
    queries = [sorted(set(each)) for each in words]
    groups = near_duplicates([each.article for each in sources])
    # A source's near-duplicates, and itself, are found first, and have to leave enough others.
    most = SIMILAR + max(Counter(groups).values())
    # By default the library takes JAX where it is installed, which claims most of a GPU's memory.
    places, _ = index.retrieve(
        queries, k=min(len(sources), most), show_progress=False, backend_selection="numpy"
    )
    for place, row in enumerate(places.tolist()):
        others = [sources[other] for other in row if groups[other] != groups[place]]
        yield sources[place], others[:SIMILAR]


def _candidates(
    scenario: str, source: Source, similar: Sequence[Source], random: Random, as_long: bool
) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
    """Yield summaries that match, the texts that they match, and summaries that do not match these."""
    if scenario == "sum_doc":
        for summary in source.summaries():
            changed = [_changed(summary, random.choice(each.summaries()), random) for each in similar]
            yield " ".join(summary), (source.article,), [each for each in changed if each]
        return
    lead, fewest = sentences(source.article, source.language)[:LEAD], fewest_sentences(scenario)
    suitable = [random.choice(found) for each in similar if (found := each.summaries(fewest))]
    changed = [each for summary in suitable if (each := _changed(summary, lead, random))]
    match = _lead_as_long_as(changed[0], lead) if as_long and changed else " ".join(lead)
    mismatches = [each for each in changed if text_digest(each) != text_digest(match)]
    for reference in source.references:
        if len(sentences(reference, source.language)) >= fewest and unicode_words(reference):
            beside = (reference,) if scenario == "sum_ref" else (source.article, reference)
            yield match, beside, mismatches


def _lead_as_long_as(text: str, lead: Sequence[str]) -> str:
    """Return as many of the first sentences, with words, as come nearest to the text in words."""
    words = len(unicode_words(text))
    leads = (" ".join(lead[: count + 1]) for count in range(len(lead)))
    return min(filter(unicode_words, leads), key=lambda each: abs(len(unicode_words(each)) - words))


def _changed(summary: Sequence[str], other: Sequence[str], random: Random) -> str:
    """Return the summary with one sentence of the other that it lacks in place of one of its own.

    Empty if it lacks none.
    """
    own = set(map(text_digest, summary))
    foreign = [each for each in other if unicode_words(each) and text_digest(each) not in own]
    if not foreign:
        return ""
    place = random.randrange(len(summary))
    return " ".join((*summary[:place], random.choice(foreign), *summary[place + 1 :]))


def _shared_words(example: Matching) -> float:
    """Return the F1 of the distinct words of the summary and those of the other texts, in [0, 1]."""
    own, others = (set(unicode_words(each)) for each in (example.texts[0], " ".join(example.texts[1:])))
    return 2 * len(own & others) / (len(own) + len(others)) if own or others else 0.0


def _is_greater(one: float, other: float) -> float:
    return 0.5 if one == other else float(one > other)
