"""manage.py score: run an evaluator over a project's summaries, or over a file without a database."""

import sys
import time
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import DomainError
from annotation.imports.reading.records import FileRefused
from annotation.management.named_project import named_project
from annotation.management.own_command import OwnCommand
from scoring.contract.evaluator import EvaluatorError
from scoring.endpoints.prices import in_dollars
from scoring.errors import RunBusy
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.files.score_file import prepared, score_file
from scoring.inputs.items import Selection
from scoring.management.progress_bar import ProgressBar
from scoring.models import Run
from scoring.runs.estimates import RunEstimate, estimate, estimate_without_project
from scoring.runs.planning import plan, run_in_progress, start
from scoring.runs.progress import is_being_worked_on, progress_of, reasons_of
from scoring.runs.worker import score_for
from scoring.workers.presence import is_served
from scoring.workers.wake_ups import queue_of

FAILED_IN_PART, BAD_ARGUMENTS, INTERRUPTED = 1, 2, 130
LOOK_EVERY_S = 0.25
PATIENCE_S = 10
"""Seconds within which a worker should have claimed a batch."""


class Command(OwnCommand):
    help = (
        "Run an evaluator over a project's summaries, on the workers or --here, and show progress until it "
        "ends; or over an examples file (--input, --output) in this process, without database or broker. "
        "Exit code 0: all scored, except articles that the evaluator has learnt from; 1: some scores "
        "missing, with reasons, or run paused; 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("evaluator", help="its name; manage.py evaluators lists them")
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--input", type=Path, metavar="EXAMPLES", help="examples, JSONL")
        parser.add_argument(
            "--output", type=Path, metavar="SCORES", help="scores, JSONL (.gz: gzip); with --input"
        )
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
            help="with --project: the most that the requests may cost; the run pauses before it costs more",
        )
        parser.add_argument(
            "--batch",
            action="store_true",
            help="with --project: submit the requests to the endpoint's batch API, which answers within 24 "
            "hours, often at half the price",
        )
        parser.add_argument(
            "--here",
            action="store_true",
            help="with --project: score in this process, and go on with the evaluator's run if one is queued",
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="for evaluators that ask a model: print three prompts, requests, tokens, cost; send nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        given = parameters(options["set"])
        if options["project"]:
            _refuse(options, ("output", "label_scale"), "--input")
            self._score_project(options, given)
        else:
            _refuse(options, ("language", "rated_only", "budget", "batch", "here"), "--project")
            if options["output"] is None and not options["dry_run"]:
                raise CommandError("--input needs --output, a file for the scores", returncode=BAD_ARGUMENTS)
            self._score_file(options, given)

    def _score_file(self, options: dict[str, Any], given: dict[str, str]) -> None:
        scale = tuple(options["label_scale"] or (0.0, 1.0))
        try:
            if options["dry_run"]:
                evaluator, items = prepared(options["evaluator"], given, options["input"], scale)
                self._show(estimate_without_project(evaluator, items))
                return
            with ProgressBar(sys.stderr, unit="summaries") as bar:
                result = score_file(
                    options["evaluator"],
                    given,
                    options["input"],
                    options["output"],
                    label_scale=scale,
                    announce=self._announce,
                    progress=lambda done, total: bar(options["evaluator"], done, total),
                )
        except (UnknownEvaluator, ValueError, FileRefused, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        except EvaluatorError as error:
            raise CommandError(f"{error} Nothing was written.", returncode=FAILED_IN_PART) from error
        self.stdout.write(f"{result.label}\n{result.signature}\n{result.fingerprint}")
        if result.cut:
            self.stdout.write(
                f"{result.cut:,} summaries were scored with a text truncated to the model's limit. "
                "shares_read in their lines says how much was read."
            )
        self._conclude(options["evaluator"], result.scored, result.total, result.reasons.items())

    def _score_project(self, options: dict[str, Any], given: dict[str, str]) -> None:
        if options["here"] and options["batch"]:
            raise CommandError("--batch needs a worker. Leave out --here.", returncode=BAD_ARGUMENTS)
        project = named_project(options["project"])
        selection = Selection(tuple(options["language"]), options["rated_only"])
        try:
            planned = plan(project, options["evaluator"], given, selection, by_operator=True)
            self._announce(planned.foreseen)
            if options["dry_run"]:
                self._show(estimate(planned))
                return
            delivery = Run.Delivery.BATCH if options["batch"] else Run.Delivery.NOW
            queued = run_in_progress(planned) if options["here"] else None
            run = queued or start(planned, None, options["budget"], delivery)
        except RunBusy as error:
            raise CommandError(str(error), returncode=FAILED_IN_PART) from error
        except DomainError as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(f"Run {run.pk}: {run.setup.label}\n{run.setup.signature}")
        if run.reused:
            self.stdout.write(f"{run.reused:,} summaries had these scores already.")
        page = _page(run)  # Ctrl-C may break off a query, and with it the connection
        try:
            self._follow(run, here=options["here"])
        except KeyboardInterrupt:
            self.stderr.write(
                "Stopped. Scores are kept, and a worker or this command can go on with the run."
                if options["here"]
                else f"The run continues without this command. Its page shows the progress: {page}"
            )
            sys.exit(INTERRUPTED)
        except Run.DoesNotExist:
            raise CommandError("The run was deleted.", returncode=FAILED_IN_PART) from None
        self._tell_cost(run)
        ends = {
            Run.Status.CANCELLED: "The run was cancelled. Finished scores are kept.",
            Run.Status.PAUSED: f"The run is paused: {run.failure} Replies are kept. Set another budget on "
            f"its page: {page}",
            Run.Status.FAILED: f"The run failed: {run.failure}",
        }
        if run.status in ends:
            raise CommandError(ends[Run.Status(run.status)], returncode=FAILED_IN_PART)
        if run.total:
            progress = progress_of(run)
            self._conclude(run.setup.evaluator, progress.scored, progress.total, reasons_of(run))

    def _show(self, found: RunEstimate | None) -> None:
        if found is None:
            raise CommandError(
                "--dry-run needs an evaluator that asks a language model.", returncode=BAD_ARGUMENTS
            )
        for line in _estimate_in_words(found):
            self.stdout.write(line)

    def _tell_cost(self, run: Run) -> None:
        """Print the tokens and cost of the run's requests, if it sent any."""
        run.refresh_from_db(fields=["spent", "prompt_tokens", "completion_tokens"])
        if run.prompt_tokens:
            cost = f", {in_dollars(run.spent)}" if run.spent else ""
            self.stdout.write(f"{run.prompt_tokens:,} tokens sent, {run.completion_tokens:,} received{cost}.")

    def _announce(self, foreseen: Mapping[str, int]) -> None:
        """Print which summaries will get no score, before scoring begins."""
        for reason, count in foreseen.items():
            self.stderr.write(f"{count:,} summaries will get no score on at least one dimension: {reason}.")

    def _follow(self, run: Run, *, here: bool) -> None:
        """Show the run's progress until it ends, and score it `here`; warn if no worker scores it."""
        idle_since, warned, submitted = time.monotonic(), here, 0
        with ProgressBar(sys.stderr, unit="summaries") as bar:
            while True:
                has_more = here and score_for(run.pk, LOOK_EVERY_S) is not None
                run.refresh_from_db(fields=["status", "failure"])
                if run.total:
                    bar(run.setup.label, progress_of(run).done, run.total)
                if not run.is_unfinished:
                    return
                if run.api_batches.at_endpoint().count() > submitted:
                    submitted = self._tell_api_batches(run)
                if is_being_worked_on(run):
                    idle_since = time.monotonic()
                elif not warned:
                    warned = self._warn_if_idle(queue_of(run.setup), time.monotonic() - idle_since)
                if not has_more:
                    time.sleep(LOOK_EVERY_S)

    def _warn_if_idle(self, queue: str, idle_s: float) -> bool:
        """Warn at once without a worker, and later if all are busy. Return whether there was cause."""
        if not is_served(queue):
            self.stderr.write(
                f"The run is queued, and no worker for {queue} is running. Start one with script/up, or stop "
                "this command with Ctrl-C and repeat it with --here, which scores in this process."
            )
        elif idle_s > PATIENCE_S:
            self.stderr.write(f"The run is queued. For {PATIENCE_S} seconds all workers have been busy.")
        else:
            return False
        return True

    def _tell_api_batches(self, run: Run) -> int:
        """Announce the submitted requests; return how many API batches are at the endpoint."""
        numbers = list(run.api_batches.at_endpoint().values_list("number", flat=True))
        self.stderr.write(
            f"{sum(filter(None, numbers)):,} requests submitted, to be answered within 24 hours. The run "
            f"continues without this command. Its page shows the progress: {_page(run)}"
        )
        return len(numbers)

    def _conclude(self, evaluator: str, scored: int, total: int, reasons: Iterable[tuple[str, int]]) -> None:
        self.stdout.write(f"{scored:,} of {total:,} summaries have a score on every dimension.")
        counts = dict(reasons)
        for reason, count in counts.items():
            self.stdout.write(f"{count:>9,}  {reason}")
        seen = counts.pop(load_evaluator(evaluator).seen_reason, 0)
        # A summary can be seen in one dimension and lack a score on another.
        lacking = max(total - scored - seen, *counts.values(), 0)
        if lacking:
            lack = "summary lacks" if lacking == 1 else "summaries lack"
            raise CommandError(f"{lacking:,} {lack} a score.", returncode=FAILED_IN_PART)


def _estimate_in_words(found: RunEstimate) -> Iterator[str]:
    """Yield the prompts in full, then requests, tokens and cost."""
    for shown in found.prompts:
        yield f"=== {shown.item}"
        if shown.system:
            yield f"--- system\n{shown.system}\n--- prompt"
        yield shown.prompt
    yield "==="
    likely, most = found.expected, found.at_most
    stored = f" ({found.stored:,} from stored replies, at no cost)" if found.stored else ""
    yield f"Requests: {'about ' if found.is_extrapolated else ''}{found.requests:,}{stored}."
    yield (
        f"Tokens: about {likely.prompt_tokens:,} to send (at most {most.prompt_tokens:,}), "
        f"about {likely.completion_tokens:,} to receive (at most {most.completion_tokens:,})."
    )
    if found.cost is None or found.cost_at_most is None:
        yield f"Cost: unknown. {found.no_cost}"
    else:
        yield f"Cost: about {in_dollars(found.cost)}, at most {in_dollars(found.cost_at_most)}."
    if found.is_extrapolated:
        yield f"Extrapolated from {found.sampled:,} of {found.summaries:,} summaries."
    if found.repeated:
        yield (
            f"Same text as another summary of the same article: {found.repeated:,}. The model is asked about "
            "such a text once, and all get its reply."
        )
    yield "Nothing was sent."


def _dollars(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ArgumentTypeError(f"found {text!r}, expected US dollars such as 2.50") from None


def parameters(settings: list[str]) -> dict[str, str]:
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
            raise CommandError(f"--{name.replace('_', '-')} needs {other}", returncode=BAD_ARGUMENTS)


def _page(run: Run) -> str:
    return f"/projects/{run.setup.project.slug}/runs/{run.pk}/"
