"""The evaluator card, and its numbers as a file."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotation.context import open_project
from annotation.permissions import Permission
from annotation.signed_in import HtmxRequest
from metaeval.card.page import CardChoices, card_key, card_now
from metaeval.export.how_computed import methods_text
from metaeval.views.answers import answer, download, shows, stamp


@require_safe
def evaluator_card(request: HtmxRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.SEE_RESULTS)
    choices = CardChoices.read(request.GET)
    if shows(request, project, [card_key(project, project.revision, choices)]):
        return HttpResponse(status=204)
    page = card_now(project, choices)
    waits = stamp(page.snapshot.revision, waits=page.is_pending)
    how = methods_text(project, page.snapshot, page.definitions, timezone.localdate())
    return answer(request, "metaeval/card.html", {"page": page, "stamp": waits, "how": how})


@require_safe
def evaluator_card_table(request: HttpRequest, slug: str) -> HttpResponse:
    """All numbers of the card, however long they take."""
    project = open_project(request, slug, Permission.SEE_RESULTS)
    page = card_now(project, CardChoices.read(request.GET), wait_s=None)
    return download(page.rows, f"{slug}-evaluator-card.csv")
