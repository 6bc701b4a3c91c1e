"""UniEval beside its authors' program, in one run: all four dimensions, the first reference.

    git clone https://github.com/maszhongming/UniEval; pip install prettytable
    OMP_NUM_THREADS=1 python benchmarks/evaluators/unieval.py UniEval FOLDER_OF_SUMMEVAL

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ}}`. Both sides have the same weights (`--model FOLDER`, or random ones of the
size asked for, with a tokenizer trained on the texts), sentences, library and thread. The authors' program
gets all summaries in the order of articles in one call. Prints summaries per second of CPU time, the ratio of
both, the largest difference of scores and how widely they are spread, and how much of the time the matrix
products that cannot be avoided take at the rate at which this machine multiplies matrices.
"""

import argparse
import contextlib
import functools
import importlib
import io
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from benchmarks.evaluators.shared import load_ours, product_rate, read_summeval, score
from scoring.contract.items import Item

BUDGET = 1.5
LARGEST = 1e-5
DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
VOCABULARY = 32_128
PIECES = 8_000
"""With so many an article of SummEval is about as long as in T5's own vocabulary."""
Scores = list[dict[str, float]]


def random_model(folder: Path, texts: Iterable[str], width: int, layers: int) -> Path:
    trained = Tokenizer(models.BPE(unk_token="<unk>"))
    trained.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    trained.train_from_iterator(
        [*texts, "Yes No " * 1000],
        trainers.BpeTrainer(
            vocab_size=PIECES, special_tokens=["<pad>", "</s>", "<unk>"], show_progress=False
        ),
    )
    trained.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    PreTrainedTokenizerFast(
        tokenizer_object=trained, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "d_model": width,
        "d_kv": 64,
        "num_heads": width // 64,
        "d_ff": 4 * width,
        "num_layers": layers,
        "decoder_start_token_id": 0,
    }
    config = T5Config(vocab_size=VOCABULARY, **sizes)
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


def load_peer(checkout: Path, model: Path, items: Sequence[Item]) -> Any:
    """Load the authors' evaluator with our folder of the model, CPU and sentences."""
    sys.path.insert(0, str(checkout))
    module: Any = importlib.import_module("metric.evaluator")
    scorer = module.UniEvaluator
    module.UniEvaluator = lambda model_name_or_path, **rest: scorer(str(model), **rest)  # noqa: ARG005
    module.sent_tokenize = {item.summary: list(item.summary_sentences or ()) for item in items}.__getitem__
    return module.SumEvaluator(device="cpu")


def their_scores(peer: Any, items: Sequence[Item]) -> Scores:
    data = [
        {"system_output": item.summary, "source": item.article, "reference": item.references[0]}
        for item in items
    ]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        found: Scores = peer.evaluate(data)
    return found


def our_scores(evaluator: Any, items: Sequence[Item]) -> Scores:
    return [dict(scored.values) for scored in score(evaluator, items)]


def inputs(items: Sequence[Item]) -> set[str]:
    """Return the authors' program's questions, each once."""
    add_question = functools.partial(importlib.import_module("utils").add_question, task="summarization")
    asked: set[str] = set()
    for item in items:
        pairs = {"output": [item.summary], "src": [item.article], "ref": [item.references[0]]}
        asked.update(*(add_question(dimension, **pairs) for dimension in ("coherence", "relevance")))
        for sentence in item.summary_sentences or ():
            pairs["output"] = [sentence]
            asked.update(*(add_question(dimension, **pairs) for dimension in ("consistency", "fluency")))
    return asked


def unavoidable_products(model: Path, asked: set[str]) -> float:
    """Return the floating-point operations of the matrix products of encoder and decoder."""
    config: Any = T5Config.from_pretrained(model)
    inner = config.num_heads * config.d_kv
    feed_forward = (3 if config.is_gated_act else 2) * config.d_model * config.d_ff
    total = 0.0
    for ids in AutoTokenizer.from_pretrained(model)(sorted(asked), truncation=True, max_length=1024)[
        "input_ids"
    ]:
        read = len(ids)
        encoded = 4 * config.d_model * inner + feed_forward + 2 * read * inner
        decoded = 2 * config.num_heads * config.d_model
        total += read * (config.num_layers * encoded + config.num_decoder_layers * decoded)
    return 2 * total


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkout", type=Path, help="the authors' repository")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--articles", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    transformers.utils.logging.disable_progress_bar()
    everything = read_summeval(given.folder, references=1, with_sentences=True)
    texts = {text for item in everything for text in (item.article or "", item.summary, *item.references)}
    chosen = set(list(dict.fromkeys(item.article for item in everything))[: given.articles])
    items = [item for item in everything if item.article in chosen]
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or random_model(Path(folder), sorted(texts), given.width, given.layers)
        compare(given.checkout, model, items, given.rounds)


def compare(checkout: Path, model: Path, items: list[Item], rounds: int) -> None:
    peer = load_peer(checkout, model, items)
    asked = inputs(items)
    print(f"{len(items)} summaries of {len({item.article for item in items})} articles, {len(asked)} inputs")
    ratios, our_seconds = [], []
    for number in range(1, rounds + 1):
        ours = load_ours("unieval", model=str(model))
        start = time.process_time()
        found = our_scores(ours, items)
        middle = time.process_time()
        theirs = their_scores(peer, items)
        end = time.process_time()
        difference = max(
            abs(one[dimension] - other[dimension])
            for one, other in zip(found, theirs, strict=True)
            for dimension in (*DIMENSIONS, "overall")
        )
        our_seconds.append(middle - start)
        ratios.append((end - middle) / (middle - start))
        print(
            f"round {number}: ours {len(items) / (middle - start):.2f} summaries/s, authors' "
            f"{len(items) / (end - middle):.2f}; {ratios[-1]:.2f} times as fast; "
            f"largest difference {difference:.1e}"
        )
        if difference > LARGEST:
            raise SystemExit("the results differ")
    for dimension in DIMENSIONS:
        values = [each[dimension] for each in found]
        print(f"{dimension}: {min(values):.3f} to {max(values):.3f}")
    config = T5Config.from_pretrained(model)
    floor = unavoidable_products(model, asked) / product_rate(config.d_model)
    print(
        f"median: {median(ratios):.2f} times as fast (budget {BUDGET}); the unavoidable products alone take "
        f"{floor:.2f} of {median(our_seconds):.2f} s, {floor / median(our_seconds):.0%}"
    )
    if median(ratios) < BUDGET:
        raise SystemExit("the budget is missed")


if __name__ == "__main__":
    main()
