"""The table of evaluators. Nothing is imported before it is used."""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scoring.contract import Evaluator

FAMILIES = {
    "Baselines": {
        "majority": "scoring.evaluators.majority.Majority",
        "length": "scoring.evaluators.length.Length",
        "copy_rate": "scoring.evaluators.copy_rate.CopyRate",
    },
    "Overlap of words": {
        "rouge": "scoring.evaluators.rouge.Rouge",
    },
    "Likeness of embeddings": {
        "bertscore": "scoring.evaluators.bertscore.BertScore",
        "moverscore": "scoring.evaluators.moverscore.MoverScore",
        "supert": "scoring.evaluators.supert.Supert",
        "similarity": "scoring.evaluators.similarity.Similarity",
    },
    "Likelihood under a language model": {
        "bartscore": "scoring.evaluators.bartscore.BartScore",
        "blanc": "scoring.evaluators.blanc.Blanc",
    },
    "Learnt to judge": {
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
    "Prompted language models": {
        "ice": "scoring.evaluators.ice.Ice",
    },
    "Made of other evaluators": {
        "jury": "scoring.evaluators.jury.Jury",
        "calibrated": "scoring.evaluators.calibrated.Calibrated",
    },
}
"""Family -> name of an evaluator -> its class, in the order in which people read them."""

EVALUATORS = {name: path for family in FAMILIES.values() for name, path in family.items()}


class UnknownEvaluator(LookupError):
    """No evaluator of that name; the message has the near ones."""


def load_evaluator(name: str) -> "type[Evaluator]":
    """The class of that name. Raises UnknownEvaluator."""
    if name not in EVALUATORS:
        near = difflib.get_close_matches(name, EVALUATORS)
        advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(EVALUATORS)}"
        raise UnknownEvaluator(f"no evaluator is called {name!r}; {advice}")
    module, _, class_name = EVALUATORS[name].rpartition(".")
    evaluator: type[Evaluator] = getattr(import_module(module), class_name)
    return evaluator
