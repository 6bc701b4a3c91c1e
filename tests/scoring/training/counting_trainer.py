"""A trainer that only counts its steps, with everything else as real ones have it."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from annotation.declared.settings import setting
from annotation.texts.text_digests import sha256_of, text_digest
from scoring.texts.near_duplicates import sketch
from scoring.trainers.contract import (
    VALIDATION_ARTICLES,
    CannotTrain,
    Point,
    Trained,
    Trainer,
    TrainingData,
    TrainingItem,
    Watch,
)
from scoring.trainers.learning import write_model
from scoring.weights.model_card import ModelCard
from tests.scoring.tiny_models import tiny_model

VALIDATE_EVERY = 5  # steps


class CountingTrainer(Trainer):
    """Counts to the number of steps.

    It learns nothing, and saves a tiny encoder.
    """

    name = "counting"
    title = "Counting"
    source = "none"
    help = "Shows how trainings go."

    @dataclass(frozen=True)
    class Params:
        steps: int = setting(10, label="Steps", help="How far to count.", low=1, group="Counting")
        dimension: str = setting("attribution", label="Dimension", help="Whose labels to take.")
        epochs: int = setting(2, label="Epochs", help="Passes over the examples.", low=1)

    params: Params

    def prepare(self, items: Iterable[TrainingItem]) -> TrainingData:
        labelled = [each for each in items if self.params.dimension in each.labels and each.split != "test"]
        if not labelled:
            raise CannotTrain(f"No summary has a label on {self.params.dimension}. Collect ratings first.")
        validation = [each for each in labelled if each.split == "validation"]
        train = [each for each in labelled if each.split != "validation"]
        return TrainingData(
            train=train,
            validation=validation,
            counts={
                VALIDATION_ARTICLES: len({each.article for each in validation}),
                "Training examples": len(train),
                "Validation examples": len(validation),
                "Share for training": len(train) / len(labelled),
            },
            articles={
                split: tuple(sorted({text_digest(each.article) for each in each_split}))
                for split, each_split in (("train", train), ("validation", validation))
            },
            texts={text_digest(each.article): each.article for each in labelled},
            dimensions=(self.params.dimension,),
            languages=tuple(sorted({each.language or "" for each in labelled})),
            digest=sha256_of([[each.id, each.summary, dict(each.labels)] for each in labelled]),
            warnings=("One step shows little.",) if self.params.steps == 1 else (),
        )

    def train(self, data: TrainingData, folder: Path, watch: Watch, origin: str = "") -> Trained:
        kept = folder / "checkpoints" / "last.json"
        kept.parent.mkdir(parents=True, exist_ok=True)
        last = json.loads(kept.read_text()) if kept.exists() else {"digest": data.digest, "step": 0}
        if last["digest"] != data.digest:
            raise CannotTrain("The checkpoints are of other data.")
        step, cancelled = last["step"], False
        while step < self.params.steps and not cancelled:
            step += 1
            measures = {"validation_loss": 1 / step} if step % VALIDATE_EVERY == 0 else {}
            epoch = self.params.epochs * step / self.params.steps
            watch.report(Point(step, epoch, 2 / step, measures, 4.0, float(self.params.steps - step)))
            kept.write_text(json.dumps({"digest": data.digest, "step": step}))
            cancelled = watch.is_cancelled()
        card = ModelCard(
            method=self.name,
            title="Counting",
            evaluator="similarity",
            dimensions=data.dimensions,
            base_model="tiny",
            weights_sha256="",
            params={"against": "article"},
            trained_with={"steps": step},
            data={"origin": origin},
            warnings=data.warnings,
            sketches=tuple(sorted(map(sketch, data.texts.values()))),
            articles=data.articles,
            measures={"validation_loss": 1 / step},
            intervals={"validation_loss": (0.5 / step, 2 / step)},
        )
        copy = partial(shutil.copytree, tiny_model("bert"), dirs_exist_ok=True)
        write_model(folder / "model", copy, card)
        return Trained(
            best_step=step,
            measures=card.measures,
            cancelled=cancelled,
            steps=step,
            intervals=card.intervals,
        )
