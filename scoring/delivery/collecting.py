"""What a run is to ask: the requests of its unfinished batches that no stored reply answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from scoring.asking.batch_files import BatchFiles
from scoring.asking.request import Request
from scoring.asking_evaluator import AskingEvaluator
from scoring.endpoints.stored_replies import stored
from scoring.items import CHUNK, items_of
from scoring.models import HandIn, Run

MOST_REQUESTS, MOST_BYTES = 20_000, 50_000_000
"""Of one lot: less than endpoints take, so that a worker can hold it in memory with its replies."""


@dataclass
class Lot:
    """Requests to be handed in together, by the summaries that they are for."""

    summary_ids: list[int] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    bytes: int = 0

    def has_room_for(self, requests: int, size: int) -> bool:
        return not self.digests or (
            len(self.digests) + requests <= MOST_REQUESTS and self.bytes + size <= MOST_BYTES
        )


def lots_of(run: Run, evaluator: AskingEvaluator, files: BatchFiles) -> Iterator[Lot]:
    """All that is to be asked, each request once."""
    lot, taken = Lot(), set[str]()
    for batch in run.batches.unfinished().order_by("number"):
        asked = requests_of(evaluator, files, batch.summary_ids)
        there = stored(run.setup.project_id, asked, run.pk)
        missing = {
            digest: request
            for digest, request in asked.items()
            if digest not in there and digest not in taken
        }
        if not missing:
            continue
        size = len(files.lines(missing))
        if not lot.has_room_for(len(missing), size):
            yield lot
            lot = Lot()
        lot.summary_ids += batch.summary_ids
        lot.digests += missing
        lot.bytes += size
        taken |= missing.keys()
    if lot.digests:
        yield lot


def requests_in(hand_in: HandIn, evaluator: AskingEvaluator, files: BatchFiles) -> dict[str, Request]:
    """Digest -> request, of those whose texts are still what they were when they were collected."""
    wanted = set(hand_in.requests)
    found: dict[str, Request] = {}
    for start in range(0, len(hand_in.summary_ids), CHUNK):
        asked = requests_of(evaluator, files, hand_in.summary_ids[start : start + CHUNK])
        found |= {digest: request for digest, request in asked.items() if digest in wanted}
    return found


def requests_of(
    evaluator: AskingEvaluator, files: BatchFiles, summary_ids: Sequence[int]
) -> dict[str, Request]:
    """Digest -> request, of all that scoring these summaries asks."""
    items = items_of(summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
    return {
        request.digest(files.address): request
        for item in items.values()
        if evaluator.is_asked_about(item)
        for request in evaluator.requests(item)
    }
