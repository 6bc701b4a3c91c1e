"""CTC, entailment, SummaQA and UniTE beside the library's models, called as the authors call them.

    OMP_NUM_THREADS=1 python benchmarks/evaluators/pairs.py FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. The weights are random, of the size asked for, with a tokenizer trained on
the texts. The other side is what the authors' programs do at least: a call of the model for each input,
unpadded, or for UniTE, whose authors compute eight together, for each padded batch of eight. Prints inputs
per second of CPU time, medians of the rounds, the ratio and the largest difference of the outputs.

On one thread of a busy Xeon, with one article and five rounds: entailment 1.25, SummaQA 1.40, CTC's aligner D
1.30 times as fast. UniTE, with two articles, each read with reference and with article: 1.14.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import ByteLevelBPETokenizer
from torch.nn.utils.rnn import pad_sequence
from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

from benchmarks.evaluators.shared import bert_config, read_summeval, timed
from scoring.contract.items import Item
from scoring.neural.ctc import DiscriminativeAligner
from scoring.neural.extractive_qa import ExtractiveReader
from scoring.neural.joint_model import JointModel
from scoring.neural.pair_classifier import PairClassifier
from scoring.texts.sentences import sentences

LARGEST = 1e-4
QUESTIONS = 8
"""Sentences of an article that are asked of each summary."""
UNITE_HIDDEN = (3072, 1024)
"""Widths of the estimator of UniTE's authors."""
UNITE_BATCH = 8
LABELS = ("contradiction", "neutral", "entailment")
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
Side = Callable[[], list[torch.Tensor]]
"""Returns one output per input."""


def entailment(folder: Path, items: Sequence[Item], width: int, layers: int) -> tuple[Side, Side]:
    config = bert_config(folder, texts_of(items), width, layers)
    config.id2label = dict(enumerate(LABELS))
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    ours = PairClassifier(folder, "float32", 512, ["entailment", "contradiction"])
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    grids = [ours.pairs.grid([item.article or ""], [item.summary], in_parts=False) for item in items]
    pairs = [pair for grid in grids for row in grid.rows for pair in row]

    def library() -> list[torch.Tensor]:
        logits = [theirs(**typed(pair.ids, pair.start)).logits[0] for pair in pairs]
        return [each.softmax(dim=0)[[2, 0]] for each in logits]

    return lambda: [torch.tensor(each) for each in ours.probabilities(pairs)], library


def summaqa(folder: Path, items: Sequence[Item], width: int, layers: int) -> tuple[Side, Side]:
    config = bert_config(folder, texts_of(items), width, layers)
    transformers.BertForQuestionAnswering(config).save_pretrained(folder)
    ours = ExtractiveReader(folder)
    theirs = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    asked = [
        ours.asked(ours.passage(question).ids, ours.passage(item.summary).ids)
        for item in items
        for question in sentences(item.article or "")[:QUESTIONS]
    ]

    def library() -> list[torch.Tensor]:
        outputs = (theirs(**typed(each.ids, each.start)) for each in asked)
        return [torch.cat([each.start_logits, each.end_logits]) for each in outputs]

    return lambda: [each for each in ours.logits(asked) if each is not None], library


def ctc(folder: Path, items: Sequence[Item], width: int, layers: int) -> tuple[Side, Side]:
    RobertaModel(roberta_config(folder, texts_of(items), width, layers)).save_pretrained(folder)
    head = {"weight": torch.randn(2, width) / width**0.5, "bias": torch.zeros(2)}
    save_file(head, folder / "classifier.safetensors")
    ours = DiscriminativeAligner(folder, "float32")
    theirs = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pairs = [(item.summary, item.article or "") for item in items]

    def library() -> list[torch.Tensor]:
        found = []
        for summary, article in pairs:
            ids = tokenizer(summary, article, truncation="only_second", max_length=512, return_tensors="pt")
            own = [place for place, side in enumerate(ids.sequence_ids()) if side == 0]
            found.append(theirs(**ids).last_hidden_state[0, own] @ head["weight"].T)
        return found

    return lambda: [each.products for each in ours.read(pairs) if each.products is not None], library


def unite(folder: Path, items: Sequence[Item], width: int, layers: int) -> tuple[Side, Side]:
    theirs = RobertaModel(roberta_config(folder, texts_of(items), width, layers), add_pooling_layer=False)
    theirs.eval().save_pretrained(folder)
    tensors = {f"encoder.model.{name}": each for name, each in theirs.state_dict().items()}
    estimator = []
    for number, (columns, rows) in zip((0, 3, 6), pairwise((width, *UNITE_HIDDEN, 1)), strict=True):
        linear = torch.nn.Linear(columns, rows)
        torch.nn.init.normal_(linear.weight, std=columns**-0.5)
        tensors |= {f"estimator.ff.{number}.{name}": each for name, each in linear.state_dict().items()}
        estimator += [linear, torch.nn.Tanh()]
    weights = torch.randn(layers + 1)
    tensors["layerwise_attention.gamma"] = torch.ones(1)
    for layer, weight in enumerate(weights):
        tensors[f"layerwise_attention.scalar_parameters.{layer}"] = weight[None]
    save_file(tensors, folder / "model.safetensors")
    ours = JointModel(folder, "float32", settings_name="unite_hparams.json", joint_limit=512, outputs=1)
    scenarios = {
        "ref": [(item.summary, item.references[0]) for item in items],
        "src": [(item.summary, item.article or "") for item in items],
    }
    groups = [(name, [texts]) for name, each in scenarios.items() for texts in each]
    sequences, _ = ours.inputs.of([texts for _, [texts] in groups])
    ids = [torch.tensor(each.ids) for each in sequences]
    padding = ours.inputs.tokens.padding
    head = torch.nn.Sequential(*estimator[:-1])

    def read() -> list[torch.Tensor]:
        return [torch.tensor(each.outputs) for [each] in ours.read(groups) if each is not None]

    def library() -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        for start in range(0, len(ids), UNITE_BATCH):
            chosen = ids[start : start + UNITE_BATCH]
            batch = pad_sequence(chosen, batch_first=True, padding_value=padding)
            layers = theirs(batch, batch.ne(padding).long(), output_hidden_states=True).hidden_states
            for row, each in enumerate(chosen):
                states = [layer[row, : len(each)] for layer in layers]
                normed = [(state[0] - state.mean()) / state.std(unbiased=False) for state in states]
                found.append(head(weights.softmax(dim=0) @ torch.stack(normed)))
        return found

    return read, library


TASKS = {"entailment": entailment, "summaqa": summaqa, "ctc": ctc, "unite": unite}


def typed(ids: Sequence[int], start: int) -> dict[str, Any]:
    types = [int(place >= start) for place in range(len(ids))]
    return {"input_ids": torch.tensor([ids]), "token_type_ids": torch.tensor([types])}


def texts_of(items: Sequence[Item]) -> list[str]:
    return [text for item in items for text in (item.article or "", item.summary)]


def roberta_config(folder: Path, texts: Sequence[str], width: int, layers: int) -> RobertaConfig:
    """Save a tokenizer trained on the texts, and return a configuration with wide random weights."""
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=30_000, special_tokens=SPECIALS, show_progress=False)
    trained.save_model(str(folder))
    RobertaTokenizer.from_pretrained(folder, model_max_length=512).save_pretrained(folder)
    torch.manual_seed(0)
    return RobertaConfig(
        vocab_size=trained.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        intermediate_size=4 * width,
        max_position_embeddings=514,
        type_vocab_size=1,
        initializer_range=0.05,
    )


def compare(task: str, ours: Side, theirs: Side, rounds: int) -> None:
    our_seconds, their_seconds = [], []
    difference, inputs, spread = 0.0, 0, 0.0
    for _ in range(rounds):
        taken, found = timed(ours)
        our_seconds.append(taken)
        with torch.inference_mode():
            taken, expected = timed(theirs)
        their_seconds.append(taken)
        inputs, spread = len(expected), float(torch.cat([each.flatten() for each in expected]).std())
        pairs = zip(found, expected, strict=True)
        difference = max(difference, *(float((one - two).abs().max()) for one, two in pairs))
    us, them = median(our_seconds), median(their_seconds)
    print(
        f"{task}, {inputs} inputs: ours {inputs / us:.1f} a second, the library {inputs / them:.1f}; "
        f"{them / us:.2f} times as fast; largest difference {difference:.1e} in a spread of {spread:.2f}",
        flush=True,
    )
    if difference > LARGEST:
        raise SystemExit("the outputs differ")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    given = parser.parse_args()
    items = read_summeval(given.folder, given.articles, references=1)
    for task in given.tasks:
        with tempfile.TemporaryDirectory() as folder:
            ours, theirs = TASKS[task](Path(folder), items, given.width, given.layers)
            compare(task, ours, theirs, given.rounds)


if __name__ == "__main__":
    main()
