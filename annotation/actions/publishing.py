"""Opening a project's results to anybody, read-only, and closing them again."""

from django.utils import timezone

from annotation.models import Project
from annotation.permissions import Permission, Person, require


def publish_results(project: Project, user: Person) -> None:
    """Let anybody read agreement and meta-evaluation, from now until `unpublish_results`.

    What is published already stays so since when it was. Raises NotAllowed or NotFound unless `user` manages
    the project.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    hidden = Project.objects.filter(pk=project.pk, results_published_at__isnull=True)
    hidden.update(results_published_at=timezone.now())


def unpublish_results(project: Project, user: Person) -> None:
    """Close the results to all but members, with the next request of anybody. Raises as `publish_results`."""
    require(user, project, Permission.MANAGE_PROJECT)
    Project.objects.filter(pk=project.pk).update(results_published_at=None)
