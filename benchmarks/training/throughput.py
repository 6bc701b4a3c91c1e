"""SEAHORSE's training beside a plain loop over the same model, in one run: examples per second of CPU time.

    OMP_NUM_THREADS=1 python benchmarks/training/throughput.py DATA ENCODER

DATA has the folder goyal2022, whose XSum articles are of very different lengths; ENCODER is a folder with
all-MiniLM-L6-v2. No program of SEAHORSE's authors is public. The peer is the loop of public fine-tuning
scripts in its best form: batches in random order, padded to their longest input, tokenised beforehand, AdamW
in one fused step, gradients clipped. Both have the same module, examples, batch size and thread; ours also
groups inputs by length, reports points, validates on two examples and writes a checkpoint. Prints each round,
the medians of the ratios, and fails if one is below 1.

The grouping makes the difference: with articles that nearly all exceed the limit both take the same time.
"""

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from benchmarks.evaluators.shared import random_bert
from scoring.trainers.contract import Point
from scoring.trainers.loop import run
from scoring.trainers.loop_params import LoopParams
from scoring.trainers.seahorse import prompts
from scoring.trainers.seahorse_examples import LabelledSummary
from scoring.trainers.seahorse_learners import AnswerLearner, learner_for

BATCH, LONGEST, PIECES = 8, 512, 8000
DIMENSION = "attribution"


class Unwatched:
    def report(self, point: Point) -> None:
        pass

    def is_cancelled(self) -> bool:
        return False


def read_examples(data: Path, count: int) -> list[LabelledSummary]:
    with gzip.open(data / "goyal2022" / "test-500.xsum.json.gz", "rt", encoding="utf-8") as file:
        rows = list(json.load(file).values())[:count]
    return [
        LabelledSummary(row["article"], row["gpt3"], DIMENSION, place % 2) for place, row in enumerate(rows)
    ]


def tiny_mt5(folder: Path, texts: list[str]) -> Path:
    """Write an mT5 of 64 dimensions and 2 layers, with a tokenizer trained on the texts."""
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trained.train_from_iterator(
        [*texts, "0 1 premise: hypothesis: " * 1000],
        trainers.BpeTrainer(
            vocab_size=PIECES, special_tokens=["<pad>", "</s>", "<unk>"], show_progress=False
        ),
    )
    trained.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.MT5Config(
        vocab_size=PIECES, d_model=64, d_kv=32, d_ff=128, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    transformers.MT5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def learner(base: Path) -> AnswerLearner:
    return learner_for(
        base,
        prompts=prompts([DIMENSION]),
        max_length=LONGEST,
        choose_by="validation_loss",
        lora_rank=0,
        gradient_checkpointing=False,
    )


def ours(trained: AnswerLearner, examples: list[LabelledSummary], seed: int) -> float:
    """Return the CPU seconds of an epoch."""
    params = LoopParams(epochs=1, batch_size=BATCH, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        run(trained, examples, examples[:2], params, Path(folder), Unwatched(), "benchmark")
        return time.process_time() - start


def plain(trained: AnswerLearner, examples: list[LabelledSummary], seed: int) -> float:
    """Return the CPU seconds of an epoch of the peer."""
    module = trained.module
    start = time.process_time()
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, fused=True)
    order = random.Random(seed).sample(examples, len(examples))
    module.train()
    for first in range(0, len(order), BATCH):
        loss = module(**trained.batch(order[first : first + BATCH]))["loss"]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--examples", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    examples = read_examples(given.data, given.examples)
    texts = [text for each in examples for text in (each.article, each.summary)]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bert").mkdir()
        bases = {
            "tiny BERT": random_bert(Path(folder) / "bert", texts, width=64, layers=2),
            "tiny mT5": tiny_mt5(Path(folder) / "mt5", texts),
            "MiniLM": given.encoder,
        }
        for name, base in bases.items():
            trained = learner(base)
            trained.lengths(examples)
            ours(trained, examples[:BATCH], seed=0)  # loads what the library imports late
            plain(trained, examples[:BATCH], seed=0)
            ratios = []
            for number in range(1, given.rounds + 1):
                our_s, plain_s = ours(trained, examples, number), plain(trained, examples, number)
                ratios.append(plain_s / our_s)
                print(
                    f"{name}, round {number}: examples/s ours {len(examples) / our_s:.1f}, plain "
                    f"{len(examples) / plain_s:.1f}; {ratios[-1]:.2f} times as fast",
                    flush=True,
                )
            print(f"{name}, median: {median(ratios):.2f} times as fast as the plain loop")
            if median(ratios) < 1:
                missed.append(name)
    if missed:
        raise SystemExit(f"slower than the plain loop: {', '.join(missed)}")


if __name__ == "__main__":
    main()
