"""The articles of a project that an evaluator has seen, under whatever id, or may have seen."""

from collections.abc import Collection, Mapping
from contextlib import suppress

from annotation.database.portions import portions
from annotation.models import Article, Project
from scoring.contract.evaluator import Evaluator
from scoring.contract.seen import EVERY_DIMENSION, Seen
from scoring.evaluators.published_training import training_warnings
from scoring.inputs.items import CHUNK
from scoring.models import SeenArticle, SeenText, Setup
from scoring.weights.model_card import ModelCard, read_card
from scoring.weights.model_files import MissingWeights, locate


def seen_articles(project: Project, seen: Seen) -> frozenset[int]:
    """Return the primary keys of the project's articles that were seen in any dimension, under any id."""
    of_project = Article.objects.filter(project=project)
    found: set[int] = set()
    for external_ids in portions(sorted(seen.all_article_ids), CHUNK):
        found.update(of_project.filter(external_id__in=external_ids).values_list("pk", flat=True))
    for digests in portions(sorted(seen.all_text_digests), CHUNK):
        found.update(of_project.filter(text_digest__in=digests).values_list("pk", flat=True))
    return frozenset(found)


def warnings_of(project: Project, evaluator: Evaluator) -> list[str]:
    """Return what is known of published models that may have seen articles of the project."""
    datasets = Article.objects.filter(project=project).exclude(dataset="").values_list("dataset", flat=True)
    models = list(evaluator.models_for(evaluator.params).values())
    bases = [card.base_model for model in models if (card := _card(model))]
    return list(training_warnings([*models, *bases], set(datasets.distinct())))


def _card(model: str) -> ModelCard | None:
    with suppress(MissingWeights):
        return read_card(locate(model))
    return None


def store_seen(setup: Setup, evaluator: Evaluator) -> None:
    """Store what the setup's evaluator has seen, and mark these articles of its project.

    An article seen in all dimensions of the evaluator is stored once, as seen in every one.
    """
    seen, reason = evaluator.seen, evaluator.seen_reason
    for dimension, digests in _once_for_all(seen.text_digests, evaluator.dimensions).items():
        SeenText.objects.bulk_create(
            (
                SeenText(
                    setup=setup,
                    text_digest=digest,
                    dimension=dimension,
                    role=seen.roles.get(digest, reason),
                )
                for digest in sorted(digests)
            ),
            batch_size=CHUNK,
            ignore_conflicts=True,
        )
    for dimension, ids in _once_for_all(seen.article_ids, evaluator.dimensions).items():
        for external_ids in portions(sorted(ids), CHUNK):
            articles = Article.objects.filter(project=setup.project, external_id__in=external_ids)
            SeenArticle.objects.bulk_create(
                (
                    SeenArticle(setup=setup, article_id=pk, dimension=dimension, role=reason)
                    for pk in articles.values_list("pk", flat=True)
                ),
                ignore_conflicts=True,
            )
    mark_seen_articles(setup.project)


def _once_for_all(
    by_dimension: Mapping[str, frozenset[str]], dimensions: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the same, with what is in all of `dimensions` under EVERY_DIMENSION alone."""
    in_each = [by_dimension.get(dimension, frozenset()) for dimension in dimensions]
    everywhere = by_dimension.get(EVERY_DIMENSION, frozenset())
    if in_each:
        everywhere |= frozenset.intersection(*in_each)
    return {
        EVERY_DIMENSION: everywhere,
        **{name: found - everywhere for name, found in by_dimension.items() if name != EVERY_DIMENSION},
    }


def count_as_seen(setup: Setup, articles: Collection[int], role: str) -> None:
    """Store that these articles (primary keys) shaped the setup, and mark others with the same text."""
    for ids in portions(sorted(articles), CHUNK):
        digests = (
            Article.objects.filter(pk__in=ids).exclude(text_digest="").values_list("text_digest", flat=True)
        )
        SeenText.objects.bulk_create(
            (SeenText(setup=setup, text_digest=digest, role=role) for digest in digests.distinct()),
            ignore_conflicts=True,
        )
        SeenArticle.objects.bulk_create(
            (SeenArticle(setup=setup, article_id=pk, role=role) for pk in ids), ignore_conflicts=True
        )
    mark_seen_articles(setup.project)


def mark_seen_articles(project: Project) -> None:
    """Mark the project's articles whose text one of its setups has seen, as after an import."""
    of_project = Article.objects.filter(project=project)
    seen = SeenText.objects.filter(setup__project=project, text_digest__in=of_project.values("text_digest"))
    for rows in portions(seen.values_list("setup", "text_digest", "dimension", "role"), CHUNK):
        articles: dict[str, list[int]] = {}
        same_text = of_project.filter(text_digest__in={digest for _, digest, *_ in rows})
        for digest, pk in same_text.values_list("text_digest", "pk"):
            articles.setdefault(digest, []).append(pk)
        SeenArticle.objects.bulk_create(
            (
                SeenArticle(setup_id=setup, article_id=pk, dimension=dimension, role=role)
                for setup, digest, dimension, role in rows
                for pk in articles.get(digest, ())
            ),
            ignore_conflicts=True,
        )
