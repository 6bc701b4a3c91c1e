"""Creating projects, changing their settings, and storing questionnaires."""

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Least
from django.utils.text import slugify

from annotation import protocol
from annotation.actions.places import CHUNK, recount_places, wanted_ratings
from annotation.errors import DomainError
from annotation.models import Membership, Project, Question, Questionnaire, Rerating, Summary
from annotation.qualification import Thresholds

RESERVED_SLUGS = {"new"}  # addresses of other pages
LONGEST_SLUG = 60
REDUNDANCY = ("redundancy", "extra_share", "extra_redundancy")
BOUNDS = {
    "redundancy": (1, 100),
    "extra_redundancy": (1, 100),
    "extra_share": (0, 1),
    "lease_minutes": (1, 7 * 24 * 60),
    "daily_goal": (1, 10_000),
    "gold_round_size": (1, 500),
    "gold_retry_size": (1, 500),
}
SETTINGS = (
    "name",
    "description",
    *BOUNDS,
    "allow_corrections",
    "gold_threshold",
    "gold_thresholds",
)


def store_questionnaire(definition: protocol.Questionnaire) -> Questionnaire:
    """The stored form of `definition`, made if it is not there yet.

    Raises DomainError if another questionnaire has its key: a used one is never changed.
    """
    with transaction.atomic():
        stored, created = Questionnaire.objects.get_or_create(
            key=definition.key,
            defaults={"title": definition.title, "stage_titles": list(definition.stage_titles)},
        )
        if not created:
            if stored.protocol.questions != definition.questions:
                raise DomainError(f"There is another questionnaire with the key {definition.key!r}.")
            return stored
        Question.objects.bulk_create(
            Question(
                questionnaire=stored,
                position=position,
                key=question.key,
                dimension=question.dimension,
                title=question.title,
                wording=question.wording,
                stage=question.stage,
                scale_kind=question.scale.kind,
                scale_values=list(question.scale.values),
                scale_numbers=dict(question.scale.numbers or {}),
                scale_low=question.scale.low,
                scale_high=question.scale.high,
                needs_article=question.needs_article,
                stops_rating_on=list(question.stops_rating_on),
            )
            for position, question in enumerate(definition.questions)
        )
        return stored


def create_project(
    name: str,
    questionnaire: protocol.Questionnaire,
    manager: User | None = None,
    slug: str = "",
    redundancy: int = 1,
) -> Project:
    """A project with its questionnaire and, where given, its first manager.

    Raises DomainError if the slug is taken or reserved, or the name has no letters to make one of.
    """
    slug = slug or slugify(name)[:LONGEST_SLUG].strip("-")
    if not slug:
        raise DomainError(
            f"The name {name!r} has no letters a-z or digits to make an address of; give a slug."
        )
    with transaction.atomic():
        if slug in RESERVED_SLUGS or Project.objects.filter(slug=slug).exists():
            raise DomainError(f"There is a project with the address {slug!r} already.")
        project = Project.objects.create(
            name=name, slug=slug, questionnaire=store_questionnaire(questionnaire), redundancy=redundancy
        )
        if manager is not None:
            Membership.objects.create(project=project, user=manager, role=Membership.Role.MANAGER)
        return project


def change_settings(project: Project, changes: Mapping[str, object]) -> int:
    """Set these of `SETTINGS`; the number of summaries that want another number of ratings from now on.

    Summaries that nobody is to rate, such as bare references and gold, keep wanting none. Raises DomainError
    for a setting that there is not or a value that it cannot have; nothing is changed then.
    """
    unknown = sorted(set(changes) - set(SETTINGS))
    if unknown:
        raise DomainError(f"There is no setting {', '.join(unknown)}.")
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        before = [getattr(locked, name) for name in REDUNDANCY]
        for name, value in changes.items():
            setattr(locked, name, value)
        _check_settings(locked)
        locked.save(update_fields=list(changes))
        affected = 0
        if before != [getattr(locked, name) for name in REDUNDANCY]:
            affected = _apply_redundancy(locked)
        locked.bump_revision()
        return affected


def _check_settings(project: Project) -> None:
    try:
        project.clean_fields()
        Thresholds(project.gold_threshold, project.gold_thresholds)
    except ValidationError as error:
        raise DomainError(
            "; ".join(f"{name}: {' '.join(found)}" for name, found in error.message_dict.items())
        ) from error
    except (TypeError, ValueError) as error:
        raise DomainError(str(error)) from error
    for name, (least, most) in BOUNDS.items():
        if not least <= getattr(project, name) <= most:
            raise DomainError(
                f"{name}: found {getattr(project, name)}, expected a number from {least} to {most:,}"
            )
    keys = {question.key for question in project.questionnaire.questions.all()}
    strangers = sorted(set(project.gold_thresholds) - keys)
    if strangers:
        raise DomainError(f"The questionnaire has no question {', '.join(strangers)}.")


def _apply_redundancy(project: Project) -> int:
    rows = Summary.objects.filter(project=project).rateable().order_by("pk")
    asked = Rerating.objects.current().filter(summary__project=project)
    once_more = dict(asked.values_list("summary", "added"))
    affected: dict[int, list[int]] = {}
    for pk, wanted, article_id, system in rows.values_list(
        "pk", "ratings_wanted", "article__external_id", "system__name"
    ):
        anew = wanted_ratings(project, article_id, system) + once_more.get(pk, 0)
        if anew != wanted:
            affected.setdefault(anew, []).append(pk)
    for wanted, ids in affected.items():
        for start in range(0, len(ids), CHUNK):
            Summary.objects.filter(pk__in=ids[start : start + CHUNK]).update(
                ratings_wanted=wanted, open_places=Least(F("open_places"), wanted)
            )
        recount_places(ids)
    return sum(map(len, affected.values()))
