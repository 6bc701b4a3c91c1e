"""Projects with summaries for a language model to judge, and runs of ICE over them."""

from decimal import Decimal

from annotation.models import Article, Project, Summary
from scoring.models import Endpoint, EndpointModel, Run
from scoring.runs.planning import RunPlan, plan, start
from tests.factories import make_project, make_rater, make_summary, make_system
from tests.metaeval.rated_projects import rate
from tests.scoring.scripted_endpoint import ScriptedEndpoint

MODEL = "judge-1"


def asking_project(summaries: int) -> Project:
    """Create a project with one rated example and `summaries` others, each of its own article."""
    project = make_project()
    rate(make_summary(project, text="The example."), make_rater(project), attribution="yes")
    make_summaries(project, summaries)
    return project


def make_summaries(project: Project, number: int) -> None:
    """Create "Summary number 0." and so on in a few statements, each of its own article."""
    system = make_system(project)
    names = [f"Summary number {each}" for each in range(number)]
    articles = Article.objects.bulk_create(
        Article(project=project, external_id=name, language="en", title=name, text=f"The article of {name}.")
        for name in names
    )
    Summary.objects.bulk_create(
        Summary(
            project=project,
            article=article,
            system=system,
            text=f"{name}.",
            shuffle_key=place,
            ratings_wanted=1,
            open_places=1,
        )
        for place, (name, article) in enumerate(zip(names, articles, strict=True))
    )


def asking_plan(project: Project, endpoint: ScriptedEndpoint, **params: object) -> RunPlan:
    """Plan a run of ICE that sends one request for each summary except the example."""
    given = {
        "model": MODEL,
        "base_url": endpoint.base_url,
        "dimensions": ["attribution"],
        "examples": 1,
        "pool_articles": 1,
        **params,
    }
    return plan(project, "ice", given, by_operator=True)


def asking_run(project: Project, endpoint: ScriptedEndpoint, **params: object) -> Run:
    return start(asking_plan(project, endpoint, **params))


def price(project: Project, endpoint: ScriptedEndpoint, inputs: str, outputs: str) -> EndpointModel:
    """Set the model's prices in US dollars per million tokens of prompts and of replies."""
    there, _ = Endpoint.objects.get_or_create(project=project, base_url=endpoint.base_url)
    model, _ = EndpointModel.objects.update_or_create(
        endpoint=there,
        name=MODEL,
        api="chat",
        defaults={"input_price": Decimal(inputs), "output_price": Decimal(outputs)},
    )
    return model
