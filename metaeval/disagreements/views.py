"""The pages of disagreements: the list, the counts of tags, the rows as a file, and tagging."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation.errors import NotFound
from annotation.lookups import one_of
from annotation.models import Project, Summary
from annotation.permissions import Permission
from annotation.rating.rerating import request_rerating, reratings_of, withdraw_rerating
from annotation.summaries.find_summaries import ratings_of, references_of, summary_in
from annotation.summaries.summary_trail import SummaryTrail
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.disagreements.disagreements import Disagreements, Side, ranked_disagreements
from metaeval.disagreements.pair_choices import ListChoices, Pair, chosen_pair, list_controls, pairs_of
from metaeval.disagreements.ranked_rows import ranked_rows
from metaeval.disagreements.tags import tag_disagreement, untag_disagreement
from metaeval.live.choices import Control
from metaeval.live.news import download
from metaeval.models import DisagreementTag
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.arrays import Ints
from metaeval.stats.check_choice import check_choice
from scoring.contract.evaluator import GENERAL
from scoring.models import Score, Setup
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
    found = ranked_disagreements(pairs)
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


ROWS_ON_A_PAGE = 25


@require_safe
def disagreements(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    snapshot = snapshot_of(project)
    found = disagreements_page(project, snapshot, DisagreementChoices.read(request.GET))
    if found is None:
        return render(request, "metaeval/disagreements/disagreements.html", {"found": None})
    page = Paginator(found.listed, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))
    rows = ranked_rows(project, snapshot, found.found.pairs, list(page), found.choices.group)
    context = {
        "found": found,
        "counts": found.counts,
        "page": page,
        "rows": rows,
        "query": found.choices.address().removeprefix("?"),
        "trail": SummaryTrail.of([row.summary.pk for row in rows], request.get_full_path()),
        "verdicts": DisagreementTag.Verdict,
        "may_tag": Permission.TAG_DISAGREEMENTS in project.reader_may,
    }
    return render(request, "metaeval/disagreements/disagreements.html", context)


@require_safe
def disagreements_csv(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    found = disagreements_page(project, snapshot_of(project), DisagreementChoices.read(request.GET))
    rows = list(disagreement_rows(project, found)) if found else []
    return download(rows, f"{slug}-disagreements.csv")


@require_safe
def disagreement(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Show texts, ratings and the evaluator's explanation; for htmx without the rest of the page."""
    project = open_project(request, slug, Permission.SEE_TEXTS_AND_RATINGS)
    setup = one_of(Setup.objects.filter(project=project), setup_id, "evaluator")
    summary = summary_in(project, summary_id)
    keys = [question.key for question in project.questionnaire.protocol.questions]
    if question_key not in keys:
        raise NotFound("This project has no such question.")
    question = project.questionnaire.protocol.questions[keys.index(question_key)]
    scores = Score.objects.filter(setup=setup, summary=summary)
    context = {
        "setup": setup,
        "question": question,
        "summary": summary,
        "references": references_of(summary),
        "ratings": [(row, row.answers[keys.index(question_key)]) for row in ratings_of(summary)],
        "scores": scores.filter(dimension__in=(question.dimension, GENERAL)).order_by("dimension"),
        "tag": DisagreementTag.objects.current()
        .of_pair(setup_id, question_key)
        .filter(summary=summary)
        .first(),
        "verdicts": DisagreementTag.Verdict,
        "rerating": reratings_of([summary_id]).get(summary_id),
        "may_tag": Permission.TAG_DISAGREEMENTS in project.reader_may,
    }
    template = (
        "metaeval/disagreements/_texts.html" if request.htmx else "metaeval/disagreements/disagreement.html"
    )
    return render(request, template, context)


@require_POST
def disagreement_tag(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Set the tag, or remove it if the verdict is empty."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    verdict = request.POST.get("verdict", "")
    tag = None
    if verdict:
        note = request.POST.get("note", "")
        tag = tag_disagreement(project, request.user, setup_id, question_key, summary_id, verdict, note)
    else:
        untag_disagreement(project, request.user, setup_id, question_key, summary_id)
    done = "Tag saved." if tag else "Tag removed."
    return _tagged(request, project, setup_id, question_key, summary_id, done)


@require_POST
def disagreement_rerating(
    request: SignedInRequest, slug: str, setup_id: int, question_key: str, summary_id: int
) -> HttpResponse:
    """Request another rating of the summary, or cancel the request if `again` is empty."""
    project = open_project(request, slug, Permission.TAG_DISAGREEMENTS)
    one_of(Setup.objects.filter(project=project), setup_id, "evaluator")
    if request.POST.get("again"):
        request_rerating(project, request.user, summary_id)
        done = "Rating requested. A rater who has not seen this summary will get it."
    else:
        withdraw_rerating(project, request.user, summary_id)
        done = "Request for another rating cancelled."
    return _tagged(request, project, setup_id, question_key, summary_id, done)


def _tagged(
    request: SignedInRequest, project: Project, setup_id: int, question_key: str, summary_id: int, done: str
) -> HttpResponse:
    """Redirect to the page; for htmx return the row's tag and the counts of the list."""
    if not request.htmx:
        messages.success(request, done)
        return redirect("disagreement", project.slug, setup_id, question_key, summary_id)
    choices = DisagreementChoices.read(request.GET)
    of_pair = replace(choices, evaluator=str(setup_id), question=question_key)
    found = disagreements_page(project, snapshot_of(project), of_pair)
    tags = DisagreementTag.objects.current().of_pair(setup_id, question_key)
    context = {
        "setup_id": setup_id,
        "question_key": question_key,
        "summary_id": summary_id,
        "tag": tags.filter(summary=summary_id).first(),
        "rerating": reratings_of([summary_id]).get(summary_id),
        "verdicts": DisagreementTag.Verdict,
        "may_tag": True,
        "choices": choices,
        "counts": found.counts if found else None,
    }
    return render(request, "metaeval/disagreements/_verdict.html#answer", context)
