"""Creating projects and storing questionnaires."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from annotation import protocol
from annotation.errors import DomainError
from annotation.models import Membership, Project, Question, Questionnaire


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
    name: str, questionnaire: protocol.Questionnaire, manager: User | None = None, slug: str = ""
) -> Project:
    """A project with its questionnaire and, where given, its first manager.

    Raises DomainError if the slug is taken or the name has no letters to make one of.
    """
    slug = slug or slugify(name)
    if not slug:
        raise DomainError(
            f"The name {name!r} has no letters a-z or digits to make an address of; give a slug."
        )
    with transaction.atomic():
        if Project.objects.filter(slug=slug).exists():
            raise DomainError(f"There is a project with the address {slug!r} already.")
        project = Project.objects.create(
            name=name, slug=slug, questionnaire=store_questionnaire(questionnaire)
        )
        if manager is not None:
            Membership.objects.create(project=project, user=manager, role=Membership.Role.MANAGER)
        return project
