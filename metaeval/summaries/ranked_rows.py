"""Rows of the lists of single summaries: texts from the database beside ranks and votes from the snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.actions.rerating import RatedAgain, reratings_of
from annotation.browsing import Filters, find_summaries
from annotation.models import Project, Summary
from metaeval.models import DisagreementTag
from metaeval.snapshot import Snapshot
from metaeval.summaries.ranked_pairs import RankedPairs
from metaeval.summaries.votes import Votes, votes_on


@dataclass(frozen=True)
class RankedRow:
    """One summary; `summary.excerpt` is its beginning."""

    summary: Summary
    votes: Votes
    label: float
    label_rank: float
    score: float
    score_rank: float
    tag: DisagreementTag | None
    """The current one."""
    rerating: RatedAgain | None
    """How far it is, if it was sent to be rated once more."""

    @property
    def is_overrated(self) -> bool:
        """Whether the evaluator ranks it higher than people do."""
        return self.score_rank > self.label_rank


def ranked_rows(
    project: Project, snapshot: Snapshot, pairs: RankedPairs, chosen: Sequence[int], group: str = ""
) -> list[RankedRow]:
    """The rows of the `chosen` places among `pairs`, in that order."""
    places = {place: int(pairs.places[place]) for place in chosen}
    ids = {place: int(snapshot.summary_ids[at]) for place, at in places.items()}
    summaries = find_summaries(project, Filters()).in_bulk(list(ids.values()))
    key = pairs.question.key
    ratings = next(each for each in snapshot.human.questions if each.question.key == key)
    votes = votes_on(snapshot.human, ratings, places.values(), group)
    tags = {
        tag.summary_id: tag
        for tag in DisagreementTag.objects.current()
        .of_pair(int(pairs.evaluator.key), key)
        .filter(summary__in=ids.values())
        .select_related("created_by")
    }
    reratings = reratings_of(list(ids.values()))
    return [
        RankedRow(
            summary=summaries[ids[place]],
            votes=votes[places[place]],
            label=float(pairs.labels[place]),
            label_rank=float(pairs.label_ranks[place]),
            score=float(pairs.scores[place]),
            score_rank=float(pairs.score_ranks[place]),
            tag=tags.get(ids[place]),
            rerating=reratings.get(ids[place]),
        )
        for place in chosen
        if ids[place] in summaries
    ]
