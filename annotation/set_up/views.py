"""The page that leads from a new project to its first rating, and a preview of the rating page."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.lookups import read_number
from annotation.models import Project, Summary
from annotation.permissions import Permission
from annotation.protocol import Questionnaire
from annotation.rating.desk import GivenAnswer
from annotation.rating.sheet_form import QuestionRow
from annotation.rating.shown_item import ShownAnswer, ShownArticle
from annotation.set_up.steps import languages_to_rate, set_up_of
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest


@require_safe
def set_up(request: SignedInRequest, slug: str) -> HttpResponse:
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    context = {
        "set_up": set_up_of(project),
        "rate_address": request.build_absolute_uri(reverse("rate", args=[slug])),
    }
    return render(request, "annotation/set_up/set_up.html", context)


@require_safe
def set_up_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a stage as raters of a language see it, with a summary of the project. Nothing is stored."""
    project = open_project(request, slug, Permission.MANAGE_PROJECT)
    languages = languages_to_rate(project)
    chosen = request.GET.get("language", "")
    language = chosen if chosen in languages else (languages[0] if languages else "")
    asked = project.questionnaire.protocol
    stage = min(max(read_number(request.GET.get("stage", "")) or 1, 1), len(asked.stage_titles))
    sample = _sample(project, language)
    shows_article = asked.shows_article(stage)
    context = {
        "languages": languages,
        "language": language,
        "stage": stage,
        "stage_titles": asked.stage_titles,
        "summary": sample,
        "article": ShownArticle.of(sample.article, "") if sample and shows_article else None,
        "shows_article": shows_article,
        "questions": _question_rows(asked, stage),
    }
    return render(request, "annotation/set_up/preview.html", context)


def _question_rows(asked: Questionnaire, stage: int) -> list[QuestionRow]:
    """Return the questions of a stage without answers, numbered as on the rating page."""
    empty = GivenAnswer("")
    return [
        QuestionRow(number, ShownAnswer(question, empty), empty, saved=False, error="")
        for number, question in enumerate(asked.questions, start=1)
        if question.stage == stage
    ]


def _sample(project: Project, language: str) -> Summary | None:
    """Return a summary with its article, one with text if there is any."""
    rateable = Summary.objects.filter(project=project, article__language=language).rateable()
    with_article = rateable.select_related("article").order_by("shuffle_key", "pk")
    return with_article.exclude(article__text="").first() or with_article.first()
