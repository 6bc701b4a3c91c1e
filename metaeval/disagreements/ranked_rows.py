"""Rows of lists of summaries: texts and tags from the database, ranks and votes from the snapshot."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.models import Project, Summary
from annotation.rating.rerating import ReratingState, reratings_of
from annotation.summaries.find_summaries import find_summaries
from metaeval.disagreements.ranked_pairs import RankedPairs
from metaeval.disagreements.votes import Votes, votes_on
from metaeval.models import DisagreementTag
from metaeval.snapshot.snapshot import Snapshot


@dataclass(frozen=True)
class RankedRow:
    """A summary in a list; `summary.excerpt` is the start of its text."""

    summary: Summary
    votes: Votes
    label: float
    label_rank: float
    score: float
    score_rank: float
    tag: DisagreementTag | None
    rerating: ReratingState | None
    """Its state, if another rating was requested."""

    @property
    def is_overrated(self) -> bool:
        """Return whether the evaluator ranks the summary higher than people do."""
        return self.score_rank > self.label_rank


def ranked_rows(
    project: Project, snapshot: Snapshot, pairs: RankedPairs, chosen: Sequence[int], group: str = ""
) -> list[RankedRow]:
    """Return the rows of these indices among `pairs`, in their order."""
    places = {place: int(pairs.places[place]) for place in chosen}
    ids = {place: int(snapshot.summary_ids[at]) for place, at in places.items()}
    summaries = find_summaries(project).in_bulk(list(ids.values()))
    key = pairs.question.key
    votes = votes_on(snapshot.human, snapshot.human.on(key), places.values(), group)
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
