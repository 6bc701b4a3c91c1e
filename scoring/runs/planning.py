"""Planning and starting runs: parameters, labelled pool, summaries, batches."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone

from annotation.database.portions import portions
from annotation.declared.settings import settings_as_json
from annotation.models import Project, Summary
from annotation.permissions import Permission, require
from scoring.contract.evaluator import (
    GENERAL,
    Evaluator,
    EvaluatorError,
    Need,
    language_problem,
    score_unseen,
)
from scoring.contract.fingerprints import earlier_fingerprint, fingerprint, identity, signature
from scoring.contract.items import Item, PoolExample
from scoring.contract.params import read_params
from scoring.contract.scores import NO_ARTICLE, NO_REFERENCE
from scoring.dimensions.project_dimensions import with_words_of
from scoring.endpoints.known_models import address_asked_by, lacking, no_batches, refuse_unlisted
from scoring.errors import InvalidRun
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.inputs.items import CHUNK, EVERYTHING, Selection, StoredCorpus, inputs_digest, items_of, scorable
from scoring.inputs.labelled_pool import Labels, pool_examples, pool_labels, seen_labels
from scoring.inputs.members import members_of, with_members_named
from scoring.inputs.offered_models import locate_for
from scoring.inputs.seen_articles import store_seen, warnings_of
from scoring.inputs.setup_labels import label_for
from scoring.models import Batch, Run, Score, Setup
from scoring.replies.budgets import refuse_budget
from scoring.runs.api_batches import start_api_batches
from scoring.runs.lifecycle import record_end, refuse_unfinished
from scoring.sealed_labels.seal import refuse_sealed, unsealed
from scoring.weights.model_files import MissingWeights, locate, size
from scoring.workers.wake_ups import wake

FIRST_BATCH = 16


@dataclass(frozen=True)
class RunPlan:
    """A run as it would be if it were started now."""

    project: Project
    evaluator: Evaluator
    fingerprint: str
    pool: Labels
    corpus: tuple[int, ...]
    """Ids of the summaries that the evaluator reads before it scores; empty if it needs none."""
    to_score: tuple[int, ...]
    """Summary ids, grouped by article."""
    reused: int
    """Summaries that already have scores with the same fingerprint and texts."""
    foreseen: Mapping[str, int]
    """Reason -> how many of `to_score` will get no score because of it, as far as is known."""

    @property
    def needs(self) -> frozenset[Need]:
        return self.evaluator.needs_for(self.evaluator.params)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Dimensions of the evaluator that no question of the project measures."""
        asked = set(self.project.questionnaire.questions.values_list("dimension", flat=True))
        return tuple(each for each in self.evaluator.dimensions if each not in {GENERAL, *asked})

    @property
    def warnings(self) -> list[str]:
        """Return warnings about published models that may have seen the project's articles."""
        return warnings_of(self.project, self.evaluator)

    @property
    def weights(self) -> Mapping[str, int]:
        """Model -> bytes of its weights on this machine; empty for hosted models."""
        params = self.evaluator.params
        if self.evaluator.queue_for(params) == "llm":
            return {}
        return {model: size(locate(model)) for model in self.evaluator.models_for(params).values()}


def plan(
    project: Project,
    evaluator_name: str,
    given: Mapping[str, Any],
    selection: Selection = EVERYTHING,
    *,
    pool: Labels | None = None,
    by_operator: bool = False,
) -> RunPlan:
    """Plan a run without writing anything.

    `given` are parameters as strings or JSON values; `pool` replaces the labels of `pool_labels`. Raises
    InvalidRun for an unknown evaluator, an invalid parameter, missing weights, an unusable pool or a model
    that lacks a capability; also, unless `by_operator`, for endpoints and files that the operator does not
    allow.
    """
    try:
        evaluator_class = load_evaluator(evaluator_name)
        given = with_words_of(project, evaluator_class, given)
        evaluator = evaluator_class(with_members_named(project, read_params(evaluator_class, given)))
        if not by_operator:
            refuse_unlisted(evaluator)
            _refuse_files_not_offered(project, evaluator)
        needs = evaluator.needs_for(evaluator.params)
        if Need.SCORES in needs:
            evaluator.use_members(members_of(project, evaluator.params))
        examples: dict[int, PoolExample] = {}
        if Need.LABELLED_POOL in needs:
            labels = pool_labels(project) if pool is None else pool
            if evaluator.is_out_of_fold:  # it would learn from sealed labels, too
                labels = unsealed(project, labels)
            examples = pool_examples(labels, needs, evaluator.members)
            evaluator.fit(list(examples.values()))
        wanted = list(scorable(project, selection).order_by("article", "pk").values_list("pk", flat=True))
        corpus = tuple(wanted) if Need.CORPUS in needs else ()
        if corpus:
            evaluator.see_corpus(StoredCorpus(corpus, needs, evaluator.members))
        evaluator_fingerprint = _fingerprint_in(project, evaluator)
    except (UnknownEvaluator, ValueError, EvaluatorError) as error:
        raise InvalidRun(str(error)) from error
    reused = _already_scored(project, evaluator, evaluator_fingerprint, wanted)
    to_score = tuple(pk for pk in wanted if pk not in reused)
    if words := lacking(project.pk, evaluator, to_score):
        raise InvalidRun(words)
    return RunPlan(
        project=project,
        evaluator=evaluator,
        fingerprint=evaluator_fingerprint,
        pool=seen_labels(evaluator, examples),
        corpus=corpus,
        to_score=to_score,
        reused=len(reused),
        foreseen=_foreseen(evaluator, to_score),
    )


def _fingerprint_in(project: Project, evaluator: Evaluator) -> str:
    """Return the evaluator's fingerprint, or the earlier one if the project has a setup with it."""
    earlier = earlier_fingerprint(evaluator)
    is_known = Setup.objects.filter(project=project, fingerprint=earlier).exists()
    return earlier if is_known else fingerprint(evaluator)


def plan_run(
    project: Project,
    evaluator_name: str,
    given: Mapping[str, Any],
    user: User | None = None,
    selection: Selection = EVERYTHING,
    budget: Decimal | None = None,
    delivery: str = Run.Delivery.NOW,
) -> Run:
    """Plan a run and start it; `user` is None on the command line. Raises as `plan` and `start`."""
    planned = plan(project, evaluator_name, given, selection, by_operator=user is None)
    return start(planned, user, budget, delivery)


def start(
    planned: RunPlan,
    user: User | None = None,
    budget: Decimal | None = None,
    delivery: str = Run.Delivery.NOW,
) -> Run:
    """Queue a planned run; with nothing to score it is done at once.

    `budget` is in US dollars, None for no limit; `delivery` is a Run.Delivery. Raises RunBusy if a run of the
    setup is in progress; InvalidRun if it would reveal a judge's scores on sealed labels; also as
    `refuse_budget`, `refuse_delivery` and `require`.
    """
    if user is not None:
        require(user, planned.project, Permission.MANAGE_RUNS)
    refuse_budget(planned.project, address_asked_by(planned.evaluator), budget)
    refuse_delivery(planned, delivery)
    with transaction.atomic():
        refuse_sealed(planned.project, planned.evaluator, planned.to_score)
        setup = stored_setup(planned)
        refuse_unfinished(setup.runs.of_scores())
        run = Run.objects.create(
            setup=setup,
            created_by=user,
            total=len(planned.to_score),
            reused=planned.reused,
            status=Run.Status.QUEUED if planned.to_score else Run.Status.DONE,
            finished_at=None if planned.to_score else timezone.now(),
            budget=budget,
            delivery=delivery,
        )
        Batch.objects.bulk_create(_batches(run, planned), batch_size=CHUNK)
        if delivery == Run.Delivery.BATCH and planned.to_score:
            start_api_batches(run)
        else:
            wake(run)
        record_end(run)
    return run


def run_in_progress(planned: RunPlan) -> Run | None:
    """Return the run of the plan's setup that is queued or running, if there is one."""
    runs = Run.objects.of_scores().filter(
        setup__project=planned.project, setup__fingerprint=planned.fingerprint, status__in=Run.UNFINISHED
    )
    return runs.select_related("setup__project").first()


def refuse_delivery(planned: RunPlan, delivery: str) -> None:
    """Raise InvalidRun for the batch API where it is known to be unavailable."""
    if delivery == Run.Delivery.BATCH and (words := no_batches(planned.project.pk, planned.evaluator)):
        raise InvalidRun(f"delivery: {words}")


def _refuse_files_not_offered(project: Project, evaluator: Evaluator) -> None:
    """Raise InvalidRun for other projects' models, and for paths that the operator has not installed."""
    for name, model in evaluator.models_for(evaluator.params).items():
        try:
            locate_for(project, model)
        except MissingWeights as error:
            raise InvalidRun(f"parameter {name!r}: {error}") from error


def _already_scored(
    project: Project, evaluator: Evaluator, evaluator_fingerprint: str, wanted: list[int]
) -> set[int]:
    """Return the ids in `wanted` that have a value on every dimension, computed from the current texts."""
    setup = Setup.objects.filter(project=project, fingerprint=evaluator_fingerprint).first()
    if setup is None:
        return set()
    inputs: dict[int, list[str]] = {}
    computed = Score.objects.computed().filter(setup=setup, dimension__in=evaluator.dimensions)
    for summary_id, digest in computed.values_list("summary", "inputs"):
        inputs.setdefault(summary_id, []).append(digest)
    complete = [pk for pk in wanted if len(inputs.get(pk, ())) == len(evaluator.dimensions)]
    needs = evaluator.needs_for(evaluator.params)
    return {
        pk
        for ids in portions(complete, CHUNK)
        for pk, item in items_of(ids, needs, evaluator.members).items()
        if set(inputs[pk]) == {inputs_digest(item)}
    }


def _foreseen(evaluator: Evaluator, to_score: Collection[int]) -> dict[str, int]:
    """Count the summaries that will get no score, by their first reason."""
    needs = evaluator.needs_for(evaluator.params)
    reference = Summary.objects.filter(article=OuterRef("article"), system__is_reference=True).exclude(
        pk=OuterRef("pk")
    )
    rows = Summary.objects.annotate(
        without_article=ExpressionWrapper(Q(article__text=""), output_field=BooleanField()),
        without_reference=~Exists(reference.exclude(text="")),
    ).values_list(
        "article__external_id",
        "article__text_digest",
        "article__language",
        "without_article",
        "without_reference",
    )
    counts: Counter[str] = Counter()
    for ids in portions(to_score, CHUNK):
        if evaluator.members:  # combining stored scores costs nothing
            items = items_of(ids, needs, evaluator.members)
            scored = score_unseen(evaluator, list(items.values()))
            counts.update(next(iter(each.reasons.values())) for each in scored if each.reasons)
            continue
        for article, digest, language, without_article, without_reference in rows.filter(pk__in=ids):
            item = Item("", "", article_id=article, article_digest=digest)
            reason = (
                (evaluator.seen_reason if evaluator.seen.dimensions_of(item, evaluator.dimensions) else None)
                or language_problem(evaluator, language)
                or (NO_ARTICLE if Need.ARTICLE in needs and without_article else None)
                or (NO_REFERENCE if Need.REFERENCES in needs and without_reference else None)
            )
            if reason:
                counts[reason] += 1
    return dict(counts.most_common())


def stored_setup(planned: RunPlan) -> Setup:
    """Return the setup with the plan's fingerprint, created if needed, and locked.

    It takes the plan's timeout and other parameters that are not in the fingerprint.
    """
    evaluator = planned.evaluator
    params = settings_as_json(evaluator.params)
    setup, _ = Setup.objects.get_or_create(
        project=planned.project,
        fingerprint=planned.fingerprint,
        defaults={
            "evaluator": evaluator.name,
            "label": label_for(planned.project, evaluator),
            "params": params,
            "signature": signature(evaluator)[: Setup._meta.get_field("signature").max_length],
            "provenance": identity(evaluator),
            "pool": planned.pool,
            "corpus": planned.corpus,
        },
    )
    setup = Setup.objects.select_for_update().get(pk=setup.pk)
    if setup.params != params:
        setup.params = params
        setup.save(update_fields=["params"])
    store_seen(setup, evaluator)
    return setup


def _batches(run: Run, planned: RunPlan) -> Iterator[Batch]:
    """Yield the run's batches. The first is small, so that the pace of a slow evaluator shows early."""
    size = planned.evaluator.batch_size
    first = min(size, FIRST_BATCH)
    starts = [0, *range(first, len(planned.to_score), size)] if planned.to_score else []
    for number, start in enumerate(starts):
        ids = planned.to_score[start : start + size if number else first]
        yield Batch(run=run, number=number, summary_ids=list(ids), size=len(ids))
