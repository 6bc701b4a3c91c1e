"""Estimates of a run's duration, from a trial of the evaluator on a few summaries."""

import logging
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.database.wake_ups import send_task
from annotation.declared.settings import settings_as_json
from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidRun
from scoring.inputs.items import EVERYTHING, Selection, items_of
from scoring.models import Probe
from scoring.runs.planning import RunPlan, plan
from scoring.runs.worker import evaluator_of, score_items
from scoring.workers.wake_ups import queue_of

SIZE = 16
"""Summaries to try, spread evenly over those of the run."""
KEPT_FOR = timedelta(days=1)
TOLD_FOR = timedelta(minutes=10)
"""Seconds for which previews of the same run show the result; the load of the machine changes."""
PATIENCE_S = 120.0
"""Seconds that a probe waits for a worker before it is dropped."""

logger = logging.getLogger(__name__)


def start_probe(
    project: Project,
    evaluator_name: str,
    given: Mapping[str, Any],
    user: User,
    selection: Selection = EVERYTHING,
) -> Probe:
    """Have a worker try the evaluator on SIZE of the summaries that a run would score.

    Raises InvalidRun as `plan`, if nothing is left to score, and for hosted models; also as `require`.
    """
    require(user, project, Permission.MANAGE_RUNS)
    planned = plan(project, evaluator_name, given, selection)
    if planned.evaluator.queue_for(planned.evaluator.params) == "llm":
        raise InvalidRun("Time estimates are not available for hosted models, since requests may cost money.")
    if not planned.to_score:
        raise InvalidRun("There is nothing to score.")
    step = max(1, len(planned.to_score) // SIZE)
    with transaction.atomic():
        Probe.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
        probe = Probe.objects.create(
            project=project,
            evaluator=planned.evaluator.name,
            params=settings_as_json(planned.evaluator.params),
            fingerprint=planned.fingerprint,
            pool=planned.pool,
            corpus=planned.corpus,
            summary_ids=planned.to_score[::step][:SIZE],
            total=len(planned.to_score),
            started_by=user,
        )
        send_task("work_on_probe", probe.pk, queue_of(probe), PATIENCE_S)
    return probe


def probe_of(project: Project, probe_id: int) -> Probe:
    """Return the project's probe with this id. Raises NotFound."""
    probe = Probe.objects.filter(project=project, pk=probe_id).first()
    if probe is None:
        raise NotFound("This estimate has expired. Start a new one.")
    return probe


def latest_probe(planned: RunPlan) -> Probe | None:
    """Return the latest probe of the planned run that is recent and not overdue; else None."""
    tried = Probe.objects.filter(
        project=planned.project,
        fingerprint=planned.fingerprint,
        total=len(planned.to_score),
        created_at__gt=timezone.now() - TOLD_FOR,
    )
    latest = tried.order_by("-pk").first()
    return None if latest is None or is_overdue(latest) else latest


def seconds_expected(probe: Probe) -> float | None:
    """Return the run's expected duration on one worker process; None if the probe has no result."""
    if probe.loading_s is None or probe.scoring_s is None:
        return None
    return probe.loading_s + probe.scoring_s / len(probe.summary_ids) * probe.total


def is_overdue(probe: Probe) -> bool:
    """Return whether no worker has answered the probe in time."""
    return probe.ended_at is None and timezone.now() - probe.created_at > timedelta(seconds=PATIENCE_S)


def work_on_probe(probe_id: int) -> None:
    """Load the evaluator on a worker, score one summary to warm up, then time all of them."""
    probe = Probe.objects.select_related("project").filter(pk=probe_id, ended_at=None).first()
    if probe is None:
        return
    try:
        began = time.monotonic()
        evaluator = evaluator_of(probe)
        items = items_of(probe.summary_ids, evaluator.needs_for(evaluator.params), evaluator.members)
        first = next(iter(items))
        score_items(evaluator, {first: items[first]})
        ready = time.monotonic()
        score_items(evaluator, items)
        probe.loading_s, probe.scoring_s = ready - began, time.monotonic() - ready
    except EvaluatorError as error:
        probe.failure = str(error)
    except Exception as error:
        logger.exception("Probe %s failed.", probe_id)
        probe.failure = f"Unexpected {type(error).__name__} (the worker's log has the details)"
    probe.ended_at = timezone.now()
    probe.save(update_fields=["loading_s", "scoring_s", "failure", "ended_at"])
