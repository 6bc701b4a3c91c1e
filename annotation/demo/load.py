"""The demo project: our own texts in six languages, with content for every page."""

from datetime import timedelta
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from annotation.demo.accounts import make_demo_user
from annotation.gold.qualified_languages import qualify_rater
from annotation.guidelines.following import confirm_guidelines
from annotation.guidelines.starting_points import SHIPPED, starting_text
from annotation.guidelines.versions import publish_draft, start_draft
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import Answer, Membership, Project, Rater, Rating, Role
from annotation.projects.settings import create_project
from annotation.protocol import SEAHORSE

FOLDER = Path(__file__).resolve().parent
SLUG = "demo"
LANGUAGES = ["de", "en", "es", "ru", "tr", "vi"]
DAYS_OF_WORK = 10  # the demo ratings are spread over the days before the first start


def load_demo_project() -> bool:
    """Load the demo project with its accounts. Return whether it was new."""
    with transaction.atomic():
        if Project.objects.filter(slug=SLUG).exists():
            return False
        project = create_project("Demo: six languages", SEAHORSE, slug=SLUG)
        project.description = "Invented articles and systems of different quality, to try things out."
        project.licence = "apache-2.0"
        project.extra_share, project.extra_redundancy = 0.3, 3
        project.daily_goal, project.gold_round_size, project.gold_retry_size = 20, 6, 4
        project.gold_threshold = 0.7
        project.save()
        import_demo_file(project, "examples", FOLDER / "examples.jsonl")
        import_demo_file(project, "gold", FOLDER / "gold.jsonl")
        import_demo_file(project, "ratings", FOLDER / "ratings.csv", map=["group==demo"])
        _spread_ratings(project)
        project.bump_revision()
        add_people(project, LANGUAGES)
        publish_guidelines(project)
        return True


def import_demo_file(project: Project, format_name: str, path: Path, **options: object) -> None:
    """Import a file that is known to be valid."""
    report = import_file(project, open_import(format_name, path, options=options))
    if report.refused:
        raise RuntimeError(f"{path.name}: {report.refused} {report.problems}")


def _spread_ratings(project: Project) -> None:
    """Spread the imported ratings evenly over the days before now."""
    ratings = list(Rating.objects.filter(rater__project=project).order_by("pk"))
    now = timezone.now()
    for position, rating in enumerate(ratings):
        rating.completed_at = now - timedelta(days=DAYS_OF_WORK) * (1 - position / len(ratings))
        rating.created_at = rating.completed_at - timedelta(seconds=90)
    Rating.objects.bulk_update(ratings, ["created_at", "completed_at"])
    begun = Rating.objects.filter(pk=OuterRef("rating")).values("created_at")
    Answer.objects.filter(rating__in=ratings).update(created_at=Subquery(begun))


def publish_guidelines(project: Project) -> None:
    """Publish Touchstone's guidelines, confirmed by the raters who have a login."""
    manager = User.objects.get(memberships__project=project, memberships__role=Role.MANAGER)
    draft = start_draft(project, manager, project.default_language, starting_text(project, SHIPPED))
    version = publish_draft(project, manager, draft.language, draft.saves)
    for rater in project.raters.filter(user__isnull=False):
        confirm_guidelines(rater, [version.pk])


def add_people(project: Project, languages: list[str]) -> None:
    """Give the demo's accounts their roles in the project."""
    for role in (Role.MANAGER, Role.RESEARCHER):
        Membership.objects.create(project=project, user=make_demo_user(f"demo-{role}"), role=role)
    qualified = make_demo_user("demo-annotator")
    rater = Rater.objects.create(
        project=project, user=qualified, pseudonym="rater-1", languages=languages, chosen_language="en"
    )
    manager = User.objects.get(memberships__project=project, memberships__role=Role.MANAGER)
    for language in languages:
        qualify_rater(rater, manager, language)
    newcomer = make_demo_user("demo-newcomer")
    Rater.objects.create(project=project, user=newcomer, pseudonym="rater-2", languages=["en"])
