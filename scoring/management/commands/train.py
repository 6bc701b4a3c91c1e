"""manage.py train: train an evaluator on a project's summaries, or on a file without a database."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.text import capfirst

from annotation.errors import DomainError
from annotation.imports.reading.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand
from scoring.contract.evaluator import EvaluatorError
from scoring.errors import InvalidTraining
from scoring.files.training_items import read_training_items
from scoring.management.commands.score import parameters
from scoring.management.shown_training import in_words, watched
from scoring.models import Training
from scoring.trainers import TRAINERS
from scoring.trainers.contract import CannotTrain, TrainingData, amount
from scoring.training.lifecycle import resume_training
from scoring.training.planning import plan_training, start_training, trainer_of, warnings_of
from scoring.training.worker import MODEL, StoredCurves, claim_training, train
from scoring.weights.model_card import read_card

FAILED, INTERRUPTED = 1, 130


class Command(OwnCommand):
    help = (
        "Train an evaluator in this process: on a project's summaries, which installs the model as "
        "trained/NAME, or on an examples file, which writes it to a folder. After Ctrl-C the training can be "
        "resumed. Exit code 0: trained; 1: failed; 2: bad arguments; 130: stopped."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("method", nargs="?", help=", ".join(TRAINERS))
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--input", type=Path, metavar="EXAMPLES", help="examples with articles, JSONL")
        where.add_argument(
            "--resume", type=int, metavar="TRAINING", help="number of a project's training that was stopped"
        )
        parser.add_argument("--name", default="", help="with --project: the model's name")
        parser.add_argument(
            "--to", type=Path, metavar="FOLDER", help="with --input: folder for checkpoints and model"
        )
        parser.add_argument(
            "--label-scale",
            nargs=2,
            type=float,
            default=(0.0, 1.0),
            metavar=("LOW", "HIGH"),
            help="with --input: lowest and highest label in the file (0 1)",
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter; can be repeated"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["method"] is None) != (options["resume"] is not None):
            raise CommandError(
                f"name a method ({', '.join(TRAINERS)}), or a training with --resume",
                returncode=BAD_ARGUMENTS,
            )
        if (options["to"] is None) != (options["input"] is None):
            raise CommandError("--input and --to go together", returncode=BAD_ARGUMENTS)
        try:
            if options["input"]:
                self._train_on_file(options)
            else:
                self._train_on_project(self._training(options))
        except (DomainError, FileRefused, ValueError, OSError) as error:
            raise CommandError(capfirst(str(error)), returncode=BAD_ARGUMENTS) from error

    def _training(self, options: dict[str, Any]) -> Training:
        """Return the training to work on, started or queued again."""
        if options["resume"] is not None:
            training = Training.objects.select_related("project").filter(pk=options["resume"]).first()
            if training is None:
                raise InvalidTraining(f"there is no training {options['resume']}")
            resume_training(training, None, wakes=False)
            return training
        planned = plan_training(
            named_project(options["project"]), options["method"], parameters(options["set"]), by_operator=True
        )
        self._announce(planned.data, planned.warnings)
        return start_training(planned, None, options["name"], wakes=False)

    def _train_on_project(self, training: Training) -> None:
        claimed = claim_training(training.pk)
        if claimed is None:
            raise CommandError("A worker has taken the training. Its page shows it.", returncode=FAILED)
        self.stdout.write(f"Training {claimed.pk}: {claimed.name}")
        trainer = trainer_of(claimed.method, claimed.params)
        with watched(trainer, StoredCurves(claimed)) as watch:
            train(claimed, watch)
        claimed.refresh_from_db()
        if claimed.status == Training.Status.CANCELLED:
            self._stop(f"manage.py train --resume {claimed.pk}")
        if claimed.status != Training.Status.DONE:
            raise CommandError(f"The training failed: {claimed.failure}", returncode=FAILED)
        self.stdout.write(
            f"Best after step {claimed.best_step:,}: {in_words(claimed.measures, claimed.intervals)}"
        )
        self.stdout.write(f"The model is installed as {claimed.model}.")

    def _train_on_file(self, options: dict[str, Any]) -> None:
        folder = options["to"]
        trainer = trainer_of(options["method"], parameters(options["set"]))
        try:
            data = trainer.prepare(read_training_items(options["input"], tuple(options["label_scale"])))
            self._announce(data, warnings_of(trainer, data, by_operator=True))
            folder.mkdir(parents=True, exist_ok=True)
            with watched(trainer) as watch:
                trained = trainer.train(data, folder, watch, f"file {options['input'].name}")
        except (CannotTrain, EvaluatorError) as error:
            raise CommandError(str(error), returncode=FAILED) from error
        if trained.cancelled:
            self._stop("the same command")
        card = read_card(folder / MODEL)
        self.stdout.write(
            f"Best after step {trained.best_step:,}: {in_words(trained.measures, trained.intervals)}"
        )
        if card is not None:
            settings = {"model": folder / MODEL, **card.params}
            given = " ".join(f"--set {name}={value}" for name, value in settings.items())
            self.stdout.write(f"Score with it: manage.py score {card.evaluator} {given}")

    def _announce(self, data: TrainingData, warnings: Iterable[str]) -> None:
        for warning in warnings:
            self.stderr.write(warning)
        for words, number in data.counts.items():
            self.stdout.write(f"{words}: {amount(number)}")

    def _stop(self, how: str) -> None:
        self.stderr.write(f"Stopped. The checkpoint and the best weights so far are kept. To resume: {how}")
        sys.exit(INTERRUPTED)
