"""Domain objects for tests: plain functions with overrides."""

from itertools import count

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from annotation import protocol
from annotation.guidelines.versions import publish_draft, save_draft, start_draft
from annotation.models import (
    Article,
    GoldAnswer,
    GoldRating,
    GuidelinesVersion,
    Membership,
    Project,
    Question,
    Rater,
    Summary,
    System,
)
from annotation.projects.settings import create_project

PASSWORD = "a-long-enough-password"
_numbers = count(1)


def make_user(username: str = "") -> User:
    return get_user_model().objects.create_user(
        username=username or f"user{next(_numbers)}", password=PASSWORD
    )


def make_project(questionnaire: protocol.Questionnaire = protocol.SEAHORSE, **overrides: object) -> Project:
    project = create_project(f"Project {next(_numbers)}", questionnaire)
    for name, value in overrides.items():
        setattr(project, name, value)
    project.save()
    return project


def make_member(project: Project, role: str) -> User:
    """Create a user with a manager's or a researcher's role."""
    user = make_user()
    Membership.objects.create(project=project, user=user, role=role)
    return user


def make_rater(project: Project, **overrides: object) -> Rater:
    """Create a rater with a login who is qualified in English, or in other `languages`, unless overridden."""
    number = next(_numbers)
    fields: dict[str, object] = {
        "user": None,
        "pseudonym": f"rater-{number}",
        "languages": ["en"],
        "status": Rater.Status.QUALIFIED,
    }
    fields.update(overrides)
    if fields["user"] is None and "user" not in overrides:
        fields["user"] = make_user()
    rater = Rater.objects.create(project=project, **fields)
    if Rater.Status.QUALIFIED in (rater.status, rater.status_before):
        for language in rater.languages:
            rater.qualifications.create(language=language, since=rater.joined_at)
    return rater


def make_article(project: Project, **overrides: object) -> Article:
    number = next(_numbers)
    fields: dict[str, object] = {
        "external_id": f"article-{number}",
        "language": "en",
        "title": f"Article {number}",
        "text": f"The harbour of town {number} froze over in January. Ships waited for two weeks.",
    }
    return Article.objects.create(project=project, **{**fields, **overrides})


def make_system(project: Project, name: str = "system-a", **overrides: object) -> System:
    return System.objects.get_or_create(project=project, name=name, defaults=overrides)[0]


def make_summary(project: Project, **overrides: object) -> Summary:
    """Create a summary of a new article by system-a that wants one rating, unless overridden."""
    number = next(_numbers)
    language = overrides.pop("language", "en")
    fields: dict[str, object] = {"text": f"The harbour of town {number} froze.", "shuffle_key": number}
    fields.update(overrides)
    fields.setdefault("article", None)
    fields["article"] = fields["article"] or make_article(project, language=language)
    fields.setdefault("system", None)
    fields["system"] = fields["system"] or make_system(project)
    fields.setdefault("ratings_wanted", 1)
    fields.setdefault("open_places", fields["ratings_wanted"])
    return Summary.objects.create(project=project, **fields)


ALL_YES = {question.key: "yes" for question in protocol.SEAHORSE.questions}


def make_gold(project: Project, answers: dict[str, str] | None = None, **overrides: object) -> GoldRating:
    """Create a gold summary with these answers (all yes), each explained."""
    summary = make_summary(project, **{"ratings_wanted": 0, **overrides})
    gold = GoldRating.objects.create(summary=summary)
    questions = {
        question.key: question for question in Question.objects.filter(questionnaire=project.questionnaire)
    }
    for key, value in (answers or ALL_YES).items():
        GoldAnswer.objects.create(
            gold=gold, question=questions[key], value=value, explanation=f"GOLD-EXPLANATION {key} is {value}."
        )
    return gold


def publish_guidelines(
    project: Project, text: str = "Rate what you read.", language: str = "en", changes: str = "Clearer."
) -> GuidelinesVersion:
    """Publish the text as the next version in this language, by a new manager."""
    manager = make_member(project, "manager")
    if language != "en":
        make_article(project, language=language)
    draft = start_draft(project, manager, language, text)
    draft = save_draft(project, manager, language, text, changes, draft.saves)
    return publish_draft(project, manager, language, draft.saves)
