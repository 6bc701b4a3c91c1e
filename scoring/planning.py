"""Deciding what a run will do: check parameters, fit to the labelled pool, choose summaries, cut batches."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone

from annotation.models import Article, Project, Summary
from annotation.permissions import Permission, require
from scoring.alignment.seal import refuse_sealed, unsealed
from scoring.contract import (
    GENERAL,
    NO_ARTICLE,
    NO_REFERENCE,
    Evaluator,
    EvaluatorError,
    Need,
    PoolExample,
    language_problem,
    score_unseen,
)
from scoring.delivery.hand_ins import begin
from scoring.endpoints.budgets import refuse_budget
from scoring.endpoints.remembered import address_asked_by, lacking, no_batches, refuse_unlisted
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.fingerprints import fingerprint, identity, signature
from scoring.items import (
    CHUNK,
    EVERYTHING,
    Selection,
    StoredCorpus,
    inputs_digest,
    items_of,
    scorable,
)
from scoring.judged_dimensions import with_words_of
from scoring.labelling import label_for
from scoring.members import members_of, with_members_named
from scoring.models import Batch, EvaluatorSetup, Run, Score, SeenArticle
from scoring.params import params_as_json, read_params
from scoring.pool import Labels, pool_examples, pool_labels, seen_labels
from scoring.waking import wake
from scoring.weights import MissingWeights, locate, locate_offered, size

FIRST_BATCH = 16


@dataclass(frozen=True)
class RunPlan:
    """What a run would do if it were started now."""

    project: Project
    evaluator: Evaluator
    fingerprint: str
    pool: Labels
    corpus: tuple[int, ...]
    """Summary ids of all that the evaluator looks through before it scores; none where it has no need to."""
    to_score: tuple[int, ...]
    """Summary ids, those of one article together."""
    reused: int
    """Summaries whose scores are there already, from the same fingerprint and the same texts."""
    foreseen: Mapping[str, int]
    """Reason -> how many of `to_score` will stay without a score for it. More may turn up on the way."""

    @property
    def needs(self) -> frozenset[Need]:
        return self.evaluator.needs_for(self.evaluator.params)

    @property
    def unasked(self) -> tuple[str, ...]:
        """Dimensions of the evaluator that no question of the project has: no label to compare them with."""
        asked = set(self.project.questionnaire.questions.values_list("dimension", flat=True))
        return tuple(each for each in self.evaluator.dimensions if each not in {GENERAL, *asked})

    @property
    def weights(self) -> Mapping[str, int]:
        """Model -> bytes of its weights on this machine; nothing for a hosted one."""
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
    """Work out a run without writing anything. `given` are parameters as strings or JSON values, `pool` the
    labels to learn from in place of all that `pool_labels` finds.

    Raises InvalidRun for an unknown evaluator, a wrong parameter, weights that are not here, a pool that
    cannot serve, or a model known to be unable to; and, unless `by_operator`, for endpoints and files that
    the operator has not offered.
    """
    try:
        evaluator_class = load_evaluator(evaluator_name)
        given = with_words_of(project, evaluator_class, given)
        evaluator = evaluator_class(with_members_named(project, read_params(evaluator_class, given)))
        if not by_operator:
            refuse_unlisted(evaluator)
            _refuse_files_not_offered(evaluator)
        needs = evaluator.needs_for(evaluator.params)
        if Need.SCORES in needs:
            evaluator.appoint(members_of(project, evaluator.params))
        examples: dict[int, PoolExample] = {}
        if Need.LABELLED_POOL in needs:
            labels = pool_labels(project) if pool is None else pool
            if evaluator.is_out_of_fold:  # else it would learn from all labels that are kept for the end
                labels = unsealed(project, labels)
            examples = pool_examples(labels, needs, evaluator.members)
            evaluator.fit(list(examples.values()))
        wanted = list(scorable(project, selection).order_by("article", "pk").values_list("pk", flat=True))
        corpus = tuple(wanted) if Need.CORPUS in needs else ()
        if corpus:
            evaluator.survey(StoredCorpus(corpus, needs, evaluator.members))
        evaluator_fingerprint = fingerprint(evaluator)
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


def plan_run(
    project: Project,
    evaluator_name: str,
    given: Mapping[str, Any],
    user: User | None = None,
    selection: Selection = EVERYTHING,
    budget: Decimal | None = None,
    delivery: str = Run.Delivery.NOW,
) -> Run:
    """Plan a run and queue it; `user` is None on the command line, which is the operator's own.

    Raises InvalidRun as `plan` does, and what `start` raises.
    """
    planned = plan(project, evaluator_name, given, selection, by_operator=user is None)
    return start(planned, user, budget, delivery)


def start(
    planned: RunPlan,
    user: User | None = None,
    budget: Decimal | None = None,
    delivery: str = Run.Delivery.NOW,
) -> Run:
    """Queue a run as planned; with nothing left to score it is done at once.

    `budget`, in US dollars, is what its requests may cost; None: no limit. `delivery` is a Run.Delivery;
    `refuse_delivery` says where it cannot be. Raises RunBusy if a run of the
    same setup is under way; InvalidRun if it would give a version of a judge away on sealed labels, and as
    `refuse_budget` does; what `require` raises.
    """
    if user is not None:
        require(user, planned.project, Permission.MANAGE_RUNS)
    if budget is not None:
        refuse_budget(planned.project, address_asked_by(planned.evaluator), budget)
    refuse_delivery(planned, delivery)
    with transaction.atomic():
        refuse_sealed(planned.project, planned.evaluator, planned.to_score)
        setup = stored_setup(planned)
        unfinished = setup.runs.filter(status__in=Run.UNFINISHED).first()
        if unfinished is not None:
            raise RunBusy(f"{setup.label} is being computed already, by run {unfinished.pk}.")
        finished = None if planned.to_score else timezone.now()
        run = Run.objects.create(
            setup=setup,
            created_by=user,
            total=len(planned.to_score),
            reused=planned.reused,
            status=Run.Status.QUEUED if planned.to_score else Run.Status.DONE,
            finished_at=finished,
            budget=budget,
            delivery=delivery,
        )
        Batch.objects.bulk_create(_batches(run, planned), batch_size=CHUNK)
        if delivery == Run.Delivery.BATCH and planned.to_score:
            begin(run)
        else:
            wake(run)
    return run


def refuse_delivery(planned: RunPlan, delivery: str) -> None:
    """Raises InvalidRun for requests that are to go as a batch, where that is known not to be possible."""
    if delivery == Run.Delivery.BATCH and (words := no_batches(planned.project.pk, planned.evaluator)):
        raise InvalidRun(f"delivery: {words}")


def _refuse_files_not_offered(evaluator: Evaluator) -> None:
    """Workers read models the operator has put in place, not any path of the server."""
    for name, model in evaluator.models_for(evaluator.params).items():
        try:
            locate_offered(model)
        except MissingWeights as error:
            raise InvalidRun(f"parameter {name!r}: {error}") from error


def _already_scored(
    project: Project, evaluator: Evaluator, evaluator_fingerprint: str, wanted: list[int]
) -> set[int]:
    """Those of `wanted` that have a value on every dimension, made from the texts of today."""
    setup = EvaluatorSetup.objects.filter(project=project, fingerprint=evaluator_fingerprint).first()
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
        for start in range(0, len(complete), CHUNK)
        for pk, item in items_of(complete[start : start + CHUNK], needs, evaluator.members).items()
        if set(inputs[pk]) == {inputs_digest(item)}
    }


def _foreseen(evaluator: Evaluator, to_score: Collection[int]) -> dict[str, int]:
    """Reason -> summaries that it will leave without a score; each summary counts once, for its first."""
    needs = evaluator.needs_for(evaluator.params)
    reference = Summary.objects.filter(article=OuterRef("article"), system__is_reference=True).exclude(
        pk=OuterRef("pk")
    )
    rows = Summary.objects.annotate(
        without_article=ExpressionWrapper(Q(article__text=""), output_field=BooleanField()),
        without_reference=~Exists(reference.exclude(text="")),
    ).values_list("article__external_id", "article__language", "without_article", "without_reference")
    counts: Counter[str] = Counter()
    ids = list(to_score)
    for start in range(0, len(ids), CHUNK):
        chunk = rows.filter(pk__in=ids[start : start + CHUNK])
        if evaluator.members:  # who joins stored scores can say it all at no cost
            counts += _unscored(evaluator, ids[start : start + CHUNK])
            continue
        for article, language, without_article, without_reference in chunk:
            reason = (
                (evaluator.seen_reason if article in evaluator.seen.article_ids else None)
                or language_problem(evaluator, language)
                or (NO_ARTICLE if Need.ARTICLE in needs and without_article else None)
                or (NO_REFERENCE if Need.REFERENCES in needs and without_reference else None)
            )
            if reason:
                counts[reason] += 1
    return dict(counts.most_common())


def _unscored(evaluator: Evaluator, summary_ids: Collection[int]) -> Counter[str]:
    items = items_of(summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
    scored = score_unseen(evaluator, list(items.values()))
    return Counter(next(iter(each.reasons.values())) for each in scored if each.reasons)


def stored_setup(planned: RunPlan) -> EvaluatorSetup:
    """The setup with the plan's fingerprint, made if need be, and locked."""
    evaluator = planned.evaluator
    setup, created = EvaluatorSetup.objects.get_or_create(
        project=planned.project,
        fingerprint=planned.fingerprint,
        defaults={
            "evaluator": evaluator.name,
            "label": label_for(planned.project, evaluator),
            "params": params_as_json(evaluator.params),
            "signature": signature(evaluator)[: EvaluatorSetup._meta.get_field("signature").max_length],
            "provenance": identity(evaluator),
            "pool": planned.pool,
            "corpus": planned.corpus,
        },
    )
    setup = EvaluatorSetup.objects.select_for_update().get(pk=setup.pk)
    if created:
        _remember_seen_articles(setup, evaluator)
    return setup


def _remember_seen_articles(setup: EvaluatorSetup, evaluator: Evaluator) -> None:
    external_ids = sorted(evaluator.seen.article_ids)
    for start in range(0, len(external_ids), CHUNK):
        articles = Article.objects.filter(
            project=setup.project, external_id__in=external_ids[start : start + CHUNK]
        )
        SeenArticle.objects.bulk_create(
            SeenArticle(setup=setup, article_id=pk, role=evaluator.seen_reason)
            for pk in articles.values_list("pk", flat=True)
        )


def _batches(run: Run, planned: RunPlan) -> Iterator[Batch]:
    """The first one is small, so that a slow evaluator soon shows how fast it is."""
    size = planned.evaluator.batch_size
    first = min(size, FIRST_BATCH)
    for number, start in enumerate([0, *range(first, len(planned.to_score), size)]):
        ids = planned.to_score[start : start + size if number else first]
        yield Batch(run=run, number=number, summary_ids=list(ids), size=len(ids))
