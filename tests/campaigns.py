"""A project with users in every role, texts, ratings, gold, runs, judges and an import.

Each text that is hidden from some role contains the campaign's mark and its kind, so that tests can search
for it in every response.
"""

from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from django.utils.text import slugify

from annotation.adjudication.decisions import DecidedAnswer, decide_answers
from annotation.correspondence.messages import write_to_managers, write_to_rater
from annotation.gold.rounds import next_in_round, start_round
from annotation.guidelines.following import confirm_guidelines
from annotation.guidelines.versions import save_draft, start_draft
from annotation.models import (
    Answer,
    Article,
    ArticleFlag,
    Assignment,
    GoldRating,
    ImportJob,
    Membership,
    Project,
    Question,
    Rater,
    Rating,
    Summary,
)
from annotation.people.api_tokens import issue_api_token
from annotation.people.invitations import invite
from annotation.people.members import remove_rater
from annotation.people.own_sessions import session_id
from annotation.rating.assigning import take_assignment
from annotation.rating.submitting import GivenAnswer
from annotation.summaries.withdrawing import withdraw_summary
from metaeval.experiments.starting import experiment_of_setups
from metaeval.judges.versions import create_judge
from metaeval.preregistrations.registering import Statement, preregister
from scoring.dimensions.project_dimensions import add_dimension
from scoring.endpoints.endpoint_admin import add_endpoint, add_model
from scoring.endpoints.keys import set_key
from scoring.models import (
    CurveModel,
    LearningCurve,
    RegisteredModel,
    Run,
    Score,
    Setup,
    Training,
    TrainingPoint,
)
from scoring.runs.planning import plan_run
from scoring.runs.probing import start_probe
from scoring.runs.worker import work_on_run
from scoring.webhooks.managing import add_webhook, send_test
from tests.annotation.rating.rating_steps import submit_stage
from tests.factories import (
    make_article,
    make_gold,
    make_project,
    make_rater,
    make_summary,
    make_system,
    make_user,
    publish_guidelines,
)

NO = {"comprehensibility": GivenAnswer("no")}
"""Answers that end a SEAHORSE rating at its first stage, before the article is shown."""

SCORE = "0.8675309"
"""The score of every summary in the run."""


@dataclass
class Campaign:
    """A project, its users by role and the arguments of its addresses.

    `ids` suit most addresses; `special` has other arguments for single addresses, by name.
    """

    mark: str
    project: Project
    users: dict[str, User]
    ids: dict[str, int | str]
    special: dict[str, dict[str, int | str]]

    def ids_for(self, name: str) -> dict[str, int | str]:
        return {**self.ids, **self.special.get(name, {})}


def make_campaign(mark: str) -> Campaign:
    project = make_project(name=f"{mark} campaign", gold_round_size=1, check_feedback=True)
    users = {role: make_user(f"{mark}-{role}-name") for role in ("manager", "researcher")}
    members = {
        role: Membership.objects.create(project=project, user=user, role=role) for role, user in users.items()
    }
    raters = {
        "trainee": make_rater(project, user=make_user(f"{mark}-trainee-name"), status=Rater.Status.TRAINING),
        "annotator": make_rater(project, user=make_user(f"{mark}-annotator-name")),
        "removed": make_rater(project, user=make_user(f"{mark}-removed-name")),
    }
    guidelines = publish_guidelines(project, "## Grammatical\nRead it twice.\n\n### Yes\n> Ships waited.")
    for rater in raters.values():
        confirm_guidelines(rater, [guidelines.pk])
    remove_rater(raters["removed"])
    users |= {role: rater.user for role, rater in raters.items()}

    gold = make_gold(
        project,
        article=make_article(project, title=f"{mark}-title", text=f"{mark}-article of the gold set."),
        system=make_system(project, f"{mark}-system"),
    )
    gold.answers.update(explanation=f"{mark}-explanation")
    retired = make_gold(project)
    retired.retired_at = timezone.now()
    retired.save()
    start_and_fail_round(raters["trainee"])
    summaries = [_summary(project, mark, text) for text in ("The harbour froze.", "Ships waited.")]
    check = finish_check(raters["annotator"])
    finished = finish_rating(raters["annotator"])
    open_assignment = take_assignment(raters["annotator"])
    colleague = make_rater(project, user=None, pseudonym=f"{mark}-pseudonym")
    add_rating(summaries[0], colleague, f"{mark}-comment")
    decided = {"comprehensibility": DecidedAnswer("no", f"{mark}-decision")}
    decide_answers(project, users["manager"], summaries[0].pk, decided)

    flag = ArticleFlag.objects.create(assignment=finished.assignment, reason=f"{mark}-flag")
    write_to_managers(raters["annotator"].user, raters["annotator"], "Which question is meant?")
    write_to_rater(users["manager"], raters["annotator"], "The second one.")
    reserved = make_rater(project, user=make_user(f"{mark}-reserved-name"), status=Rater.Status.SUSPENDED)
    write_to_managers(reserved.user, reserved, f"{mark}-message")
    run = plan_run(project, "length", {}, user=users["manager"])
    work_on_run(run.pk)
    Score.objects.filter(run=run).update(value=float(SCORE), explanation=f"{mark}-score")
    probe = start_probe(project, "copy_rate", {}, users["manager"])
    waiting = plan_run(project, "rouge", {"variant": "Lsum"}, user=users["manager"])
    both = [(run.setup_id, "length"), (waiting.setup_id, "overlap")]
    family = experiment_of_setups(project, users["manager"], "Length or overlap", "models", both)
    training = _failed_training(project, mark)
    curve = _learning_curve(project, mark, run.setup)
    registered = RegisteredModel.objects.create(
        project=project,
        name=f"{project.slug}-registered",
        source=f"{mark}-folder",
        status=RegisteredModel.Status.DONE,
        finished_at=timezone.now(),
    )
    asked = _scored_judge(project, summaries[0], f"{mark}-judge")
    version = create_judge(project, users["manager"], mark, "ice", {"model": "any"})
    stated = Statement("better", run.setup_id, waiting.setup_id, "comprehensibility", "pooled", "spearman")
    preregistered = preregister(project, users["manager"], stated)
    withdrawn = make_summary(project, ratings_wanted=1)
    withdraw_summary(project, users["manager"], withdrawn.pk)
    invitation, token = invite(project, "researcher", note=f"{mark}-note")
    job = checked_import(project, users["manager"], f"{mark}-file.jsonl")
    endpoint = add_endpoint(project, "https://llm.example/v1", users["manager"])
    set_key(endpoint, f"{mark}-api-key".replace(" ", ""), users["manager"])
    model = add_model(endpoint, "judge", "chat", users["manager"])
    webhook, _ = add_webhook(project, users["manager"], "https://hooks.example/", ["run.finished"])
    delivery = send_test(webhook, users["manager"])
    words = {"name": "focus", "description": f"{mark}-description?", "sees": "summary"}
    dimension = add_dimension(project, users["manager"], **words)
    draft = start_draft(project, users["manager"], "en", "")
    save_draft(project, users["manager"], "en", f"{mark}-draft", "Longer.", draft.saves)
    browser = Client()
    browser.force_login(users["manager"])
    ids: dict[str, int | str] = {
        "slug": project.slug,
        "assignment_id": open_assignment.pk,
        "rating_id": finished.pk,
        "flag_id": flag.pk,
        "question_key": "comprehensibility",
        "number": 1,
        "stage": 1,
        "language": "en",
        "summary_id": gold.summary_id,
        "rater_id": raters["annotator"].pk,
        "membership_id": members["researcher"].pk,
        "invitation_id": invitation.pk,
        "token": token,
        "uidb64": "MA",
        "user_id": users["annotator"].pk,
        "session_id": session_id(browser.session.session_key),
        "token_id": issue_api_token(users["manager"], "notebook")[0].pk,
        "judge_id": version.judge_id,
        "run_id": run.pk,
        "probe_id": probe.pk,
        "setup_id": run.setup_id,
        "experiment_id": family.pk,
        "preregistration_id": preregistered.pk,
        "training_id": training.pk,
        "curve_id": curve.pk,
        "model_name": registered.name,
        "job_id": job.pk,
        "format_name": "ratings",
        "endpoint_id": endpoint.pk,
        "model_id": model.pk,
        "webhook_id": webhook.pk,
        "delivery_id": delivery.pk,
        "dimension_id": dimension.pk,
    }
    special: dict[str, dict[str, int | str]] = {
        "summary": {"summary_id": summaries[0].pk},
        "summary_withdraw": {"summary_id": summaries[0].pk},
        "summary_restore": {"summary_id": withdrawn.pk},
        "adjudicate": {"summary_id": summaries[0].pk},
        "adjudication_withdraw": {"summary_id": summaries[0].pk},
        "disagreement_rerating": {"summary_id": summaries[0].pk},
        "rechecks_of_setup": {"setup_id": asked.pk},
        "recheck_start": {"setup_id": asked.pk},
        "recheck_schedule": {"setup_id": asked.pk},
        "check_review": {"rating_id": check.pk},
        "rater_qualify": {"rater_id": raters["trainee"].pk},
        "rater_allow_round": {"rater_id": raters["trainee"].pk},
        "rater_reinstate": {"rater_id": raters["removed"].pk},
        "rater_messages": {"rater_id": reserved.pk},
        "gold_restore": {"summary_id": retired.summary_id},
        "comparison_table": {"kind": "csv"},
        "across_projects_table": {"kind": "csv"},
        "across_projects_figure": {"name": "data-sets", "kind": "svg"},
        "agreement_table": {"kind": "csv"},
        "answers_table": {"name": "systems", "kind": "csv"},
        "systems_table": {"name": "scores", "kind": "csv"},
        "planning_table": {"kind": "csv"},
        "evaluator_card_table": {"kind": "csv"},
        "timeline_figure": {"name": "timeline", "kind": "svg"},
        "comparison_figure": {"name": "scatter", "kind": "svg"},
        "agreement_figure": {"name": "answers", "kind": "svg"},
        "evaluator_card_figure": {"name": "card-agreement", "kind": "svg"},
        "experiment_table": {"kind": "csv"},
        "experiment_csv": {"name": "systems"},
        "experiment_figure": {"name": "members", "kind": "svg"},
        "training_figure": {"name": "loss", "kind": "svg"},
        "learning_curve_table": {"kind": "csv"},
        "learning_curve_csv": {"name": "models"},
        "learning_curve_figure": {"name": "curve-comprehensibility", "kind": "svg"},
    }
    return Campaign(mark, project, users, ids, special)


def _failed_training(project: Project, mark: str) -> Training:
    """Return a training that failed after one step."""
    training = Training.objects.create(
        project=project,
        name=f"{slugify(mark)[:40]}-model",
        method="seahorse",
        status=Training.Status.FAILED,
        failure=f"{mark}-failure",
        finished_at=timezone.now(),
    )
    TrainingPoint.objects.create(training=training, step=1, epoch=1, loss=0.5)
    return training


def _learning_curve(project: Project, mark: str, setup: Setup) -> LearningCurve:
    """Return a learning curve with one model, which has scored as the setup."""
    articles = Article.objects.filter(project=project).values_list("text_digest", flat=True)
    curve = LearningCurve.objects.create(
        project=project, name=f"{mark} curve", method="seahorse", test_articles=list(articles)
    )
    training = Training.objects.create(
        project=project,
        name=f"{slugify(mark)[:40]}-curve-model",
        method="seahorse",
        status=Training.Status.DONE,
        finished_at=timezone.now(),
    )
    CurveModel.objects.create(
        curve=curve, training=training, share=1, seed=0, examples=3, setup=setup, is_handed_over=True
    )
    return curve


def _scored_judge(project: Project, summary: Summary, label: str) -> Setup:
    """Return a judge with one score. Its fingerprint is outdated, so it cannot run again."""
    setup = Setup.objects.create(
        project=project, evaluator="ice", params={"model": "any"}, label=label, fingerprint="0" * 64
    )
    run = Run.objects.create(setup=setup, status=Run.Status.DONE, total=1)
    Score.objects.create(setup=setup, run=run, summary=summary, dimension="focus", value=0.5)
    return setup


def _summary(project: Project, mark: str, text: str) -> Summary:
    return make_summary(
        project,
        text=text,
        article=make_article(project, title=f"{mark}-title", text=f"{mark}-article: {text} It was cold."),
        system=make_system(project, f"{mark}-system"),
        ratings_wanted=2,
    )


def checked_import(project: Project, user: User, name: str) -> ImportJob:
    """Return a finished dry run with a rejected row. Its files are in settings.MEDIA_ROOT."""
    job = ImportJob.objects.create(
        project=project,
        created_by=user,
        format="examples",
        file=ContentFile(b"{}", name="upload.jsonl"),
        file_name=name,
        status=ImportJob.Status.DONE,
        dry_run=True,
        skip_bad=True,
        finished_at=timezone.now(),
        report={"table": {"columns": ["id", "text"], "rows": [["1", "A text."]], "proposed": []}},
    )
    Path(f"{job.file.path}.{job.pk}.rejected.jsonl").write_text("{}\n")
    return job


def start_and_fail_round(rater: Rater) -> None:
    """Let the rater fail one round; they are still qualifying."""
    assignment = next_in_round(start_round(rater, "en"))
    assert assignment is not None
    submit_stage(rater, assignment.pk, 1, NO)


def finish_rating(rater: Rater) -> Rating:
    assignment = take_assignment(rater)
    assert assignment is not None
    return submit_stage(rater, assignment.pk, 1, NO).rating


def finish_check(rater: Rater) -> Rating:
    """Let the rater finish a hidden check of a gold summary that is then retired."""
    gold = make_gold(rater.project)
    now = timezone.now()
    assignment = Assignment.objects.create(
        rater=rater, summary=gold.summary, is_check=True, stage_opened_at=now, leased_until=now
    )
    rating = submit_stage(rater, assignment.pk, 1, NO).rating
    GoldRating.objects.filter(pk=gold.pk).update(retired_at=now)
    return rating


def add_rating(summary: Summary, rater: Rater, comment: str) -> None:
    now = timezone.now()
    rating = Rating.objects.create(summary=summary, rater=rater, created_at=now, completed_at=now)
    question = Question.objects.get(questionnaire=summary.project.questionnaire, key="comprehensibility")
    Answer.objects.create(rating=rating, question=question, value="yes", comment=comment, created_at=now)
