"""Creating projects, changing their settings, publishing results, and storing questionnaires."""

from collections.abc import Mapping
from copy import copy

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Greatest, Least
from django.utils import timezone
from django.utils.text import slugify

from annotation import protocol
from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.database.portions import portions
from annotation.errors import DomainError, InvalidFields
from annotation.gold.qualification import Thresholds
from annotation.models import Membership, Project, Question, Questionnaire, Rerating, Role, Summary
from annotation.open_places import recount_places, taken_places, wanted_ratings
from annotation.permissions import Permission, Person, require
from annotation.progress.progress import without_text

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
    "gold_rounds": (0, 100),
    "check_window": (1, 500),
    "check_minimum": (1, 500),
}
SETTINGS = (
    "name",
    "description",
    "licence",
    *BOUNDS,
    "allow_corrections",
    "articles_once",
    "pair_evenly",
    "contradiction_notice",
    "gold_threshold",
    "gold_thresholds",
    "check_rate",
    "check_feedback",
    "check_threshold",
)


def known_questionnaires() -> dict[str, protocol.Questionnaire]:
    """Return the questionnaires by key: those built in, then the stored ones by title."""
    stored = Questionnaire.objects.exclude(key__in=protocol.BUILT_IN).order_by("title")
    return protocol.BUILT_IN | {each.key: each.protocol for each in stored.prefetch_related("questions")}


def store_questionnaire(definition: protocol.Questionnaire) -> Questionnaire:
    """Return the stored questionnaire of `definition`, created if necessary.

    Raises DomainError if another questionnaire has its key, since stored ones never change.
    """
    with transaction.atomic():
        stored, created = Questionnaire.objects.get_or_create(
            key=definition.key,
            defaults={"title": definition.title, "stage_titles": list(definition.stage_titles)},
        )
        if not created:
            if stored.protocol.questions != definition.questions:
                raise DomainError(
                    f"Another questionnaire has the key {definition.key!r}. Choose another title."
                )
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
    """Return a new project with its questionnaire and, if given, its first manager.

    Raises DomainError if the slug is taken or reserved, or none can be made from the name.
    """
    slug = slug or slugify(name)[:LONGEST_SLUG].strip("-")
    if not slug:
        raise DomainError(f"The name {name!r} has no letters a-z or digits for an address. Enter an address.")
    with transaction.atomic():
        if slug in RESERVED_SLUGS or Project.objects.filter(slug=slug).exists():
            raise DomainError(f"The address {slug!r} is taken. Choose another one.")
        project = Project.objects.create(
            name=name, slug=slug, questionnaire=store_questionnaire(questionnaire), redundancy=redundancy
        )
        if manager is not None:
            Membership.objects.create(project=project, user=manager, role=Role.MANAGER)
        record(Action.PROJECT_CREATED, project, project.name)
        return project


def change_settings(project: Project, changes: Mapping[str, object]) -> int:
    """Change some of `SETTINGS`. Return how many summaries now need a different number of ratings.

    Gold and references that only evaluators read still need none. Raises DomainError for unknown settings,
    InvalidFields for invalid values, and then changes nothing.
    """
    unknown = sorted(set(changes) - set(SETTINGS))
    if unknown:
        raise DomainError(f"Unknown settings: {', '.join(unknown)}.")
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        before = {name: getattr(locked, name) for name in {*REDUNDANCY, *changes}}
        for name, value in changes.items():
            setattr(locked, name, value)
        _check_settings(locked)
        locked.save(update_fields=list(changes))
        affected = 0
        if any(before[name] != getattr(locked, name) for name in REDUNDANCY):
            affected = _apply_redundancy(locked)
        changed = {
            name: {"before": before[name], "after": value}
            for name, value in changes.items()
            if before[name] != value
        }
        if changed:
            record(Action.SETTINGS_CHANGED, locked, ", ".join(changed), details=changed)
        locked.bump_revision()
        return affected


def more_ratings(project: Project, changes: Mapping[str, object]) -> int:
    """Return how many more ratings would be missing after `change_settings`; below 0 for fewer.

    Raises as `change_settings`, and changes nothing.
    """
    changed = copy(project)
    for name, value in changes.items():
        setattr(changed, name, value)
    _check_settings(changed)
    if all(getattr(changed, name) == getattr(project, name) for name in REDUNDANCY):
        return 0
    more = 0
    for wanted, ids in _affected(changed).items():
        open_after = Greatest(0, wanted - taken_places())
        for portion in portions(ids):
            rows = Summary.objects.filter(pk__in=portion).rateable().exclude(without_text([project.pk]))
            more += rows.aggregate(more=Sum(open_after - F("open_places"), default=0))["more"]
    return more


def _check_settings(project: Project) -> None:
    try:
        project.clean_fields()
        Thresholds(project.gold_threshold, project.gold_thresholds)
    except ValidationError as error:
        raise InvalidFields({name: " ".join(found) for name, found in error.message_dict.items()}) from error
    except (TypeError, ValueError) as error:
        raise DomainError(str(error)) from error
    beyond = {
        name: f"Found {getattr(project, name):,}, expected a number from {least} to {most:,}."
        for name, (least, most) in BOUNDS.items()
        if not least <= getattr(project, name) <= most
    }
    if beyond:
        raise InvalidFields(beyond)
    if project.check_minimum > project.check_window:
        only = f"only the last {project.check_window} hidden checks count"
        raise InvalidFields(
            {"check_minimum": f"Found {project.check_minimum}, but {only}. Choose at most as many."}
        )
    keys = {question.key for question in project.questionnaire.questions.all()}
    strangers = sorted(set(project.gold_thresholds) - keys)
    if strangers:
        raise DomainError(f"The questionnaire has no question {', '.join(strangers)}.")


def _apply_redundancy(project: Project) -> int:
    affected = _affected(project)
    for wanted, ids in affected.items():
        for portion in portions(ids):
            Summary.objects.filter(pk__in=portion).update(
                ratings_wanted=wanted, open_places=Least(F("open_places"), wanted)
            )
        recount_places(ids)
    return sum(map(len, affected.values()))


def _affected(project: Project) -> dict[int, list[int]]:
    """Return number of ratings -> ids of the summaries that need so many, and now need another number."""
    rows = Summary.objects.filter(project=project).with_wanted_ratings().order_by("pk")
    asked = Rerating.objects.current().filter(summary__project=project)
    once_more = dict(asked.values_list("summary", "added"))
    affected: dict[int, list[int]] = {}
    for pk, wanted, article_id, system in rows.values_list(
        "pk", "ratings_wanted", "article__external_id", "system__name"
    ):
        anew = wanted_ratings(project, article_id, system) + once_more.get(pk, 0)
        if anew != wanted:
            affected.setdefault(anew, []).append(pk)
    return affected


def publish_results(project: Project, user: Person) -> None:
    """Let anybody read the results until `unpublish_results`.

    Publishing again keeps the first date. Raises NotAllowed or NotFound unless `user` manages the project.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    hidden = Project.objects.filter(pk=project.pk, results_published_at__isnull=True)
    with transaction.atomic():
        if hidden.update(results_published_at=timezone.now()):
            record(Action.RESULTS_PUBLISHED, project)


def unpublish_results(project: Project, user: Person) -> None:
    """Restrict the results to members again. Raises as `publish_results`."""
    require(user, project, Permission.MANAGE_PROJECT)
    published = Project.objects.filter(pk=project.pk, results_published_at__isnull=False)
    with transaction.atomic():
        if published.update(results_published_at=None):
            record(Action.RESULTS_UNPUBLISHED, project)
