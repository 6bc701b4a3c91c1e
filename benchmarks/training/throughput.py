"""Our training loop beside plain ones over the same models, in one run: examples per second of CPU time.

    OMP_NUM_THREADS=1 python benchmarks/training/throughput.py DATA ENCODER [--tasks seahorse umse own_cost]

DATA has the folders goyal2022, whose XSum articles are of very different lengths, and blanc_dailynews, whose
articles nearly all exceed the limit; ENCODER is a folder with all-MiniLM-L6-v2. Prints each round, then the
median of the ratios and their range, and fails if a median is below 1.

Both sides have the same module, examples, batch size, epochs and thread, texts tokenised beforehand and a
fused AdamW, and both validate on two examples and write weights and optimiser after each epoch. Ours also
groups inputs by length, clips gradients, reports points, and begins with transformers' Trainer.

No program of SEAHORSE's authors is public. Its peer is the loop of public fine-tuning scripts: batches in
random order, padded to their longest input, gradients clipped. UMSE's peer is the loop of its authors'
program: in each step a batch of eight of each of its two scenarios, padded to its longest input, each with a
backward pass of its own; a prefix of keys, embeddings and first layer left as they are. What would only slow
it down was left out: tokenising in each epoch, gradients of the first layer that are thrown away, an
optimiser in Python.

On a busy Xeon, medians of five rounds with 96 examples and two epochs, tiny BERT: UMSE 1.12 times (1.11 to
1.16), DailyNews .99 times (.93 to 1.05): where all inputs are equally long there is nothing to group. UMSE
with MiniLM on 32 examples, two steps, three rounds: .98 times (.96 to 1.01).

What our loop itself costs is measured apart, on texts of a few tokens (`--tasks own_cost`). Medians of nine
rounds, tiny BERT: one step takes 12 ms more than the peer's (11 to 16), twelve take 28 ms more (20 to 32),
with validating and saving. So a step costs 1 to 2 ms, below 1% of the 240 ms that eight texts of 512 tokens
take. Where inputs are equally long, ours is slower by that.
"""

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from annotation.texts.text_digests import text_digest
from benchmarks.evaluators.shared import random_bert
from scoring.neural.umse_network import FIRST, KEYS, PERTURBED, Shape, UmseNetwork
from scoring.trainers.contract import Point
from scoring.trainers.learner import Learner
from scoring.trainers.loop import run
from scoring.trainers.loop_params import LoopParams
from scoring.trainers.seahorse import prompts
from scoring.trainers.seahorse_examples import LabelledSummary
from scoring.trainers.seahorse_learners import learner_for
from scoring.trainers.umse_learner import UmseLearner
from scoring.trainers.umse_pairs import Matching, Source, matchings

BATCH, VALIDATED, LONGEST, PIECES = 8, 2, 512, 8000
DIMENSION = "attribution"
SCENARIOS, PREFIX, JOINT, NEGATIVES = ("sum_ref", "sum_doc"), 128, 380, 1
OWN_COST = "own_cost"
Steps = Iterator[list[list[Any]]]
"""For each step the batches that it learns from."""


class Unwatched:
    def report(self, point: Point) -> None:
        pass

    def is_cancelled(self) -> bool:
        return False


def read_xsum(data: Path, count: int) -> list[dict[str, str]]:
    with gzip.open(data / "goyal2022" / "test-500.xsum.json.gz", "rt", encoding="utf-8") as file:
        return list(json.load(file).values())[:count]


def xsum_examples(data: Path, count: int) -> list[LabelledSummary]:
    rows = read_xsum(data, count)
    return [
        LabelledSummary(row["article"], row["gpt3"], DIMENSION, place % 2) for place, row in enumerate(rows)
    ]


def dailynews_examples(data: Path, count: int) -> list[LabelledSummary]:
    rows = json.loads((data / "blanc_dailynews" / "DailyNews_300_aspects.json").read_text(encoding="utf-8"))
    return [
        LabelledSummary(row["text"], row["summary"], DIMENSION, place % 2)
        for place, row in enumerate(rows[:count])
    ]


def umse_examples(data: Path, count: int) -> list[Matching]:
    """Return `count` pairs, half of each scenario."""
    sources = [
        Source(text_digest(row["article"]), row["article"], (row["reference"],), "en")
        for row in read_xsum(data, count)
    ]
    found = matchings(sources, SCENARIOS, negatives=NEGATIVES, seed=0)
    by_scenario = [[each for each in found if each.scenario == scenario] for scenario in SCENARIOS]
    return [each for group in by_scenario for each in group[: count // len(SCENARIOS)]]


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


def answer_learner(base: Path) -> Learner:
    return learner_for(
        base,
        prompts=prompts([DIMENSION]),
        max_length=LONGEST,
        choose_by="validation_loss",
        lora_rank=0,
        gradient_checkpointing=False,
        attention_dropout=True,
    )


def umse_learner(base: Path) -> Learner:
    shape = Shape(
        scenarios=SCENARIOS,
        prefix_form=KEYS,
        prefix_sharing=PERTURBED,
        prefix_length=PREFIX,
        pooling=FIRST,
        dropout=0.15,
        max_length=JOINT,
    )
    learner = UmseLearner(UmseNetwork.start(base, shape), base, encoder_rate=1e-5, negatives=NEGATIVES)
    learner.freeze("upper")
    return learner


def shuffled_batches(examples: Sequence[Any], seed: int) -> Steps:
    order = random.Random(seed).sample(examples, len(examples))
    return ([order[first : first + BATCH]] for first in range(0, len(order), BATCH))


def scenario_batches(examples: Sequence[Matching], seed: int) -> Steps:
    """Return steps of a batch of each scenario, as UMSE's authors load them."""
    groups = [[each for each in examples if each.scenario == scenario] for scenario in SCENARIOS]
    by_scenario = [[batch for [batch] in shuffled_batches(group, seed)] for group in groups]
    return map(list, zip(*by_scenario, strict=True))


def ours(learner: Learner, examples: Sequence[Any], params: LoopParams) -> float:
    """Return the CPU seconds of a training."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        run(learner, examples, examples[:VALIDATED], params, Path(folder), Unwatched(), "benchmark")
        return time.process_time() - start


def plain(learner: Learner, epochs: Sequence[Steps], validation: Sequence[Any], clips: bool) -> float:
    """Return the CPU seconds of the peer's training."""
    module = learner.module
    start = time.process_time()
    optimizer = torch.optim.AdamW(learner.parameter_groups(), lr=1e-4, fused=True)
    for steps in epochs:
        module.train()
        for batches in steps:
            for batch in batches:
                module(**learner.batch(batch))["loss"].backward()
            if clips:
                torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        learner.measures(validation, learner.outputs(validation, len(validation)))
        with tempfile.TemporaryFile() as file:
            torch.save([module.state_dict(), optimizer.state_dict()], file)
    return time.process_time() - start


def compare(
    name: str,
    learner: Learner,
    examples: Sequence[Any],
    steps: Callable[[Sequence[Any], int], Steps],
    batch_size: int,
    epochs: int,
    rounds: int,
) -> bool:
    """Print rounds and their median; return whether ours is at least as fast."""
    learner.lengths(examples)
    clips, seen, ratios = isinstance(examples[0], LabelledSummary), epochs * len(examples), []
    for number in range(rounds + 1):
        # The first round is short and not counted: it loads what the libraries import late.
        chosen = examples if number else [*examples[:BATCH], *examples[-BATCH:]]
        params = LoopParams(epochs=epochs, batch_size=batch_size, seed=number, patience=0)
        our_s = ours(learner, chosen, params)
        shuffled = [steps(chosen, epochs * number + each) for each in range(epochs)]
        plain_s = plain(learner, shuffled, chosen[:VALIDATED], clips)
        if number:
            ratios.append(plain_s / our_s)
            print(
                f"{name}, round {number}: examples/s ours {seen / our_s:.1f}, peer {seen / plain_s:.1f}; "
                f"{ratios[-1]:.2f} times as fast",
                flush=True,
            )
    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
    print(f"{name}: median {median(ratios):.2f} times as fast as its peer ({spread})", flush=True)
    return median(ratios) >= 1


def print_own_cost(learner: Learner, rounds: int) -> None:
    """Print what our loop costs beyond the peer's where steps take almost no time."""
    examples = [LabelledSummary(f"good talks {each}", "talks", DIMENSION, each % 2) for each in range(96)]
    learner.lengths(examples)
    ours(learner, examples, LoopParams(epochs=1, batch_size=BATCH, patience=0))  # loads what is imported late
    for count in (BATCH, len(examples)):
        chosen, more = examples[:count], []
        for number in range(rounds):
            our_s = ours(learner, chosen, LoopParams(epochs=1, batch_size=BATCH, seed=number, patience=0))
            more.append(our_s - plain(learner, [shuffled_batches(chosen, number)], chosen[:VALIDATED], True))
        middle, low, high = (f"{1000 * each:.0f}" for each in (median(more), min(more), max(more)))
        print(f"{count // BATCH} steps: {middle} ms more than the peer ({low} to {high})", flush=True)


SEAHORSE, UMSE = (answer_learner, shuffled_batches, BATCH), (umse_learner, scenario_batches, 2 * BATCH)
TASKS: dict[str, tuple[Callable[[Path, int], list[Any]], Any]] = {
    "seahorse": (xsum_examples, SEAHORSE),
    "dailynews": (dailynews_examples, SEAHORSE),
    "umse": (umse_examples, UMSE),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("--tasks", nargs="+", choices=[*TASKS, OWN_COST], default=[*TASKS, OWN_COST])
    parser.add_argument("--models", nargs="+", default=["tiny BERT", "tiny mT5", "MiniLM"])
    parser.add_argument("--examples", type=int, default=240)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    texts = [text for row in read_xsum(given.data, given.examples) for text in (row["article"], row["gpt3"])]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bert").mkdir()
        bases = {
            "tiny BERT": random_bert(Path(folder) / "bert", texts, width=64, layers=2),
            "tiny mT5": tiny_mt5(Path(folder) / "mt5", texts),
            "MiniLM": given.encoder,
        }
        if OWN_COST in given.tasks:
            print_own_cost(answer_learner(bases["tiny BERT"]), given.rounds)
        for task in (each for each in TASKS if each in given.tasks):
            read, (build, steps, batch_size) = TASKS[task]
            examples = read(given.data, given.examples)
            for base in given.models:
                if task == "umse" and base == "tiny mT5":
                    continue  # UMSE takes encoders only
                name = f"{task}, {base}"
                learner = build(bases[base])
                if not compare(name, learner, examples, steps, batch_size, given.epochs, given.rounds):
                    missed.append(name)
    if missed:
        raise SystemExit(f"slower than the peer: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
