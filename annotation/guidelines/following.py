"""The guidelines that a rater follows, and confirming them, which raters must before they rate."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.utils import timezone
from django.utils.translation import gettext

from annotation.database.kept import kept
from annotation.errors import DomainError, GuidelinesUnconfirmed
from annotation.models import GuidelinesConfirmation, GuidelinesVersion, Project, Rater


@dataclass(frozen=True)
class CurrentGuidelines:
    """The latest version in each language, and the language of raters whose own has none."""

    by_language: Mapping[str, GuidelinesVersion]
    default_language: str

    @classmethod
    def of(cls, project: Project, published: Iterable[GuidelinesVersion]) -> Self:
        """Return the current ones of `published`, which are ordered by number."""
        return cls({version.language: version for version in published}, project.default_language)

    def version_for(self, language: str) -> GuidelinesVersion | None:
        """Return the version for summaries in this language; None if there is none, nor a default one."""
        return self.by_language.get(language) or self.by_language.get(self.default_language)

    def languages_of(self, version: GuidelinesVersion, languages: Collection[str]) -> tuple[str, ...]:
        """Return which of `languages` follow this version."""
        return tuple(language for language in languages if self.version_for(language) == version)

    def followed_in(self, languages: Collection[str]) -> list[GuidelinesVersion]:
        """Return the different versions for summaries in these languages."""
        found = (self.version_for(language) for language in languages)
        return list(dict.fromkeys(version for version in found if version is not None))

    def followed_by(self, rater: Rater) -> frozenset[int]:
        """Return the ids of the versions that the rater follows in any of their languages."""
        return frozenset(version.pk for version in self.followed_in(rater.languages))


def current_guidelines(project: Project) -> CurrentGuidelines:
    """Return the project's current guidelines, without their texts."""
    return CurrentGuidelines.of(project, project.guidelines.published().defer("text").order_by("number"))


@dataclass(frozen=True)
class FollowedVersion:
    """A version that a rater follows in some of their languages."""

    version: GuidelinesVersion
    languages: tuple[str, ...]
    confirmed_at: datetime | None
    confirmed_before: GuidelinesVersion | None
    """The latest earlier version in the same language that the rater has confirmed."""


def followed_versions(rater: Rater) -> list[FollowedVersion]:
    """Return the versions that the rater follows, with their texts, unconfirmed ones first."""
    current = CurrentGuidelines.of(rater.project, rater.project.guidelines.published().order_by("number"))
    confirmed = {
        each.version_id: each
        for each in rater.confirmations.select_related("version").order_by("version__number")
    }
    found = [
        FollowedVersion(
            version,
            current.languages_of(version, rater.languages),
            confirmed[version.pk].confirmed_at if version.pk in confirmed else None,
            next(
                (
                    each.version
                    for each in reversed(confirmed.values())
                    if each.version.language == version.language and each.version_id != version.pk
                ),
                None,
            ),
        )
        for version in current.followed_in(rater.languages)
    ]
    return sorted(found, key=lambda each: each.confirmed_at is not None)


def require_confirmed(rater: Rater, published: int | None = None) -> CurrentGuidelines:
    """Return the current guidelines. Raises GuidelinesUnconfirmed if the rater has not confirmed theirs.

    `published` is how many versions the project has published, for callers who know it: as versions and
    confirmations are never taken back, the same number needs no further look into the database.
    """
    project = rater.project
    current = (
        current_guidelines(project)
        if published is None
        else _guidelines_of(project.pk, project.default_language, published)
    )
    _require_all(rater.pk, project.name, current.followed_by(rater))
    return current


@kept
def _guidelines_of(project_id: int, default_language: str, published: int) -> CurrentGuidelines:  # noqa: ARG001
    return current_guidelines(Project(pk=project_id, default_language=default_language))


@kept
def _require_all(rater_id: int, project_name: str, versions: frozenset[int]) -> None:
    confirmed = GuidelinesConfirmation.objects.filter(rater=rater_id, version__in=versions)
    if versions and len(versions) > confirmed.count():
        message = gettext("Read and confirm the guidelines of %(project)s before you rate. Open Guidelines.")
        raise GuidelinesUnconfirmed(message % {"project": project_name})


def confirm_guidelines(rater: Rater, versions: Collection[int], now: datetime | None = None) -> None:
    """Store that the rater has read the versions with these ids. Confirming again changes nothing.

    Raises DomainError if one of them is not current for the rater: a newer one may have been published.
    """
    current = current_guidelines(rater.project).followed_by(rater)
    if not versions or not current.issuperset(versions):
        raise DomainError(gettext("The guidelines have changed since you opened them. Read the new version."))
    GuidelinesConfirmation.objects.bulk_create(
        [
            GuidelinesConfirmation(rater=rater, version_id=pk, confirmed_at=now or timezone.now())
            for pk in versions
        ],
        ignore_conflicts=True,
    )


@dataclass(frozen=True)
class Follower:
    """A rater who follows a version. `confirmed_at` is None until they have confirmed it."""

    rater: Rater
    confirmed_at: datetime | None


def followers_of(project: Project, version: GuidelinesVersion, current: CurrentGuidelines) -> list[Follower]:
    """Return the raters who follow this version: those who have a login and may rate or qualify."""
    return followers_of_each(project, [version], current)[version.pk]


def followers_of_each(
    project: Project, versions: Collection[GuidelinesVersion], current: CurrentGuidelines
) -> dict[int, list[Follower]]:
    """Return as `followers_of` by the version's id, in a fixed number of queries."""
    raters = project.raters.filter(
        user__isnull=False, status__in=[Rater.Status.TRAINING, Rater.Status.QUALIFIED]
    ).select_related("user")
    confirmations = GuidelinesConfirmation.objects.filter(version__in=versions)
    confirmed = {
        (version_id, rater_id): at
        for version_id, rater_id, at in confirmations.values_list("version", "rater", "confirmed_at")
    }
    followed = [(rater, set(current.followed_in(rater.languages))) for rater in raters]
    return {
        version.pk: [
            Follower(rater, confirmed.get((version.pk, rater.pk)))
            for rater, theirs in followed
            if version in theirs
        ]
        for version in versions
    }


def raters_to_confirm(draft: GuidelinesVersion) -> list[Rater]:
    """Return the raters who have to confirm the draft once it is published."""
    current = current_guidelines(draft.project)
    published = CurrentGuidelines(
        {**current.by_language, draft.language: draft}, draft.project.default_language
    )
    return [follower.rater for follower in followers_of(draft.project, draft, published)]
