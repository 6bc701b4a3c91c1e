"""A campaign with people and evaluators at work, made by the application's own functions."""

from dataclasses import dataclass
from decimal import Decimal

from django.core.files.base import ContentFile

from annotation.adjudication.decisions import DecidedAnswer, decide_answers
from annotation.models import Assignment, ImportJob, Project, Rater, Rating, Summary
from annotation.people.members import remove_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.reopening import reopen_rating
from annotation.rating.voiding import void_rating
from annotation.summaries.withdrawing import withdraw_summary
from scoring.inputs.seen_articles import count_as_seen
from scoring.models import Run, StoredReply
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.annotation.rating.rating_steps import at_stage
from tests.campaigns import finish_check, start_and_fail_round
from tests.factories import make_gold, make_member, make_project, make_rater, make_summary


@dataclass
class SoundCampaign:
    project: Project
    finished: Rating
    """It counts, and its summary wants no other."""
    unfinished: Assignment
    """At the third stage."""
    withdrawn: Summary
    idle: Rater
    """Qualified, without a summary."""
    run: Run
    job: ImportJob
    """It waits for a worker."""


def make_sound_campaign() -> SoundCampaign:
    project = make_project(gold_round_size=1)
    manager = make_member(project, "manager")
    summaries = [make_summary(project) for _ in range(8)]
    make_gold(project)
    ann, bob, eve, dan, idle = (make_rater(project) for _ in range(5))
    finished = _finish(ann)
    finish_check(ann)
    unfinished = at_stage(_taken(ann), 3)
    reopen_rating(bob, _finish(bob).pk)
    _finish(eve)
    remove_rater(eve, "Answers at random.")
    void_rating(project, manager, _finish(dan).pk, "The wrong town.")
    start_and_fail_round(make_rater(project, status=Rater.Status.TRAINING))
    withdraw_summary(project, manager, summaries[-1].pk)
    decided = {"grammar": DecidedAnswer("yes", "We agreed.")}
    decide_answers(project, manager, finished.summary_id, decided)
    run = plan_run(project, "length", {})
    work_on_run(run.pk)
    Run.objects.filter(pk=run.pk).update(spent=Decimal("0.5"))
    StoredReply.objects.create(project=project, request="0" * 64, run=run, cost=Decimal("0.5"))
    count_as_seen(run.setup, [summaries[0].article_id], "in-context example")
    job = ImportJob.objects.create(
        project=project,
        created_by=manager,
        format="examples",
        file=ContentFile(b"{}", name="waiting.jsonl"),
        file_name="waiting.jsonl",
    )
    return SoundCampaign(project, finished, unfinished, summaries[-1], idle, run, job)


def _taken(rater: Rater) -> Assignment:
    assignment = take_assignment(rater)
    assert assignment is not None
    return assignment


def _finish(rater: Rater) -> Rating:
    return Rating.objects.get(assignment=at_stage(_taken(rater), 4))
