"""Small projects with odd names, texts and histories, for laws of exports."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st

from annotation import protocol
from annotation.imports.reading.blank_texts import is_blank
from annotation.models import (
    Answer,
    GoldAnswer,
    GoldRating,
    Project,
    Question,
    Rater,
    Rating,
    Summary,
)
from annotation.protocol import SEAHORSE, SUMMEVAL, Scale, ScaleKind
from tests.factories import make_article, make_project, make_rater, make_summary, make_system

ODD = protocol.Questionnaire(
    key="odd",
    title="Odd questions",
    stage_titles=("One", "Two"),
    questions=(
        protocol.Question(
            "mood", "mood", "Mood", "How?", 1, Scale(ScaleKind.NOMINAL, ("=good", "-", "no")), False, ("no",)
        ),
        protocol.Question(
            "degree", "degree", "Degree", "How much?", 1, Scale(ScaleKind.ORDINAL, (), None, -2, 2)
        ),
        protocol.Question("amount", "amount", "Amount", "How many?", 2, Scale(ScaleKind.INTERVAL)),
    ),
)
AMOUNTS = ("-1.5", "0", "1e-05", "3")

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")
TEXT = st.text(LETTERS, max_size=6) | st.sampled_from(
    [
        "=1+1",
        "'=1",
        "''+x",
        "@a",
        "\t=1",
        "\r",
        "a\r\nb",
        'say "a,b"\n"c',
        '"',
        "'",
        "\n\n",
        "\ufeffx",
        "x\u2028y",
    ]
)
STRIPPED = TEXT.map(str.strip)
NAME = STRIPPED.filter(bool)
NAMES = st.lists(NAME, min_size=1, max_size=2, unique=True)
SECONDS = st.integers(0, 10**6)


def _moment(seconds: int) -> datetime:
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=seconds % 7)


@st.composite
def odd_projects(draw: st.DrawFn) -> Project:
    """Draw and store a project. `destination` makes an empty one with the same questionnaire."""
    project = make_project(draw(st.sampled_from([SEAHORSE, SUMMEVAL, ODD])))
    summaries = _draw_summaries(draw, project)
    questions = {question.key: question for question in project.questionnaire.questions.all()}
    for pseudonym in draw(NAMES):
        rater = make_rater(
            project,
            pseudonym=pseudonym,
            group=draw(st.sampled_from(["", "crowd"]) | STRIPPED),
            status=draw(st.sampled_from(Rater.Status.values)),
            **({} if draw(st.booleans()) else {"user": None}),
        )
        for summary in summaries:
            if draw(st.booleans()):
                _draw_rating(draw, rater, summary, questions)
    for summary in summaries:
        if not is_blank(summary.article.text) and draw(st.booleans()):
            _draw_gold(draw, summary, questions)
    return project


def destination(project: Project) -> Project:
    return make_project(project.questionnaire.protocol)


def _draw_summaries(draw: st.DrawFn, project: Project) -> list[Summary]:
    systems = [make_system(project, name, is_reference=draw(st.booleans())) for name in draw(NAMES)]
    references = [make_system(project, f"reference-{n}", is_reference=True) for n in (1, 2)]
    summaries = []
    for name in draw(NAMES):
        article = make_article(
            project,
            external_id=name,
            language=draw(st.sampled_from(["en", "de", "pt-BR"])),
            dataset=draw(STRIPPED),
            split=draw(st.sampled_from(["", "train", "validation", "test"])),
            title=draw(STRIPPED),
            text=draw(TEXT),
        )
        for system in systems:
            summaries.append(make_summary(project, article=article, system=system, text=draw(TEXT)))
        for system in references[: draw(st.integers(0, 2))]:
            make_summary(project, article=article, system=system, text=draw(TEXT), ratings_wanted=0)
    return summaries


def _draw_sheet(draw: st.DrawFn, questionnaire: protocol.Questionnaire) -> dict[str, str]:
    """Draw a complete sheet, whose rating may have ended early."""
    sheet: dict[str, str] = {}
    while asked := protocol.open_questions(questionnaire, sheet):
        for question in asked:
            sheet[question.key] = draw(st.sampled_from(question.scale.choices or AMOUNTS))
    return sheet


def _draw_rating(draw: st.DrawFn, rater: Rater, summary: Summary, questions: dict[str, Question]) -> None:
    sheet = _draw_sheet(draw, rater.project.questionnaire.protocol)
    kind = draw(st.sampled_from(["here", "here", "imported", "unfinished"]))
    began = draw(SECONDS)
    times = [
        {
            "stage": stage,
            "opened_at": _moment(began + stage).isoformat(),
            "submitted_at": _moment(began + 61 * stage).isoformat(),
        }
        for stage in sorted({questions[key].stage for key in sheet})
    ]
    rating = Rating.objects.create(
        summary=summary,
        rater=rater,
        created_at=_moment(began),
        completed_at=None if kind == "unfinished" else _moment(began + 300),
        stage_times=times if kind == "here" else [],
    )
    for key, value in sheet.items():
        choices = questions[key].protocol.scale.choices or AMOUNTS
        earlier = draw(st.just([]) | st.lists(st.sampled_from(choices), max_size=2))
        for revision, given in enumerate([*earlier, value], start=1):
            Answer.objects.create(
                rating=rating,
                question=questions[key],
                value=given,
                comment=draw(STRIPPED),
                revision=revision,
                is_current=revision == len(earlier) + 1,
                after_reveal=draw(st.booleans()),
                created_at=_moment(began + 7 * revision),
            )


def _draw_gold(draw: st.DrawFn, summary: Summary, questions: dict[str, Question]) -> None:
    retired: dict[str, Any] = {"retired_at": timezone.now()} if draw(st.booleans()) else {}
    gold = GoldRating.objects.create(summary=summary, **retired)
    for key, value in _draw_sheet(draw, summary.project.questionnaire.protocol).items():
        GoldAnswer.objects.create(gold=gold, question=questions[key], value=value, explanation=draw(NAME))
