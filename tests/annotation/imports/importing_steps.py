"""Steps of import tests: load a file and read the stored rows."""

from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import open_import
from annotation.models import (
    Answer,
    Article,
    GoldRating,
    Project,
    Rater,
    Rating,
    Summary,
    System,
)
from tests.import_files import jsonl

RATINGS = "article_id,system,rater,question,value,summary,language"


def load(
    project, format_name, path, *, companion=None, dry_run=False, skip_bad=False, rejected_to=None, **options
):
    project.refresh_from_db()
    importer = open_import(format_name, path, companion=companion, options=options)
    return import_file(project, importer, dry_run=dry_run, skip_bad=skip_bad, rejected_to=rejected_to)


def new_counts(report):
    return {what: tally.new for what, tally in report.counts.items() if tally.new}


def row_counts(project):
    """Return how many rows of each kind there are."""
    return (
        Article.objects.filter(project=project).count(),
        System.objects.filter(project=project).count(),
        Summary.objects.filter(project=project).count(),
        Rater.objects.filter(project=project).count(),
        Rating.objects.filter(rater__project=project).count(),
        Answer.objects.filter(rating__rater__project=project).count(),
        GoldRating.objects.filter(summary__project=project).count(),
    )


def revision(project):
    return Project.objects.values_list("revision", flat=True).get(pk=project.pk)


def sheet(rating):
    return dict(rating.answers.current().values_list("question__key", "value"))


def articles_file(tmp_path, *ids):
    return jsonl(tmp_path / "articles.jsonl", *({"id": name, "article": f"Text of {name}."} for name in ids))
