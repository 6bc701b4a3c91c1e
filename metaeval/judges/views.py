"""Pages of judges: the list with the split of labels, one judge, its trials and openings."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods, require_safe

from annotation.errors import DomainError
from annotation.models import Project
from annotation.permissions import Permission, permissions_of
from annotation.web.form_refusals import add_refusal
from annotation.web.navigation import open_project
from annotation.web.request_types import SignedInRequest
from metaeval.charts import Measured, interval_dots
from metaeval.judges.figures import MEASURES, RESAMPLING
from metaeval.judges.forms import SplitForm, TrialForm
from metaeval.judges.report import JudgeChoices, JudgeReport, judge_report
from metaeval.judges.trials import open_sealed, plan_of, plan_to_open, try_version
from metaeval.judges.versions import judge_of, version_of
from metaeval.live.choices import Control
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.result import each_once
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators.catalogue import asking_evaluators
from scoring.models import Judge, JudgeVersion, Run
from scoring.runs.estimates import estimate
from scoring.runs.planning import RunPlan
from scoring.runs.progress import progress_of_runs
from scoring.sealed_labels.label_parts import LabelPart, Shares
from scoring.sealed_labels.seal import openings_of
from scoring.sealed_labels.split import counts_of, is_fixed, set_split, shares_of, split_of

MOST_ROWS = 20
"""The chart shows the latest versions; the table shows all."""


@dataclass(frozen=True, eq=False)
class JudgePage:
    report: JudgeReport
    controls: Sequence[Control]

    @property
    def chart(self) -> SafeString | None:
        """The chart of versions in order, with intervals and the human ceiling."""
        report = self.report
        drawn = [
            Measured.of(f"v{row.version.number}", row.tuning) for row in report.rows if row.tuning is not None
        ][-MOST_ROWS:]
        if report.question is None or report.measured is None or not drawn:
            return None
        if report.baseline:
            drawn.append(Measured.of(*report.baseline))
        ceiling = report.measured.ceiling
        return mark_safe(  # noqa: S308 - charts escape all names
            interval_dots(
                drawn,
                title=f"Agreement of {report.judge.name} with people by version, {report.question.title}",
                value_title=f"{self.measure}, tuning part",
                zero=ceiling.value if ceiling else None,
                zero_title=f"one rater {ceiling.value:.3f}" if ceiling else "",
            )
        )

    @property
    def measure(self) -> str:
        return MEASURES[self.report.choices.measure]

    @property
    def bias(self) -> float | None:
        """The bias of the best version; None if unknown."""
        return None if math.isnan(self.report.best_of_many_bias) else self.report.best_of_many_bias

    @property
    def snapshot(self) -> Snapshot:
        return self.report.snapshot

    @property
    def looks(self) -> str:
        """Return 'one' if the page shows intervals, which are for a single look; empty without any."""
        shown = [estimate for row in self.report.rows for estimate in (row.tuning, row.sealed)]
        shown += [estimate for _, estimate in self.report.compared_with]
        return "one" if any(each and each.interval and not each.interval.reason for each in shown) else ""

    @property
    def definitions(self) -> list[str]:
        """Return the definitions of all numbers on the page, each sentence once."""
        measured = self.report.measured
        if measured is None:
            return []
        estimates = [*measured.tuning.estimates.values(), *measured.sealed.values()]
        estimates += [measured.ceiling] if measured.ceiling else []
        found = [measured.tuning.labels.definition]
        for each in estimates:
            found.append(each.definition)
            if each.interval:
                found.append(each.interval.definition)
        if self.bias is not None:
            found.append(
                f"Bias of the best version: the versions' values in {RESAMPLING.resamples:,} common resamples"
                " are shifted to the same mean, as if all were equally good; the mean over resamples of the"
                " highest one."
            )
        if self.snapshot.is_live and self.looks:
            found.append("Intervals are for a single look at the ratings.")
        return each_once(found)


def judge_page(report: JudgeReport) -> JudgePage:
    question = report.question
    controls = [Control("measure", "Measure", list(MEASURES.items()), report.choices.measure)]
    if question is not None:
        questions = [(each.key, each.title) for each in report.questions]
        controls.insert(0, Control("question", "Question", questions, question.key))
    return JudgePage(report, controls)


PROPOSED = Shares(seed=0, pool=0.2, tuning=0.4)


@require_http_methods(["GET", "HEAD", "POST"])
def judges(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the judges and the split of labels; for htmx preview the split."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    split = split_of(project)
    shares = shares_of(split) if split else PROPOSED
    form = SplitForm(request.POST if request.method == "POST" else None, initial=_in_percent(shares))
    if form.is_valid():
        shares = form.shares
        if not request.htmx:
            try:
                set_split(project, request.user, shares)
                messages.success(request, "Labels split.")
            except DomainError as error:
                messages.warning(request, str(error))
            return redirect("judges", slug)
    context = {
        "split": split,
        "form": form,
        "is_fixed": is_fixed(project),
        "parts": counts_of(project, shares),
        "judges": _judges(project),
        "openings": openings_of(project),
        "evaluators": asking_evaluators(),
    }
    template = "metaeval/judges/judges.html#parts" if request.htmx else "metaeval/judges/judges.html"
    return render(request, template, context, status=422 if form.errors and not request.htmx else 200)


@require_safe
def judge(request: SignedInRequest, slug: str, judge_id: int) -> HttpResponse:
    """Show a judge with its versions; for polling only the running trials."""
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    found = judge_of(project, judge_id)
    if request.htmx and "progress" in request.GET:
        running = _running(found)
        response = render(
            request, "metaeval/judges/judge.html#progress", {"judge": found, "running": running}
        )
        if not running:
            response["HX-Refresh"] = "true"
        return response
    report = judge_report(project, snapshot_of(project), found, JudgeChoices.read(request.GET))
    split = split_of(project)
    context = {
        "judge": found,
        "page": judge_page(report),
        "report": report,
        "rows": list(reversed(report.rows)),
        "running": _running(found),
        "split": split,
        "parts": counts_of(project, shares_of(split)) if split else (),
        "openings": openings_of(project),
    }
    return render(request, "metaeval/judges/judge.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def judge_try(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Show what a trial on the tuning part would send, then start it."""
    version = _version(request, slug, judge_id, number)
    plan = partial(plan_of, version, LabelPart.TUNING)
    done = f"Trial of {version} started."
    return _confirmed(request, version, try_version, plan, "metaeval/judges/try.html", done)


@require_http_methods(["GET", "HEAD", "POST"])
def sealed_open(request: SignedInRequest, slug: str, judge_id: int, number: int) -> HttpResponse:
    """Ask for confirmation, then open the sealed part for the version."""
    version = _version(request, slug, judge_id, number)
    project = version.judge.project
    split = split_of(project)
    sealed = counts_of(project, shares_of(split)) if split else ()
    further = {
        "sealed": next((each for each in sealed if each.part == LabelPart.SEALED), None),
        "openings": openings_of(project),
    }
    plan, done = partial(plan_to_open, version), f"Sealed part opened for {version}."
    return _confirmed(
        request, version, open_sealed, plan, "metaeval/judges/sealed_open.html", done, **further
    )


def _confirmed(
    request: SignedInRequest,
    version: JudgeVersion,
    start: Callable[[JudgeVersion, User, Decimal | None], object],
    plan: Callable[[], RunPlan],
    template: str,
    done: str,
    **further: object,
) -> HttpResponse:
    """Show the plan with its budget, then start it and return to the judge."""
    judge = version.judge
    form = TrialForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            start(version, request.user, form.cleaned_data["budget"])
            messages.success(request, done)
            return redirect("judge", judge.project.slug, judge.pk)
        except (InvalidRun, RunBusy) as error:
            add_refusal(form, str(error))
    context = {"version": version, "judge": judge, "form": form, **_before_sending(request, plan), **further}
    return render(request, template, context, status=422 if form.errors else 200)


def _before_sending(request: SignedInRequest, planned: Callable[[], RunPlan]) -> dict[str, object]:
    """Return the plan with its estimate and three prompts, or the reason for a refusal.

    Prompts hold labels, so they are not for people who may not see raters' answers.
    """
    try:
        found = planned()
    except (InvalidRun, RunBusy) as error:
        return {"refusal": str(error)}
    sees_labels = Permission.SEE_TEXTS_AND_RATINGS in permissions_of(request.user, found.project)
    return {"plan": found, "estimate": estimate(found), "prompts_shown": sees_labels}


def _version(request: SignedInRequest, slug: str, judge_id: int, number: int) -> JudgeVersion:
    project = open_project(request, slug, Permission.MANAGE_RUNS)
    return version_of(judge_of(project, judge_id), number)


def _judges(project: Project) -> list[dict[str, object]]:
    found = Judge.objects.filter(project=project).prefetch_related("versions__trials", "versions__openings")
    return [
        {
            "judge": each,
            "versions": len(each.versions.all()),
            "tried": sum(bool(version.trials.all()) for version in each.versions.all()),
            "opened": sum(len(version.openings.all()) for version in each.versions.all()),
        }
        for each in found
    ]


def _running(judge: Judge) -> list[dict[str, object]]:
    """Return the running trials and openings of its versions."""
    trials = Run.objects.of_scores().filter(setup__trials__version__judge=judge)
    runs = list(trials.filter(status__in=Run.UNFINISHED).distinct().select_related("setup"))
    progress = progress_of_runs(runs)
    return [{"run": run, "progress": progress[run.pk]} for run in runs]


def _in_percent(shares: Shares) -> dict[str, int]:
    return {"pool": round(100 * shares.pool), "tuning": round(100 * shares.tuning), "seed": shares.seed}
