"""Encoders that only the library can run: the same results as for each input alone."""

import pytest
import torch
import transformers
from safetensors.torch import save_file

from scoring.neural.ctc import RegressionAligner
from scoring.neural.extractive_qa import ExtractiveReader
from scoring.neural.pair_classifier import PairClassifier
from scoring.neural.text_pairs import EncodedPair
from scoring.weights.model_files import MissingWeights
from tests.scoring.evaluator_settings import NLI
from tests.scoring.tiny_models import tiny_model

INPUTS = [tuple(range(10, 10 + length)) for length in (4, 9, 9, 30)]


@pytest.fixture
def folder(tmp_path):
    transformers.AutoTokenizer.from_pretrained(tiny_model("bert")).save_pretrained(tmp_path)
    return tmp_path


def saved(folder, head, **settings):
    """Return a DistilBERT after storing it in the folder."""
    config = transformers.DistilBertConfig(
        vocab_size=400, dim=32, hidden_dim=48, n_layers=3, n_heads=2, initializer_range=0.3, **settings
    )
    torch.manual_seed(0)
    model = getattr(transformers, f"DistilBert{head}")(config).eval()
    model.save_pretrained(folder)
    return model


def test_entailment_equals_the_librarys(folder):
    model = saved(folder, "ForSequenceClassification", id2label=dict(enumerate(NLI)))
    classifier = PairClassifier(folder, "float32", 512, ["entailment", "contradiction"])
    found = classifier.probabilities([EncodedPair(ids, 2, 1, 1) for ids in INPUTS])
    for ids, (entails, contradicts) in zip(INPUTS, found, strict=True):
        with torch.no_grad():
            told = model(input_ids=torch.tensor([ids])).logits[0].softmax(dim=-1)
        assert entails == pytest.approx(told[NLI.index("ENTAILMENT")].item(), abs=1e-5)
        assert contradicts == pytest.approx(told[NLI.index("CONTRADICTION")].item(), abs=1e-5)


def test_answers_equal_the_librarys(folder):
    model = saved(folder, "ForQuestionAnswering")
    reader = ExtractiveReader(folder)
    asked = [reader.asked(ids[:2], ids[2:]) for ids in INPUTS]
    for each, logits in zip(asked, reader.logits(asked), strict=True):
        with torch.no_grad():
            told = model(input_ids=torch.tensor([each.ids]))
        assert torch.allclose(logits, torch.cat([told.start_logits, told.end_logits]), atol=1e-5)


def test_regression_aligner_is_refused(folder):
    saved(folder, "Model")
    save_file({"weight": torch.ones(1, 32), "bias": torch.ones(1)}, folder / "dense.safetensors")
    with pytest.raises(MissingWeights, match="no BERT or RoBERTa"):
        RegressionAligner(folder, "float32")
