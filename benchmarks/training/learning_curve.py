"""Learning curves of SEAHORSE metrics on a small encoder, from real ratings, beside what needs no training.

    OMP_NUM_THREADS=1 python benchmarks/training/learning_curve.py DATA ENCODER WORK --jobs 2 \\
        --images docs/images > docs/results_learning_curve.md

DATA has the folders summeval and blanc_dailynews; ENCODER is a folder with all-MiniLM-L6-v2, as in
benchmarks/summeval_results.py. WORK keeps the scores of each training in a small file. A training whose file
is there is not repeated, so that files made on several machines can be put together. `--only train` writes
no report, and does without Django; `--only report` makes it of what is in WORK. `--articles 12 --shares
50,100 --seeds 1` tries all of it on little data.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.training.seahorse_models import (
    SUMMEVAL_TRAINING,
    TRAINING,
    Setting,
    baselines_with,
    make_records,
)
from benchmarks.training.seahorse_questions import informative, summeval
from metaeval.learning_curves.shares import read_shares

SHARES = "10, 20, 40, 60, 80, 100"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
    parser.add_argument("--seeds", type=int, default=3, help="networks of each share")
    parser.add_argument("--shares", type=read_shares, default=SHARES, help="of the training articles, in %%")
    parser.add_argument("--articles", type=int, help="of each data set; all by default")
    parser.add_argument("--epochs", type=int, default=TRAINING["epochs"])
    parser.add_argument("--only", choices=["train", "report"])
    parser.add_argument("--images", type=Path, help="folder for the figures")
    given = parser.parse_args()
    asked = (
        ("summeval", summeval(given.data), SUMMEVAL_TRAINING),
        ("informative", informative(given.data), TRAINING),
    )
    curves = [
        [
            Setting(
                name,
                questions.of_articles(given.articles),
                given.encoder,
                {**training, "epochs": given.epochs},
                share,
            )
            for share in given.shares
        ]
        for name, questions, training in asked
    ]
    if given.only != "report":
        # The longest trainings first, so that none is left for the end.
        longest_first = sorted((each for curve in curves for each in curve), key=lambda each: -each.share)
        make_records(longest_first, given.seeds, given.work, given.jobs, baselines_with(given.encoder))
    if given.only != "train":
        start_django()
        from benchmarks.training.learning_curve_report import report

        sys.stdout.write(report(curves, given.seeds, given.work, given.images))


def start_django() -> None:
    """Start Django without a database, for the product's sentences and drawings."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "touchstone.settings",
        "TOUCHSTONE_MODE": "local",
        "SECRET_KEY": "benchmark" * 8,
    }
    import django

    django.setup()


if __name__ == "__main__":
    main()
