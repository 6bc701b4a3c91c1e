"""Settings for the tests of every evaluator: required parameters, and other values of each parameter."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.scoring.ctc_model import ctc_model
from tests.scoring.joint_models import tiny_umse, tiny_unite
from tests.scoring.t5_models import label_model
from tests.scoring.tiny_models import tiny_model


def model(kind: str, head: str = "", labels: tuple[str, ...] = ()) -> Callable[[], str]:
    return lambda: str(tiny_model(kind, head, labels))


def table(content: str) -> Callable[[], str]:
    path = Path(tempfile.mkdtemp(prefix="table-")) / "table.tsv"
    path.write_text(content, encoding="utf-8")
    return lambda: str(path)


NLI = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
REQUIRED: dict[str, dict[str, Callable[[], str]]] = {
    "ctc": {
        "model": lambda: str(ctc_model()),
        "relevance_model": lambda: str(ctc_model(seed=1)),
        "layer": lambda: "2",
    },
    "unieval": {"model": model("t5"), "max_length": lambda: "512"},
    "entailment": {"model": model("bert", "ForSequenceClassification", NLI)},
    "qa": {
        "model": model("bert", "ForQuestionAnswering"),
        "question_model": model("t5"),
        "round_trip": lambda: "no",
        "no_answer": lambda: "no",
        "beams": lambda: "2",
        "longest_question": lambda: "8",
    },
    "summaqa": {"model": model("bert", "ForQuestionAnswering")},
    "blanc": {"model": model("bert", "ForMaskedLM")},
    "ice": {"model": lambda: "scripted"},
    "similarity": {"model": model("bert")},
    "moverscore": {"model": model("bert")},
    "supert": {"model": model("bert")},
    "bertscore": {"model": model("roberta"), "layer": lambda: "2"},
    "bartscore": {"model": model("bart")},
    "unite": {"model": lambda: str(tiny_unite())},
    "umse": {"model": lambda: str(tiny_umse())},
    "seahorse": {"model": lambda: str(label_model()), "max_length": lambda: "512"},
    "true_nli": {"model": lambda: str(label_model("t5")), "max_length": lambda: "512"},
    "xnli_mt5": {"model": lambda: str(label_model()), "max_length": lambda: "512"},
    "jury": {"members": lambda: "one,two"},
    "calibrated": {
        "member": lambda: "one",
        "dimensions": lambda: "consistency",
        "fewest_labels": lambda: "4",
    },
}
"""Evaluator -> parameter without a default that tiny models can use -> function that returns its value.

Models without a limit of their own are given one, so that long texts are cut but take little time.
"""

LABELLED: dict[str, Callable[[], str]] = {
    "model": lambda: str(label_model("mt5", num_decoder_layers=1)),
    "prompt": lambda: "hypothesis: {summary} premise: {article}",
    "labels": lambda: "0,1,2",
    "positive": lambda: "0",
}
OTHER: dict[str, dict[str, Callable[[], str]]] = {
    "ctc": {
        "model": lambda: str(ctc_model(seed=2)),
        "relevance_model": lambda: str(ctc_model(seed=2)),
        "stop_words": lambda: "cat",
    },
    "unieval": {"model": model("mt5"), "dimensions": lambda: "fluency,coherence"},
    "entailment": {"model": model("roberta", "ForSequenceClassification", NLI)},
    "qa": {
        "model": model("roberta", "ForQuestionAnswering"),
        "question_model": model("bart"),
        "prompt": lambda: "{context} [SEP] {answer}",
    },
    "summaqa": {"model": model("roberta", "ForQuestionAnswering")},
    "blanc": {"model": lambda: str(tiny_model("bert", "ForMaskedLM", num_hidden_layers=1))},
    "ice": {
        "model": lambda: "another",
        "base_url": lambda: "http://127.0.0.1:9/v1",
        "api_key_env": lambda: "ANOTHER_API_KEY",
        "dimensions": lambda: "consistency",
        "sees": lambda: "relevance=article",
        "descriptions": lambda: "relevance=Is it to the point?",
        "context_tokens": lambda: "100000",
        "tokenizer": model("bert"),
    },
    "similarity": {"model": model("roberta")},
    "moverscore": {"model": model("roberta"), "stop_words": lambda: "the,a"},
    "supert": {"model": model("roberta"), "stop_words": lambda: "cat"},
    "bertscore": {
        "model": model("bert"),
        "baseline": table("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n2,0.3,0.3,0.3\n"),
    },
    "bartscore": {
        "model": lambda: str(tiny_model("bart", activation_function="relu")),
        "prompts": lambda: "In short",
    },
    "unite": {"model": lambda: str(tiny_unite(seed=1))},
    "umse": {"model": lambda: str(tiny_umse(seed=1))},
    "seahorse": LABELLED,
    "true_nli": LABELLED,
    "xnli_mt5": LABELLED,
    "jury": {"members": lambda: "one,three"},
    "calibrated": {"member": lambda: "two", "dimensions": lambda: "fluency"},
}
"""Evaluator -> parameter for which the tests cannot derive another value -> function that returns one."""


COMPANIONS: dict[str, dict[str, dict[str, object]]] = {
    "ice": {
        "mode": {"marks": "1-5"},
        "marks": {"dimensions": ("consistency", "relevance")},
        "structured": {"prompt": "described"},
    }
}
"""Evaluator -> parameter -> other parameters that its other values require."""


def required(evaluator: str) -> dict[str, str]:
    return {name: value() for name, value in REQUIRED.get(evaluator, {}).items()}


def other_text(evaluator: str, parameter: str) -> str:
    return OTHER[evaluator][parameter]()


def companions(evaluator: str, parameter: str, value: object) -> dict[str, object]:
    if evaluator == "ice" and value in ("local_chat", "local_completions", "candidates"):
        local = {"model": str(tiny_model("llama")), "api": "local_chat", "mode": "candidates"}
        return {name: each for name, each in local.items() if name != parameter}
    return COMPANIONS.get(evaluator, {}).get(parameter, {})
