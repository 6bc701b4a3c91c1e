"""The table of evaluators. Their modules are imported on first use."""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.contract.evaluator import Evaluator

FAMILIES = {
    "Baselines": {
        "majority": "scoring.evaluators.majority.Majority",
        "length": "scoring.evaluators.length.Length",
        "copy_rate": "scoring.evaluators.copy_rate.CopyRate",
    },
    "Word overlap": {"rouge": "scoring.evaluators.rouge.Rouge"},
    "Embeddings": {
        "bertscore": "scoring.evaluators.bertscore.BertScore",
        "moverscore": "scoring.evaluators.moverscore.MoverScore",
        "supert": "scoring.evaluators.supert.Supert",
        "similarity": "scoring.evaluators.similarity.Similarity",
    },
    "Language model likelihood": {
        "bartscore": "scoring.evaluators.bartscore.BartScore",
        "blanc": "scoring.evaluators.blanc.Blanc",
    },
    "Trained evaluators": {
        "unieval": "scoring.evaluators.unieval.UniEval",
        "ctc": "scoring.evaluators.ctc.Ctc",
        "unite": "scoring.evaluators.unite.Unite",
        "umse": "scoring.evaluators.umse.Umse",
        "seahorse": "scoring.evaluators.seahorse.Seahorse",
    },
    "Entailment": {
        "entailment": "scoring.evaluators.entailment.Entailment",
        "true_nli": "scoring.evaluators.true_nli.TrueNli",
        "xnli_mt5": "scoring.evaluators.xnli_mt5.XnliMt5",
    },
    "Question answering": {
        "summaqa": "scoring.evaluators.summaqa.SummaQA",
        "qa": "scoring.evaluators.qa.QuestionAnswering",
    },
    "Prompted language models": {"ice": "scoring.evaluators.ice.Ice"},
    "Combinations of evaluators": {
        "jury": "scoring.evaluators.jury.Jury",
        "calibrated": "scoring.evaluators.calibrated.Calibrated",
    },
}
"""Family -> name of an evaluator -> its class, in display order."""

EVALUATORS = {name: path for family in FAMILIES.values() for name, path in family.items()}


class UnknownEvaluator(LookupError):
    """There is no evaluator of that name; the message suggests similar ones."""


def load_evaluator(name: str) -> "type[Evaluator]":
    """Return the class of the named evaluator. Raises UnknownEvaluator."""
    if name not in EVALUATORS:
        near = difflib.get_close_matches(name, EVALUATORS)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(EVALUATORS)}"
        raise UnknownEvaluator(f"no evaluator is called {name!r}; {advice}")
    module, _, class_name = EVALUATORS[name].rpartition(".")
    evaluator: type[Evaluator] = getattr(import_module(module), class_name)
    return evaluator
