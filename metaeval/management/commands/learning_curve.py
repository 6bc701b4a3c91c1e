"""manage.py learning_curve: train, score and show a learning curve."""

import sys
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand
from metaeval.export.formats import FORMATS, written
from metaeval.learning_curves.following import FollowedCurve, curve_of, resume_curve
from metaeval.learning_curves.material import CurveChoices
from metaeval.learning_curves.model_scores import score_trained
from metaeval.learning_curves.page import whole_page
from metaeval.learning_curves.planning import CurveRequest, plan_learning_curve, start_learning_curve
from metaeval.learning_curves.shares import USUAL_SEEDS, USUAL_SHARES, read_shares
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from scoring.errors import InvalidLearningCurve
from scoring.management.commands.score import parameters
from scoring.management.shown_training import watched
from scoring.models import LearningCurve, Training
from scoring.runs.worker import work_on_run
from scoring.trainers import TRAINERS
from scoring.training.planning import trainer_of
from scoring.training.worker import StoredCurves, claim_training, train

FAILED, INTERRUPTED = 1, 130
LOOK_EVERY_S = 0.5


class Command(OwnCommand):
    help = (
        "Train a method on growing shares of a project's training articles in this process, score the test "
        "articles with each model, and print their agreement with people beside other evaluators. After "
        "Ctrl-C the learning curve can be resumed. Exit code 0: all models trained and scored; 1: some "
        "failed; 2: bad arguments; 130: stopped."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("method", nargs="?", help=", ".join(TRAINERS))
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--project", metavar="SLUG", help="with a method: start a learning curve")
        what.add_argument(
            "--resume", type=int, metavar="CURVE", help="number of a learning curve that was stopped"
        )
        what.add_argument("--show", type=int, metavar="CURVE", help="print the figures of a learning curve")
        parser.add_argument(
            "--name", default="", help="with --project: the curve's name (default: the method)"
        )
        parser.add_argument(
            "--shares",
            default=USUAL_SHARES.replace(" ", ""),
            metavar="PERCENT,...",
            help="shares of the training articles",
        )
        parser.add_argument("--seeds", type=int, default=USUAL_SEEDS, metavar="N", help="models per share")
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter; can be repeated"
        )
        parser.add_argument("--level", choices=LEVELS, default=CurveChoices.level)
        parser.add_argument("--coefficient", choices=COEFFICIENTS, default=CurveChoices.coefficient)
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["method"] is None) == (options["project"] is not None):
            raise CommandError(
                f"name a method ({', '.join(TRAINERS)}) and its --project, or a learning curve with --resume "
                "or --show",
                returncode=BAD_ARGUMENTS,
            )
        try:
            curve = self._curve(options)
            if options["show"] is None:
                self._work_on(curve)
            followed = curve_of(curve.project, curve.pk)
            self._show(followed, options)
        except (DomainError, ValueError) as error:
            raise CommandError(capfirst(str(error)), returncode=BAD_ARGUMENTS) from error
        lacking = len(followed.models) - followed.n_done
        if lacking:
            raise CommandError(f"{lacking} models are not trained or have not scored.", returncode=FAILED)

    def _curve(self, options: dict[str, Any]) -> LearningCurve:
        """Return the learning curve to work on or to show, started or queued again."""
        if options["project"] is None:
            number = options["resume"] or options["show"]
            curve = LearningCurve.objects.select_related("project").filter(pk=number).first()
            if curve is None:
                raise InvalidLearningCurve(f"there is no learning curve {number}")
            if options["resume"] is not None:
                resume_curve(curve_of(curve.project, curve.pk), None, wakes=False)
            return curve
        wanted = CurveRequest(
            name=options["name"] or options["method"],
            method=options["method"],
            shares=read_shares(options["shares"]),
            seeds=options["seeds"],
            params=parameters(options["set"]),
        )
        planned = plan_learning_curve(named_project(options["project"]), wanted, by_operator=True)
        for share, models in planned.by_share:
            examples = ", ".join(f"{each.examples:,}" for each in models)
            self.stderr.write(f"{share}: {examples} training {planned.examples_in_words}")
        for warning in planned.warnings:
            self.stderr.write(warning)
        self.stderr.write(f"Test articles with rated summaries: {planned.rated_test_articles:,}")
        return start_learning_curve(planned, None, wakes=False)

    def _work_on(self, curve: LearningCurve) -> None:
        self.stderr.write(f"Learning curve {curve.pk}: {curve.name}")
        trainings = Training.objects.filter(curve_model__curve=curve).order_by("pk").defer("pool")
        for training in trainings.select_related("project"):
            if training.status in Training.UNFINISHED:
                self._train(curve, training)
            self._score(curve)

    def _train(self, curve: LearningCurve, training: Training) -> None:
        claimed = claim_training(training.pk)
        if claimed is None:
            self.stderr.write(f"{training.name}: a worker has taken it. Its page shows it.")
            return
        self.stderr.write(claimed.name)
        trainer = trainer_of(claimed.method, claimed.params)
        with watched(trainer, StoredCurves(claimed)) as watch:
            train(claimed, watch)
        claimed.refresh_from_db(fields=["status", "failure"])
        if claimed.status == Training.Status.CANCELLED:
            self.stderr.write(
                "Stopped. What is trained and scored is kept. To resume: manage.py learning_curve --resume"
                f" {curve.pk}"
            )
            sys.exit(INTERRUPTED)
        if claimed.status != Training.Status.DONE:
            self.stderr.write(f"{claimed.name} failed: {claimed.failure}")

    def _score(self, curve: LearningCurve) -> None:
        """Score with all models that are trained, alone or together with workers."""
        score_trained(curve)
        while unfinished := [
            each.run
            for each in curve_of(curve.project, curve.pk).models
            if each.run is not None and each.run.is_unfinished
        ]:
            for run in unfinished:
                work_on_run(run.pk)
            time.sleep(LOOK_EVERY_S)  # until workers finish their batches

    def _show(self, followed: FollowedCurve, options: dict[str, Any]) -> None:
        choices = CurveChoices(level=options["level"], coefficient=options["coefficient"])
        page = whole_page(followed.curve.project, followed, choices)
        rows = [row for each in page.figures or () for row in each.rows()]
        self.stdout.write(written(rows, options["format"], down="name", across=("dimension",), n="n"))
        if options["format"] == "table":
            for title, sentences in page.sentences:
                for sentence in sentences:
                    self.stdout.write(f"{title}: {sentence}")
