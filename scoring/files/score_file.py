"""Scoring of a file of examples, without database or broker."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.declared.settings import settings_of
from scoring.contract.evaluator import Evaluator, EvaluatorError, Member, Need, foreseen_problem, score_unseen
from scoring.contract.fingerprints import fingerprint, signature
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import joined, read_params
from scoring.contract.requests import Answering
from scoring.contract.scores import Scored
from scoring.evaluators import load_evaluator
from scoring.evaluators.bases.asking_evaluator import AskingEvaluator
from scoring.files.examples import Example, read_examples, unit_labels, write_scores
from scoring.llm.reply_cache import KeptReplies

RETRY_DELAYS_S = (1.0, 4.0, 16.0)
FAILURES_IN_A_ROW = 3
"""Consecutive failed batches after which the rest is not tried."""


@dataclass(frozen=True)
class FileScores:
    """The result of `score_file`. `reasons` counts the summaries without some score, by reason."""

    label: str
    signature: str
    fingerprint: str
    total: int
    scored: int
    """Summaries with a score on every dimension."""
    reasons: Mapping[str, int]
    cut: int
    """Summaries scored with a text that a model's limit cut."""


def labelled_pool(examples: Sequence[Example], label_scale: tuple[float, float]) -> list[PoolExample]:
    """Return the labelled examples of the split `train`, or of the whole file without such a split.

    Labels are scaled from `label_scale` (lowest, highest) to [0, 1]. Raises ValueError for a label outside of
    it, and for a labelled example without article_id and article.
    """
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
        pool.append(
            PoolExample(
                item.id,
                item.article_id,
                item.summary,
                unit_labels(each, label_scale),
                item.article,
                item.references,
                item.scores,
            )
        )
    return pool


def members_in(examples: Sequence[Example], params: Any) -> list[Member]:
    """Return the evaluators that `params` name, with their scores from the examples' field `scores`.

    Raises ValueError for an evaluator without scores.
    """
    dimensions: dict[str, set[str]] = {}
    for each in examples:
        for name, scores in each.item.scores.items():
            dimensions.setdefault(name, set()).update(scores)
    members = []
    for spec in settings_of(type(params)):
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
    """Score an examples file into a scores file, one line per example, in order.

    `settings` are the evaluator's parameters as strings or JSON values. Before scoring, `announce` receives
    how many summaries will lack a score on some dimension, by reason; `progress(done, total)` follows each
    batch. An evaluator that needs labels takes those of the file (see `labelled_pool`), and summaries of
    articles it has learnt from get a reason instead of a score.

    Outages are retried after `retry_delays_s`; summaries that stay unscored get the error as reason. Raises
    UnknownEvaluator, ValueError (parameters, labels), FileRefused, OSError, and EvaluatorError if the
    evaluator cannot work at all; then nothing is written.
    """
    if not Path(output_path).parent.is_dir():
        raise FileNotFoundError(f"no folder {Path(output_path).parent} to write {Path(output_path).name} in")
    evaluator, items = prepared(evaluator_name, settings, input_path, label_scale)
    if announce:
        problems = [foreseen_problem(evaluator, item) for item in items]
        announce(Counter(problem for problem in problems if problem))
    scored: list[Scored] = []
    for batch in _batches(evaluator, items, retry_delays_s):
        scored += batch
        if progress:
            progress(len(scored), len(items))
    write_scores(output_path, ((item.id, each) for item, each in zip(items, scored, strict=True)))
    return FileScores(
        label=joined(evaluator.name_parts()),
        signature=signature(evaluator),
        fingerprint=fingerprint(evaluator),
        total=len(items),
        scored=sum(not each.reasons for each in scored),
        reasons=Counter(reason for each in scored for reason in set(each.reasons.values())),
        cut=sum(bool(each.shares_read) for each in scored),
    )


def prepared(
    evaluator_name: str, settings: Mapping[str, Any], input_path: Path | str, label_scale: tuple[float, float]
) -> tuple[Evaluator, list[Item]]:
    """Return the evaluator, fitted to the file's labels if it needs any, and all items of the file.

    Raises as `score_file` does.
    """
    evaluator_class = load_evaluator(evaluator_name)
    params = read_params(evaluator_class, settings)
    examples = read_examples(input_path)
    evaluator = evaluator_class(params)
    if Need.SCORES in evaluator_class.needs_for(params):
        evaluator.use_members(members_in(examples, params))
    if Need.LABELLED_POOL in evaluator_class.needs_for(params):
        evaluator.fit(labelled_pool(examples, label_scale))
    items = [each.item for each in examples]
    if Need.CORPUS in evaluator_class.needs_for(params):
        evaluator.see_corpus(items)
    return evaluator, items


def _batches(
    evaluator: Evaluator, items: Sequence[Item], retry_delays_s: Sequence[float]
) -> Iterator[list[Scored]]:
    """Yield results in order. After lasting failures the rest is not tried."""
    failures, succeeded = 0, False
    given_up: EvaluatorError | None = None
    for start in range(0, len(items), evaluator.batch_size):
        batch = items[start : start + evaluator.batch_size]
        error = given_up
        kept = _keep_replies(evaluator)
        if error is None:
            try:
                scored = _score_patiently(evaluator, batch, retry_delays_s)
            except EvaluatorError as caught:
                error = caught
        if error is None:
            failures, succeeded = 0, True
            yield scored
            continue
        failures += 1
        if error.permanent or failures == FAILURES_IN_A_ROW:
            if not succeeded and not (kept and kept.kept):
                raise error
            given_up = error
        yield list(_what_came(evaluator, kept, batch, str(error)))


def _keep_replies(evaluator: Evaluator) -> KeptReplies | None:
    """Let an endpoint's model answer each request of a batch once; return where its replies are kept."""
    if not isinstance(evaluator, AskingEvaluator):
        return None
    model = evaluator.model_itself()
    evaluator.asking = kept = KeptReplies(model) if isinstance(model, Answering) else None
    return kept


def _what_came(
    evaluator: Evaluator, kept: KeptReplies | None, batch: Sequence[Item], reason: str
) -> Iterator[Scored]:
    """Yield scores of items whose replies arrived before the failure; others get the reason."""
    for item in batch:
        scored = Scored.unscored(evaluator.dimensions, reason)
        if kept:
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
