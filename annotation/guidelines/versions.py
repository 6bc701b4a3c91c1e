"""Guidelines as managers keep them: one draft in each language, published as the next version."""

from datetime import datetime

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, DraftChanged, InvalidFields, NotFound
from annotation.models import Answer, Article, GuidelinesVersion, Project
from annotation.permissions import Permission, Person, require

LONGEST_TEXT = 100_000  # characters
LONGEST_CHANGES = 1000


def offered_languages(project: Project) -> list[str]:
    """Return the languages of the project's articles, raters and guidelines, and its default language."""
    found = {project.default_language}
    found |= set(Article.objects.filter(project=project).values_list("language", flat=True).distinct())
    found |= set(project.guidelines.values_list("language", flat=True).distinct())
    found = found.union(*project.raters.in_good_standing().values_list("languages", flat=True))
    return sorted(found)


def set_default_language(project: Project, user: Person, language: str) -> None:
    """Choose the guidelines of raters whose own languages have none. Raises DomainError."""
    require(user, project, Permission.MANAGE_PROJECT)
    _check_language(project, language)
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        before, locked.default_language = locked.default_language, language
        if before == language:
            return
        locked.save(update_fields=["default_language"])
        details = {"default_language": {"before": before, "after": language}}
        record(Action.SETTINGS_CHANGED, locked, "default_language", details=details)


def draft_in(project: Project, language: str) -> GuidelinesVersion:
    """Return the draft in this language. Raises NotFound."""
    draft = project.guidelines.drafts().filter(language=language).first()
    if draft is None:
        raise NotFound(f"There is no draft of guidelines in {language!r}. It may have been published.")
    return draft


def published_version(project: Project, language: str, number: int) -> GuidelinesVersion:
    """Return a published version. Raises NotFound."""
    found = project.guidelines.published().filter(language=language, number=number).first()
    if found is None:
        raise NotFound(f"There is no version {number} of the guidelines in {language!r}.")
    return found


def latest_version(project: Project, language: str) -> GuidelinesVersion | None:
    return project.guidelines.published().filter(language=language).order_by("number").last()


def ratings_by_version(project: Project) -> dict[int, int]:
    """Return id of each version -> how many finished ratings have answers that were given under it."""
    given = Answer.objects.current().filter(guidelines__project=project, rating__completed_at__isnull=False)
    counted = given.order_by().values_list("guidelines").annotate(Count("rating", distinct=True))
    return dict(counted)


def start_draft(project: Project, user: Person, language: str, text: str) -> GuidelinesVersion:
    """Create the draft in this language. Raises DomainError if there is one."""
    require(user, project, Permission.MANAGE_PROJECT)
    _check_language(project, language)
    draft, created = GuidelinesVersion.objects.get_or_create(
        project=project,
        language=language,
        number=None,
        defaults={"text": text, "author_id": user.pk, "saved_at": timezone.now()},
    )
    if not created:
        raise DomainError("There is a draft in this language. Edit, publish or discard it first.")
    return draft


def save_draft(
    project: Project, user: Person, language: str, text: str, changes: str, based_on: int
) -> GuidelinesVersion:
    """Store the draft's text and what it changes.

    `based_on` is the draft's `saves` when it was opened. Raises DraftChanged if it was saved since, NotFound
    if it was published or discarded, and InvalidFields if a text is too long.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    wrong = {
        name: f"Found {len(value):,} characters. The limit is {limit:,}."
        for name, value, limit in (("text", text, LONGEST_TEXT), ("changes", changes, LONGEST_CHANGES))
        if len(value) > limit
    }
    if wrong:
        raise InvalidFields(wrong)
    with transaction.atomic():
        draft = _locked_draft(project, language, based_on)
        draft.text, draft.changes = text, changes.strip()
        draft.author_id, draft.saved_at = user.pk, timezone.now()
        draft.saves += 1
        draft.save()
        return draft


def discard_draft(project: Project, user: Person, language: str, based_on: int) -> None:
    """Delete the draft. Raises as `save_draft`."""
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        _locked_draft(project, language, based_on).delete()


def publish_draft(
    project: Project, user: Person, language: str, based_on: int, now: datetime | None = None
) -> GuidelinesVersion:
    """Publish the draft as the next version, which never changes. Its raters must confirm it.

    Raises DraftChanged and NotFound as `save_draft`, and InvalidFields if the text is empty or the same as in
    the version before, or if nothing says what a later version changes.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        draft = _locked_draft(project, language, based_on)
        latest = latest_version(project, language)
        wrong = {}
        if not draft.text.strip():
            wrong["text"] = "The guidelines are empty. Write them first."
        elif latest is not None and draft.text.strip() == latest.text.strip():
            wrong["text"] = f"The text is the same as in version {latest.number}. Nothing to publish."
        if latest is not None and not draft.changes:
            wrong["changes"] = "Say what changed. Raters who know the earlier version read this first."
        if wrong:
            raise InvalidFields(wrong)
        draft.number = 1 if latest is None else (latest.number or 0) + 1
        draft.author_id, draft.published_at = user.pk, now or timezone.now()
        draft.save()
        record(Action.GUIDELINES_PUBLISHED, project, f"{language}, version {draft.number}")
        return draft


def _check_language(project: Project, language: str) -> None:
    offered = offered_languages(project)
    if language not in offered:
        raise DomainError(f"Language: found {language!r}, expected one of {', '.join(offered)}.")


def _locked_draft(project: Project, language: str, based_on: int) -> GuidelinesVersion:
    drafts = GuidelinesVersion.objects.select_for_update(of=("self",)).select_related("author").drafts()
    draft = drafts.filter(project=project, language=language).first()
    if draft is None:
        raise DraftChanged("This draft has been published or discarded.")
    if draft.saves != based_on:
        who = draft.author.get_username() if draft.author else "Somebody"
        raise DraftChanged(f"{who} saved this draft after you opened it. Open it again to see their text.")
    return draft
