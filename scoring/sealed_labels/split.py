"""A project's label split: pool, tuning and sealed articles, fixed once a version was tried."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import DomainError
from annotation.models import Article, Project, Rating
from annotation.permissions import Permission, require
from scoring.models import LabelSplit, SealedOpening, Trial
from scoring.sealed_labels.label_parts import LabelPart, Shares


@dataclass(frozen=True)
class PartCount:
    part: LabelPart
    articles: int
    labelled_articles: int
    labels: int
    """Summaries with a countable rating."""


def split_of(project: Project) -> LabelSplit | None:
    return LabelSplit.objects.filter(project=project).first()


def shares_of(split: LabelSplit) -> Shares:
    return Shares(split.seed, split.pool_share, split.tuning_share)


def articles_in(split: LabelSplit, parts: Collection[LabelPart]) -> frozenset[int]:
    """Return the primary keys of the project's articles in these parts."""
    found = _part_by_article(split.project_id, shares_of(split))
    return frozenset(pk for pk, part in found.items() if part in parts)


def counts_of(project: Project, shares: Shares) -> list[PartCount]:
    """Return how many of the project's articles and labels each part gets with these shares."""
    part_by_article = _part_by_article(project.pk, shares)
    labelled = Rating.objects.countable().filter(summary__project=project, summary__gold__isnull=True)
    rated = set(labelled.values_list("summary", "summary__article"))
    articles = Counter(part_by_article.values())
    labels = Counter(part_by_article[article] for _, article in rated)
    with_labels = Counter(part_by_article[article] for article in {article for _, article in rated})
    return [PartCount(part, articles[part], with_labels[part], labels[part]) for part in LabelPart]


def is_fixed(project: Project) -> bool:
    """Return whether a version was tried; after that, moving labels between parts would reveal them."""
    trials = Trial.objects.filter(version__judge__project=project)
    return trials.exists() or SealedOpening.objects.filter(version__judge__project=project).exists()


def set_split(project: Project, user: User, shares: Shares) -> LabelSplit:
    """Set the label split. Raises DomainError once a version was tried; also as `require`."""
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        Project.objects.select_for_update(of=("self",)).get(pk=project.pk)  # trials take the same lock
        if is_fixed(project):
            raise DomainError("The split can no longer be changed: a version was tried on its tuning part.")
        split, _ = LabelSplit.objects.update_or_create(
            project=project,
            defaults={
                "seed": shares.seed,
                "pool_share": shares.pool,
                "tuning_share": shares.tuning,
                "set_by": user,
            },
        )
    return split


def _part_by_article(project_id: int, shares: Shares) -> dict[int, LabelPart]:
    """Return the primary key of each article -> its part.

    The same text under several ids is in the part that is used first, so that no sealed label is one of an
    article from which a version has learnt.
    """
    order = list(LabelPart)
    articles = Article.objects.filter(project=project_id).values_list("pk", "external_id", "text_digest")
    places = {pk: order.index(shares.part_of(external_id)) for pk, external_id, _ in articles}
    first: dict[str, int] = {}
    for pk, _, digest in articles:
        first[digest] = min(places[pk], first.get(digest, places[pk]))
    return {pk: order[first[digest] if digest else places[pk]] for pk, _, digest in articles}
