"""What the benchmarks of evaluators share: SummEval, loaded evaluators, times and rates."""

import gzip
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizer

from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.texts.sentences import sentences

Found = TypeVar("Found")


def read_summeval(
    folder: Path, articles: int | None = None, *, references: int | None = 0, with_sentences: bool = False
) -> list[Item]:
    """Return SummEval's items, article by article; an id is article/system. None means all."""
    with gzip.open(folder / "expert_means.16systems.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file][:articles]
    return [
        Item(
            f"{row['id']}/{name}",
            each["sys_summ"],
            article=row["src"],
            references=tuple(row["ref_summs"][:references]),
            article_id=row["id"],
            summary_sentences=sentences(each["sys_summ"]) if with_sentences else None,
        )
        for row in rows
        for name, each in row["sys_summs"].items()
    ]


def load_ours(name: str, **settings: object) -> Any:
    """Return an evaluator with its model loaded and no text of the benchmark seen."""
    evaluator_class = load_evaluator(name)
    evaluator = evaluator_class(read_params(evaluator_class, settings))
    evaluator.score([Item("to load", "A summary.", article="An article about it.", references=("One.",))])
    return evaluator


def score(evaluator: Any, items: Sequence[Item]) -> list[Any]:
    """Return the evaluator's results in batches of its size."""
    size = evaluator.batch_size
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    return [scored for batch in batches for scored in evaluator.score(batch)]


def timed(work: Callable[..., Found], *arguments: object) -> tuple[float, Found]:
    """Return the CPU seconds and the result."""
    start = time.process_time()
    found = work(*arguments)
    return time.process_time() - start, found


def product_rate(width: int, rows: int = 1024) -> float:
    """Return the floating-point operations per CPU second in a product of the model's matrix size."""
    one, other = torch.rand(rows, width), torch.rand(width, 4 * width)
    seconds = [timed(torch.matmul, one, other)[0] for _ in range(50)]
    return 2 * rows * width * 4 * width / median(seconds)


def bert_config(
    folder: Path, texts: Sequence[str], width: int, layers: int, vocabulary: int = 30_000
) -> BertConfig:
    """Save a tokenizer trained on the texts, and return a configuration with wide random weights."""
    trained = BertWordPieceTokenizer(lowercase=True)
    trained.train_from_iterator(texts, vocab_size=vocabulary, show_progress=False)
    trained.save_model(str(folder))
    BertTokenizer.from_pretrained(folder, model_max_length=512).save_pretrained(folder)
    torch.manual_seed(0)
    return BertConfig(
        vocab_size=trained.get_vocab_size(),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 32,
        intermediate_size=4 * width,
        initializer_range=0.05,
    )


def random_bert(folder: Path, texts: Sequence[str], width: int, layers: int) -> Path:
    """Save a BERT with random weights, wide enough for scores to differ."""
    BertModel(bert_config(folder, texts, width, layers)).save_pretrained(folder)
    return folder
