"""Scoring a file of examples, without database or broker."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.asking.kept_replies import KeptReplies
from scoring.asking.request import Answering
from scoring.asking_evaluator import AskingEvaluator
from scoring.contract import (
    Evaluator,
    EvaluatorError,
    Item,
    Member,
    Need,
    PoolExample,
    Scored,
    foreseen_problem,
    score_unseen,
)
from scoring.evaluators import load_evaluator
from scoring.examples import Example, read_examples, write_scores
from scoring.fingerprints import fingerprint, signature
from scoring.params import declared_params, read_params

RETRY_DELAYS_S = (1.0, 4.0, 16.0)
FAILURES_IN_A_ROW = 3
"""Batches that fail one after the other before the rest is not tried any more."""


@dataclass(frozen=True)
class FileScores:
    """What `score_file` did. `reasons` counts, per reason, the summaries it left without some score."""

    signature: str
    fingerprint: str
    dimensions: tuple[str, ...]
    total: int
    scored: int
    """Summaries with a score on every dimension."""
    reasons: Mapping[str, int]
    cut: int
    """Summaries judged without the end of some text, which a model's limit cut."""
    failed: bool
    """Whether an EvaluatorError left summaries without scores: the run should be repeated."""


def labelled_pool(examples: Sequence[Example], label_scale: tuple[float, float]) -> list[PoolExample]:
    """The labelled examples of the split `train`, or all labelled ones where the file has no such split.

    Labels are brought from `label_scale` (lowest, highest) to [0, 1]. Raises ValueError for a label outside
    of it and for a labelled example of which neither article_id nor article is known.
    """
    low, high = label_scale
    if not low < high:
        raise ValueError(f"label scale: found {low} to {high}, expected the lowest before the highest label")
    labelled = [each for each in examples if each.labels]
    if any(each.split == "train" for each in labelled):
        labelled = [each for each in labelled if each.split == "train"]
    pool = []
    for each in labelled:
        item = each.item
        if item.article_id is None:
            raise ValueError(
                f"example {item.id!r}: found neither article_id nor article, expected one for the pool"
            )
        for dimension, label in each.labels.items():
            if not low <= label <= high:
                raise ValueError(
                    f"example {item.id!r}, label {dimension!r}: found {label:g}, expected a number on the "
                    f"label scale, {low:g} to {high:g}; say so if the scale is another one"
                )
        labels = {dimension: (label - low) / (high - low) for dimension, label in each.labels.items()}
        pool.append(
            PoolExample(
                item.id, item.article_id, item.summary, labels, item.article, item.references, item.scores
            )
        )
    return pool


def members_in(examples: Sequence[Example], params: Any) -> list[Member]:
    """The evaluators that `params` name, with their scores from the examples' field `scores`.

    Raises ValueError for one of which there is no score.
    """
    dimensions: dict[str, set[str]] = {}
    for each in examples:
        for name, scores in each.item.scores.items():
            dimensions.setdefault(name, set()).update(scores)
    members = []
    for spec in declared_params(type(params)):
        value = getattr(params, spec.name)
        for name in dict.fromkeys((value,) if isinstance(value, str) else value) if spec.is_setup else ():
            if not dimensions.get(name):
                there = ", ".join(sorted(dimensions)) or "no scores at all"
                raise ValueError(
                    f"parameter {spec.name!r}: found {name!r}, expected an evaluator with scores in the "
                    f"examples' field scores ({{evaluator: {{dimension: number}}}}); there are {there}"
                )
            members.append(Member(name, name, tuple(sorted(dimensions[name]))))
    return members


def score_file(
    evaluator_name: str,
    settings: Mapping[str, Any],
    input_path: Path | str,
    output_path: Path | str,
    *,
    label_scale: tuple[float, float] = (0.0, 1.0),
    announce: Callable[[Mapping[str, int]], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
    retry_delays_s: Sequence[float] = RETRY_DELAYS_S,
) -> FileScores:
    """Score an examples file into a scores file, one line per example, in their order.

    `settings` are the evaluator's parameters as strings or JSON values. `announce` is told, before any is
    scored, how many summaries will stay without a score on some dimension and why; `progress(done, total)`
    follows each batch. Where the evaluator needs labels, those in the file serve (see `labelled_pool`), and
    summaries of articles it has learnt from are left unscored, with the reason.

    An outage is waited out for `retry_delays_s`; summaries that stay unscored get its message as reason.
    Raises UnknownEvaluator, ValueError (parameters, labels, FaultyFile), OSError, and EvaluatorError where
    the evaluator cannot work at all; then nothing is written.
    """
    if not Path(output_path).parent.is_dir():
        raise FileNotFoundError(f"no folder {Path(output_path).parent} to write {Path(output_path).name} in")
    evaluator, items = prepared(evaluator_name, settings, input_path, label_scale)
    if announce:
        problems = [foreseen_problem(evaluator, item) for item in items]
        announce(Counter(problem for problem in problems if problem))
    scored: list[Scored] = []
    failed = False
    for batch, error in _batches(evaluator, items, retry_delays_s):
        scored += batch
        failed = failed or error
        if progress:
            progress(len(scored), len(items))
    write_scores(output_path, ((item.id, each) for item, each in zip(items, scored, strict=True)))
    return FileScores(
        signature=signature(evaluator),
        fingerprint=fingerprint(evaluator),
        dimensions=evaluator.dimensions,
        total=len(items),
        scored=sum(not each.reasons for each in scored),
        reasons=Counter(reason for each in scored for reason in set(each.reasons.values())),
        cut=sum(bool(each.shares_read) for each in scored),
        failed=failed,
    )


def prepared(
    evaluator_name: str, settings: Mapping[str, Any], input_path: Path | str, label_scale: tuple[float, float]
) -> tuple[Evaluator, list[Item]]:
    """The evaluator, fitted to the file's labels where it needs any, and all items of the file.

    Raises as `score_file` does.
    """
    evaluator_class = load_evaluator(evaluator_name)
    params = read_params(evaluator_class, settings)
    examples = read_examples(input_path)
    evaluator = evaluator_class(params)
    if Need.SCORES in evaluator_class.needs_for(params):
        evaluator.appoint(members_in(examples, params))
    if Need.LABELLED_POOL in evaluator_class.needs_for(params):
        evaluator.fit(labelled_pool(examples, label_scale))
    items = [each.item for each in examples]
    if Need.CORPUS in evaluator_class.needs_for(params):
        evaluator.survey(items)
    return evaluator, items


def _batches(
    evaluator: Evaluator, items: Sequence[Item], retry_delays_s: Sequence[float]
) -> Iterator[tuple[list[Scored], bool]]:
    """Results in order, and whether the evaluator failed on them. Gives up where going on makes no sense."""
    failures, succeeded = 0, False
    given_up: EvaluatorError | None = None
    for start in range(0, len(items), evaluator.batch_size):
        batch = items[start : start + evaluator.batch_size]
        error = given_up
        _keep_replies(evaluator)
        if error is None:
            try:
                scored = _score_patiently(evaluator, batch, retry_delays_s)
            except EvaluatorError as caught:
                error = caught
        if error is None:
            failures, succeeded = 0, True
            yield scored, False
            continue
        failures += 1
        if error.permanent or failures == FAILURES_IN_A_ROW:
            if not succeeded and not _has_replies(evaluator):
                raise error
            given_up = error
        yield list(_what_came(evaluator, batch, str(error))), True


def _keep_replies(evaluator: Evaluator) -> None:
    """From now on the evaluator's model is asked only for what has not come before."""
    if isinstance(evaluator, AskingEvaluator):
        model = evaluator.model_itself()
        evaluator.asking = KeptReplies(model) if isinstance(model, Answering) else None


def _has_replies(evaluator: Evaluator) -> bool:
    kept = evaluator.asking if isinstance(evaluator, AskingEvaluator) else None
    return isinstance(kept, KeptReplies) and bool(kept.kept)


def _what_came(evaluator: Evaluator, batch: Sequence[Item], reason: str) -> Iterator[Scored]:
    """Scores of the items whose replies have come before the failure; the others have the reason."""
    kept = evaluator.asking if isinstance(evaluator, AskingEvaluator) else None
    for item in batch:
        scored = Scored.unscored(evaluator.dimensions, reason)
        if isinstance(kept, KeptReplies):
            kept.model = None
            with suppress(EvaluatorError):
                [scored] = score_unseen(evaluator, [item])
        yield scored


def _score_patiently(
    evaluator: Evaluator, batch: Sequence[Item], retry_delays_s: Sequence[float]
) -> list[Scored]:
    for delay_s in retry_delays_s:
        try:
            return score_unseen(evaluator, batch)
        except EvaluatorError as error:
            if error.permanent:
                raise
            time.sleep(delay_s)
    return score_unseen(evaluator, batch)
