"""The page of disagreements: its list, the counts of tags, and its rows as a file."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Project, Summary
from metaeval.disagreements.disagreements import Disagreements, Side, disagreements
from metaeval.disagreements.pair_choices import ListChoices, Pair, chosen_pair, list_controls, pairs_of
from metaeval.live.choices import Control
from metaeval.models import DisagreementTag
from metaeval.snapshot.snapshot import Snapshot
from metaeval.stats.arrays import Ints
from metaeval.stats.check_choice import check_choice
from scoring.sealed_labels.label_parts import LabelPart

UNTAGGED, TAGGED = "untagged", "tagged"
Verdict = DisagreementTag.Verdict


@dataclass(frozen=True)
class DisagreementChoices(ListChoices):
    side: str = ""
    """One of `Side`; both if empty."""
    tag: str = ""
    """A verdict, `UNTAGGED` or `TAGGED`; all if empty."""
    part: str = ""
    """`LabelPart.TUNING` for versions of judges on the tuning part of the labels."""


@dataclass(frozen=True)
class TagCounts:
    """The tags of all disagreements, on both sides."""

    verdicts: Sequence[tuple[str, int]]
    """Name and number of each verdict."""
    listed: int
    elsewhere: int
    """Tags of summaries that are no disagreements any more, or do not count."""

    @property
    def tagged(self) -> int:
        return sum(times for _, times in self.verdicts)

    @property
    def untagged(self) -> int:
        return self.listed - self.tagged


@dataclass(frozen=True, eq=False)
class DisagreementsPage:
    snapshot: Snapshot
    choices: DisagreementChoices
    pair: Pair
    controls: Sequence[Control]
    found: Disagreements
    seen: dict[str, int]
    """Reason -> articles left out because the evaluator has seen them."""
    tags: dict[int, DisagreementTag]
    """Current tags by summary id."""
    listed: Ints
    """Indices among the pairs, after all filters."""

    def summary_ids(self, places: Ints) -> list[int]:
        """Return the primary keys of the summaries at these indices among the pairs."""
        found: list[int] = self.snapshot.summary_ids[self.found.pairs.places[places]].tolist()
        return found

    @property
    def counts(self) -> TagCounts:
        listed = set(self.summary_ids(self.found.of(None)))
        given = Counter(tag.verdict for summary_id, tag in self.tags.items() if summary_id in listed)
        return TagCounts(
            verdicts=[(str(verdict.label), given[verdict]) for verdict in Verdict if given[verdict]],
            listed=len(listed),
            elsewhere=len(self.tags) - given.total(),
        )


def disagreements_page(
    project: Project, snapshot: Snapshot, choices: DisagreementChoices
) -> DisagreementsPage | None:
    """Return the page for these choices; None if no evaluator scores any question yet.

    Articles that the evaluator has seen are left out. Raises DomainError for a choice that does not exist.
    """
    check_choice("side", choices.side, ("", *Side))
    check_choice("tag", choices.tag, ("", UNTAGGED, TAGGED, *Verdict.values))
    check_choice("part", choices.part, ("", LabelPart.TUNING))
    if choices.part:
        snapshot = snapshot.of_trials
    pair = chosen_pair(snapshot, choices)
    if pair is None:
        return None
    pairs, seen = pairs_of(snapshot, choices, pair)
    found = disagreements(pairs)
    tags = current_tags(project, pair)
    listed = found.of(Side(choices.side) if choices.side else None)
    if choices.tag:
        ids = snapshot.summary_ids[found.pairs.places[listed]].tolist()
        listed = listed[np.array([_is_wanted(tags.get(pk), choices.tag) for pk in ids], dtype=bool)]
    return DisagreementsPage(
        snapshot=snapshot,
        choices=choices,
        pair=pair,
        controls=[*list_controls(snapshot, choices, pair), *_controls(choices)],
        found=found,
        seen=seen,
        tags=tags,
        listed=listed,
    )


def current_tags(project: Project, pair: Pair) -> dict[int, DisagreementTag]:
    """Return the current tags of the pair, by summary id."""
    rows = DisagreementTag.objects.current().of_pair(int(pair.evaluator.key), pair.question.key)
    return {tag.summary_id: tag for tag in rows.filter(summary__project=project).select_related("created_by")}


def _is_wanted(tag: DisagreementTag | None, wanted: str) -> bool:
    if wanted in (TAGGED, UNTAGGED):
        return (tag is not None) == (wanted == TAGGED)
    return tag is not None and tag.verdict == wanted


def _controls(choices: DisagreementChoices) -> list[Control]:
    sides = [("", "both sides"), (Side.HIGH, "↑ scored high"), (Side.LOW, "↓ scored low")]
    verdicts = [(verdict.value, str(verdict.label)) for verdict in Verdict]
    tags = [("", "all"), (UNTAGGED, "untagged"), (TAGGED, "tagged"), *verdicts]
    return [Control("side", "Disagreement", sides, choices.side), Control("tag", "Tag", tags, choices.tag)]


def disagreement_rows(project: Project, page: DisagreementsPage) -> Iterator[dict[str, object]]:
    """Yield the whole list as rows of a file."""
    names = {
        pk: names
        for pk, *names in Summary.objects.filter(project=project).values_list(
            "pk", "article__external_id", "system__name", "article__language"
        )
    }
    pairs = page.found.pairs
    for place, summary_id in zip(page.listed.tolist(), page.summary_ids(page.listed), strict=True):
        article, system, language = names[summary_id]
        tag = page.tags.get(summary_id)
        yield {
            "summary": summary_id,
            "article": article,
            "system": system,
            "language": language,
            "question": page.pair.question.key,
            "evaluator": page.pair.evaluator.label,
            "fingerprint": page.pair.evaluator.fingerprint,
            "side": str(page.found.side(place)),
            "label": float(pairs.labels[place]),
            "score": float(pairs.scores[place]),
            "label_percentile": float(pairs.label_ranks[place]),
            "score_percentile": float(pairs.score_ranks[place]),
            "tag": tag.verdict if tag else "",
            "note": tag.note if tag else "",
            "tagged_by": tag.created_by.get_username() if tag and tag.created_by else "",
            "tagged_at": tag.created_at.isoformat() if tag else "",
        }
