"""manage.py score: an evaluator over a project's summaries, or over a file without any database."""

import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.errors import DomainError
from annotation.management.named_project import named_project
from scoring.contract import EvaluatorError
from scoring.endpoints.estimates import Estimate, estimate, estimate_without_project
from scoring.endpoints.prices import in_dollars
from scoring.errors import RunBusy
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.items import Selection
from scoring.management.dry_run import dry_run
from scoring.models import Batch, Run
from scoring.planning import plan, start
from scoring.progress import progress_of, reasons_of
from scoring.progress_bar import ProgressBar
from scoring.score_file import prepared, score_file

FAILED_IN_PART, BAD_ARGUMENTS, INTERRUPTED = 1, 2, 130
LOOK_EVERY_S = 0.25
PATIENCE_S = 10
"""Seconds in which some worker should have taken up the run."""


class Command(BaseCommand):
    help = (
        "Run an evaluator over a project's summaries, on the workers, and show its progress until it ends; "
        "or over an examples file (--input, --output), here and now, without database or broker. "
        "Exit code 0: done, but for articles that the evaluator has learnt from; 1: failed in part, with the "
        "reasons listed, or paused; 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("evaluator", help="its name; manage.py evaluators lists them")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--input", type=Path, metavar="EXAMPLES", help="examples, JSONL")
        parser.add_argument("--output", type=Path, metavar="SCORES", help="scores, JSONL; with --input")
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter; can be repeated"
        )
        parser.add_argument(
            "--label-scale",
            nargs=2,
            type=float,
            metavar=("LOW", "HIGH"),
            help="with --input: lowest and highest label in the file (0 1), where labels are learnt from",
        )
        parser.add_argument(
            "--language",
            action="append",
            default=[],
            metavar="CODE",
            help="with --project: only summaries of articles in this language; can be repeated",
        )
        parser.add_argument(
            "--rated-only", action="store_true", help="with --project: only summaries that have a rating"
        )
        parser.add_argument(
            "--budget",
            type=_dollars,
            metavar="USD",
            help="with --project: what asking a model may cost at most; then the run pauses",
        )
        parser.add_argument(
            "--batch",
            action="store_true",
            help="with --project: hand the requests in together, by the endpoint's Batch API, to be answered "
            "within 24 hours, often at half the price",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="for evaluators that ask a model: print three prompts, requests, tokens, cost; send nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        given = _parameters(options["set"])
        if options["project"]:
            _refuse(options, ("output", "label_scale"), "--input")
            self._score_project(options, given)
        else:
            _refuse(options, ("language", "rated_only", "budget", "batch"), "--project")
            if options["dry_run"]:
                self._try_file(options, given)
                return
            if options["output"] is None:
                raise CommandError("--input needs --output, a file for the scores", returncode=BAD_ARGUMENTS)
            self._score_file(options, given)

    def _score_file(self, options: dict[str, Any], given: dict[str, str]) -> None:
        try:
            with ProgressBar(sys.stderr, unit="summaries") as bar:
                result = score_file(
                    options["evaluator"],
                    given,
                    options["input"],
                    options["output"],
                    label_scale=tuple(options["label_scale"] or (0.0, 1.0)),
                    announce=self._announce,
                    progress=lambda done, total: bar(options["evaluator"], done, total),
                )
        except (UnknownEvaluator, ValueError, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        except EvaluatorError as error:
            raise CommandError(f"{error} Nothing was written.", returncode=FAILED_IN_PART) from error
        self.stdout.write(f"{result.signature}\n{result.fingerprint}")
        if result.cut:
            self.stdout.write(
                f"{result.cut:,} summaries were judged without the end of some text, which the model's limit "
                "cut; shares_read in their lines says how much was read."
            )
        self._conclude(options["evaluator"], result.scored, result.total, result.reasons.items())

    def _score_project(self, options: dict[str, Any], given: dict[str, str]) -> None:
        project = named_project(options["project"])
        selection = Selection(tuple(options["language"]), options["rated_only"])
        try:
            planned = plan(project, options["evaluator"], given, selection, by_operator=True)
            self._announce(planned.foreseen)
            if options["dry_run"]:
                self._show(estimate(planned))
                return
            delivery = Run.Delivery.BATCH if options["batch"] else Run.Delivery.NOW
            run = start(planned, None, options["budget"], delivery)
        except RunBusy as error:
            raise CommandError(str(error), returncode=FAILED_IN_PART) from error
        except DomainError as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(f"Run {run.pk}: {run.setup.signature}")
        if run.reused:
            self.stdout.write(f"{run.reused:,} summaries had these scores already.")
        page = _page(run)  # Ctrl-C may break off a query, and with it the connection
        try:
            self._follow(run)
        except KeyboardInterrupt:
            self.stderr.write(f"The run goes on without this command; its page shows how far it is: {page}")
            sys.exit(INTERRUPTED)
        except Run.DoesNotExist:
            raise CommandError("The run was deleted.", returncode=FAILED_IN_PART) from None
        if run.status == Run.Status.CANCELLED:
            raise CommandError("The run was cancelled; finished scores are kept.", returncode=FAILED_IN_PART)
        self._tell_cost(run)
        if run.status == Run.Status.PAUSED:
            raise CommandError(
                f"The run is paused: {run.failure} Replies are kept. Its page takes another budget: {page}",
                returncode=FAILED_IN_PART,
            )
        if run.status == Run.Status.FAILED:
            raise CommandError(f"The run failed: {run.failure}", returncode=FAILED_IN_PART)
        if run.total:
            progress = progress_of(run)
            self._conclude(run.setup.evaluator, progress.scored, progress.total, reasons_of(run))

    def _try_file(self, options: dict[str, Any], given: dict[str, str]) -> None:
        scale = tuple(options["label_scale"] or (0.0, 1.0))
        try:
            evaluator, items = prepared(options["evaluator"], given, options["input"], scale)
        except (UnknownEvaluator, ValueError, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        except EvaluatorError as error:
            raise CommandError(str(error), returncode=FAILED_IN_PART) from error
        self._show(estimate_without_project(evaluator, items))

    def _show(self, found: Estimate | None) -> None:
        if found is None:
            raise CommandError(
                "--dry-run is for evaluators that ask a model; this one asks none.", returncode=BAD_ARGUMENTS
            )
        for line in dry_run(found):
            self.stdout.write(line)

    def _tell_cost(self, run: Run) -> None:
        """What the run's requests took, if it sent any."""
        run.refresh_from_db(fields=["spent", "prompt_tokens", "completion_tokens"])
        if run.prompt_tokens:
            cost = f", {in_dollars(run.spent)}" if run.spent else ""
            self.stdout.write(f"{run.prompt_tokens:,} tokens sent, {run.completion_tokens:,} received{cost}.")

    def _announce(self, foreseen: Mapping[str, int]) -> None:
        """Say before the work begins what will stay without a score."""
        for reason, count in foreseen.items():
            self.stderr.write(
                f"{count:,} summaries will stay without a score, on some dimension at least: {reason}."
            )

    def _follow(self, run: Run) -> None:
        """Show how far the run is until it has ended; say so if no worker seems to be there."""
        idle_since, warned, handed_in = time.monotonic(), False, 0
        with ProgressBar(sys.stderr, unit="summaries") as bar:
            while True:
                run.refresh_from_db(fields=["status", "failure"])
                if run.total:
                    bar(run.setup.label, progress_of(run).done, run.total)
                if not run.is_unfinished:
                    return
                if run.hand_ins.at_endpoint().count() > handed_in:
                    handed_in = self._tell_hand_ins(run)
                if _is_being_worked_on(run):
                    idle_since = time.monotonic()
                elif not warned and time.monotonic() - idle_since > PATIENCE_S:
                    warned = True
                    self.stderr.write(
                        f"No worker has taken up the run for {PATIENCE_S} seconds. It waits in the queue; if "
                        "no worker is running, script/up starts one."
                    )
                time.sleep(LOOK_EVERY_S)

    def _tell_hand_ins(self, run: Run) -> int:
        """How many there are at the endpoint."""
        numbers = list(run.hand_ins.at_endpoint().values_list("number", flat=True))
        self.stderr.write(
            f"{sum(filter(None, numbers)):,} requests are handed in, to be answered within 24 hours. The run "
            f"goes on without this command; its page shows how far it is: {_page(run)}"
        )
        return len(numbers)

    def _conclude(self, evaluator: str, scored: int, total: int, reasons: Iterable[tuple[str, int]]) -> None:
        self.stdout.write(f"{scored:,} of {total:,} summaries have a score on every dimension.")
        counts = dict(reasons)
        for reason, count in counts.items():
            self.stdout.write(f"{count:>9,}  {reason}")
        lacking = total - scored - counts.get(load_evaluator(evaluator).seen_reason, 0)
        if lacking:
            raise CommandError(f"{lacking:,} summaries lack a score.", returncode=FAILED_IN_PART)


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"found {text!r}, expected US dollars such as 2.50") from None


def _parameters(settings: list[str]) -> dict[str, str]:
    given = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name or not equals:
            raise CommandError(f"--set: found {setting!r}, expected KEY=VALUE", returncode=BAD_ARGUMENTS)
        given[name] = value
    return given


def _refuse(options: dict[str, Any], names: tuple[str, ...], other: str) -> None:
    for name in names:
        if options[name]:
            raise CommandError(f"--{name.replace('_', '-')} goes with {other} only", returncode=BAD_ARGUMENTS)


def _is_being_worked_on(run: Run) -> bool:
    """Whether a worker holds a batch, or something waits for a moment that is set or for the endpoint."""
    now = timezone.now()
    batches = Batch.objects.filter(run=run)
    claimed = batches.filter(state=Batch.State.CLAIMED, claimed_until__gt=now)
    later = batches.filter(state=Batch.State.WAITING, not_before__gt=now)
    collected = run.hand_ins.open().filter(claimed_until__gt=now)
    return any(each.exists() for each in (claimed, later, collected, run.hand_ins.at_endpoint()))


def _page(run: Run) -> str:
    return f"/projects/{run.setup.project.slug}/runs/{run.pk}/"
