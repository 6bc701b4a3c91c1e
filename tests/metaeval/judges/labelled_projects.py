"""Projects with labels in three parts, and judges that ask a scripted endpoint."""

from annotation.models import Answer, Rating
from metaeval.judges.versions import create_judge
from scoring.runs.worker import work_on_run
from scoring.sealed_labels.label_parts import LabelPart, Shares
from scoring.sealed_labels.split import articles_in, set_split, split_of
from tests.factories import make_member, make_project, make_rater
from tests.metaeval.rated_projects import RATED_AT, UNIT_LABELS, make_summaries

SHARES = Shares(seed=0, pool=0.3, tuning=0.4)


def make_labelled(articles=20):
    """Create a rated project, in which s1 writes better summaries than s0, and its researcher."""
    project = make_project(UNIT_LABELS)
    rater = make_rater(project)
    made = make_summaries(project, [f"a{n}" for n in range(articles)], ["s0", "s1"])
    ratings = Rating.objects.bulk_create(
        Rating(summary=summary, rater=rater, created_at=RATED_AT, completed_at=RATED_AT) for summary in made
    )
    question = project.questionnaire.questions.get(key="coherence")
    Answer.objects.bulk_create(
        Answer(rating=rating, question=question, value=str(label_of(place)), created_at=RATED_AT)
        for place, rating in enumerate(ratings)
    )
    project.bump_revision()
    return project, make_member(project, "researcher")


def label_of(place):
    """Return the label of the summary at this position, from 0 to 0.7."""
    return round(place % 2 / 2 + place // 2 % 5 / 20, 3)


def make_judge(project, user, endpoint=None, name="Coherence", **params):
    base_url = endpoint.base_url if endpoint else "http://127.0.0.1:9/v1"
    given = {"model": "scripted", "dimensions": "coherence", "base_url": base_url, **params}
    return create_judge(project, user, name, "ice", given)


def articles_of(project, *parts):
    return articles_in(split_of(project), parts or list(LabelPart))


def split(project, user):
    return set_split(project, user, SHARES)


def finish(run):
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    assert run.status == run.Status.DONE, run.failure
    return run
