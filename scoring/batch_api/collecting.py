"""Collecting a run's requests: those of its unfinished batches without a stored reply."""

from collections.abc import Iterator, Sequence

from annotation.database.portions import portions
from scoring.contract.requests import Request
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.inputs.items import CHUNK, items_of
from scoring.llm.batch_api import BatchFiles
from scoring.models import ApiBatch, Run
from scoring.replies.stored_replies import stored

MOST_REQUESTS, MOST_BYTES = 20_000, 50_000_000
"""Limits of a lot, below those of endpoints, so that it fits in a worker's memory with its replies."""


Lot = tuple[list[int], list[str]]
"""Ids of summaries, and the digests of the requests about them to submit together."""


def lots_of(run: Run, evaluator: AskingEvaluator, files: BatchFiles) -> Iterator[Lot]:
    """Yield all requests to submit, each once, in lots."""
    lot: Lot = ([], [])
    lot_bytes, taken = 0, set[str]()
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
        if lot[1] and (len(lot[1]) + len(missing) > MOST_REQUESTS or lot_bytes + size > MOST_BYTES):
            yield lot
            lot, lot_bytes = ([], []), 0
        lot[0].extend(batch.summary_ids)
        lot[1].extend(missing)
        lot_bytes += size
        taken |= missing.keys()
    if lot[1]:
        yield lot


def requests_in(api_batch: ApiBatch, evaluator: AskingEvaluator, files: BatchFiles) -> dict[str, Request]:
    """Return the batch's requests by digest, without those whose texts changed since collection."""
    wanted = set(api_batch.requests)
    found: dict[str, Request] = {}
    for summary_ids in portions(api_batch.summary_ids, CHUNK):
        asked = requests_of(evaluator, files, summary_ids)
        found |= {digest: request for digest, request in asked.items() if digest in wanted}
    return found


def requests_of(
    evaluator: AskingEvaluator, files: BatchFiles, summary_ids: Sequence[int]
) -> dict[str, Request]:
    """Return the requests needed to score these summaries, by digest."""
    items = items_of(summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
    return {
        request.digest(files.address): request
        for item in items.values()
        if evaluator.is_asked_about(item)
        for request in evaluator.requests(item)
    }
