"""Models that learn yes and no from prompts: T5 and mT5 by writing 1 or 0, encoders by a head."""

import json
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from scipy.special import expit
from scipy.stats import rankdata
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from scoring.neural.batching import padded, second_text
from scoring.neural.encoder import input_limit
from scoring.neural.loading import load_config, load_model, load_tensors
from scoring.neural.pair_classifier import has_token_types
from scoring.neural.prompts import Prompts
from scoring.neural.t5_pass import OUTPUT
from scoring.neural.text_pairs import TextPairs, pair_in
from scoring.neural.tokens import TextTokenizer
from scoring.trainers.contract import CannotTrain
from scoring.trainers.learner import Learner, attention_dropout_in, without_attention_dropout
from scoring.trainers.seahorse_examples import LabelledSummary

ANSWERS = ("0", "1")
"""The model's answers, by label."""
CONFIG = "config.json"
NO_ID = -100
"""Padding of answers."""
READ_TOGETHER = 512
"""Examples that are tokenised in one call."""
HEAD = ("classifier.", "head.", "pooler.", "pre_classifier.", "score.", "sequence_summary.")
"""Beginnings of the names of a classifier's weights, which its base may lack or have for other labels."""


def learner_for(base: Path, **settings: Any) -> "AnswerLearner":
    """Return a learner of the base model's kind, made with `settings`.

    Raises CannotTrain for an unsuitable model, MissingWeights for one that cannot be loaded.
    """
    config = load_config(base)
    if not config.is_encoder_decoder:
        return ClassifyingLearner(base, **settings)
    if config.model_type not in ("t5", "mt5"):
        raise CannotTrain(
            f"{base.name} is of the kind {config.model_type!r}; expected T5, mT5 or an encoder."
        )
    return WritingLearner(base, **settings)


class AnswerLearner(Learner):
    """The base of both kinds of learners. The module's outputs [examples] are the log-odds of yes.

    `prompts` maps each dimension to a template with {article} and {summary}.
    """

    def __init__(
        self,
        base: Path,
        *,
        prompts: Mapping[str, str],
        max_length: int,
        choose_by: str,
        lora_rank: int,
        gradient_checkpointing: bool,
        attention_dropout: bool,
    ) -> None:
        self.choose_by = choose_by
        self.higher_is_better = choose_by != "validation_loss"
        self._prompts = prompts
        self._max_length = max_length
        self._tokens = TextTokenizer(base)
        self._attention_dropout = attention_dropout
        self._stated_dropout = attention_dropout_in(base)
        self._model = self._load(base)
        if gradient_checkpointing:
            self._model.activation_checkpointing_enable({"use_reentrant": False})
        self._adapted = _with_lora(self._model, lora_rank) if lora_rank else None
        self.module = self._module(self._model if self._adapted is None else self._adapted)
        self._encoded: dict[LabelledSummary, tuple[np.ndarray, int]] = {}

    def lengths(self, examples: Sequence[LabelledSummary]) -> list[int]:
        new = [each for each in dict.fromkeys(examples) if each not in self._encoded]
        for first in range(0, len(new), READ_TOGETHER):
            together = new[first : first + READ_TOGETHER]
            for example, (ids, start) in zip(together, self._encode(together), strict=True):
                self._encoded[example] = np.array(ids, dtype=np.int32), start
        return [len(self._encoded[each][0]) for each in examples]

    def batch(self, examples: Sequence[LabelledSummary]) -> dict[str, Tensor]:
        self.lengths(examples)
        ids = [torch.from_numpy(self._encoded[each][0]).long() for each in examples]
        mask = pad_sequence([torch.ones_like(each) for each in ids], batch_first=True)
        return {
            "input_ids": pad_sequence(ids, batch_first=True, padding_value=self._tokens.padding),
            "attention_mask": mask,
            "labels": torch.tensor([each.label for each in examples], dtype=torch.float32),
            "weights": torch.tensor([each.weight for each in examples]),
        }

    def measures(self, examples: Sequence[LabelledSummary], outputs: np.ndarray) -> dict[str, float]:
        """Return loss, Pearson's r and ROC AUC, means over dimensions; with several also of each.

        r and AUC are nan where they are undefined. Labels of .5 are neither yes nor no in the AUC.
        """
        labels = np.array([each.label for each in examples])
        dimensions = np.array([each.dimension for each in examples])
        found = {
            dimension: agreement(labels[dimensions == dimension], outputs[dimensions == dimension])
            for dimension in self._prompts
        }
        means = {
            f"validation_{name}": float(np.mean([each[name] for each in found.values()]))
            for name in ("loss", "pearson", "auc")
        }
        if len(found) == 1:
            return means
        return means | {
            f"validation_{name}_{dimension}": value
            for dimension, each in found.items()
            for name, value in each.items()
        }

    def save(self, folder: Path) -> None:
        model = self._model if self._adapted is None else self._adapted.merge_and_unload()
        model.config.update(self._stated_dropout)  # a later training from this model may want it
        model.save_pretrained(folder, max_shard_size="1000GB")  # one file
        self._tokens.tokenizer.save_pretrained(folder)

    @abstractmethod
    def _load(self, base: Path) -> PreTrainedModel: ...

    @abstractmethod
    def _module(self, model: torch.nn.Module) -> torch.nn.Module: ...

    @abstractmethod
    def _encode(self, examples: Sequence[LabelledSummary]) -> list[tuple[Sequence[int], int]]:
        """Return each example's ids, and where its second text begins."""


class WritingLearner(AnswerLearner):
    """A T5 or mT5 that learns to write the label, and to end there."""

    def _load(self, base: Path) -> PreTrainedModel:
        return load_model(base, transformers.AutoModelForSeq2SeqLM)

    def _module(self, model: torch.nn.Module) -> torch.nn.Module:
        pieces = self._tokens.pieces(ANSWERS)
        unknown = self._tokens.tokenizer.unk_token_id
        if pieces[0][0] == pieces[1][0] or unknown in (*pieces[0], *pieces[1]):
            raise CannotTrain("The base model's vocabulary does not tell 0 and 1 apart. Choose another one.")
        closed = [torch.tensor((*each, *self._tokens.closing)) for each in pieces]
        answers = pad_sequence(closed, batch_first=True, padding_value=NO_ID)
        begun: Tensor = self._model.prepare_decoder_input_ids_from_labels(answers)  # type: ignore[operator]
        return _Writing(model, answers, begun)

    def _encode(self, examples: Sequence[LabelledSummary]) -> list[tuple[Sequence[int], int]]:
        found: dict[int, tuple[Sequence[int], int]] = {}
        for dimension, prompt in self._prompts.items():
            places = [place for place, each in enumerate(examples) if each.dimension == dimension]
            texts = [(examples[place].article, examples[place].summary) for place in places]
            prompted = Prompts(self._tokens, prompt, self._max_length, "cut").of(texts)
            found |= {place: (each.inputs[0], 0) for place, each in zip(places, prompted, strict=True)}
        return [found[place] for place in range(len(examples))]

    def save(self, folder: Path) -> None:
        super().save(folder)
        # The library writes that all are tied, and its version 4 would then ignore an output matrix.
        stated = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        stated["tie_word_embeddings"] = OUTPUT not in load_tensors(folder)
        (folder / CONFIG).write_text(json.dumps(stated, indent=2) + "\n", encoding="utf-8")


class ClassifyingLearner(AnswerLearner):
    """An encoder with a new head for yes and no."""

    def _load(self, base: Path) -> PreTrainedModel:
        model = load_model(
            base,
            transformers.AutoModelForSequenceClassification,
            may_lack=HEAD,
            num_labels=len(ANSWERS),
            id2label=dict(enumerate(ANSWERS)),
            label2id={answer: label for label, answer in enumerate(ANSWERS)},
            **({} if self._attention_dropout else without_attention_dropout(base)),
        )
        self._has_types = has_token_types(model.config, self._tokens)
        self._pairs = TextPairs(self._tokens, min(self._max_length, input_limit(model.config, self._tokens)))
        return model

    def _module(self, model: torch.nn.Module) -> torch.nn.Module:
        return _Classifying(model)

    def _encode(self, examples: Sequence[LabelledSummary]) -> list[tuple[Sequence[int], int]]:
        texts = [pair_in(self._prompts[each.dimension], each.article, each.summary) for each in examples]
        self._tokens.pieces([text for pair in texts for text in pair])
        pairs = [self._pairs.grid([one], [other], in_parts=False).rows[0][0] for one, other in texts]
        return [(pair.ids, pair.start) for pair in pairs]

    def batch(self, examples: Sequence[LabelledSummary]) -> dict[str, Tensor]:
        found = super().batch(examples)
        if self._has_types:
            types = [second_text(len(ids), start) for ids, start in map(self._encoded.__getitem__, examples)]
            found["token_type_ids"], _ = padded(types, 0)
        return found


class _Writing(torch.nn.Module):
    """`answers` and `begun` [labels, steps]: ids to write, and what the decoder reads before each."""

    answers: Tensor
    begun: Tensor

    def __init__(self, model: Any, answers: Tensor, begun: Tensor) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("answers", answers, persistent=False)
        self.register_buffer("begun", begun, persistent=False)
        self._no, self._yes = answers[:, 0].tolist()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor, weights: Tensor
    ) -> dict[str, Tensor]:
        losses, outputs = self._of(labels.round().long(), input_ids, attention_mask)
        doubts = (labels - labels.round()).abs()
        if bool(doubts.any()):
            others, _ = self._of(1 - labels.round().long(), input_ids, attention_mask)
            losses = (1 - doubts) * losses + doubts * others
        return {"loss": (losses * weights).mean(), "outputs": outputs}

    def _of(self, answers: Tensor, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of each of these answers [examples], and the log-odds of yes."""
        logits = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=self.begun[answers],
            use_cache=False,
        ).logits.float()
        written = self.answers[answers]
        losses = cross_entropy(logits.transpose(1, 2), written, ignore_index=NO_ID, reduction="none")
        means = losses.sum(dim=1) / (written != NO_ID).sum(dim=1)
        return means, logits[:, 0, self._yes] - logits[:, 0, self._no]


class _Classifying(torch.nn.Module):
    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, labels: Tensor, weights: Tensor, **inputs: Tensor) -> dict[str, Tensor]:
        logits = self.model(**inputs).logits.float()
        losses = cross_entropy(logits, torch.stack([1 - labels, labels], dim=1), reduction="none")
        return {"loss": (losses * weights).mean(), "outputs": logits[:, 1] - logits[:, 0]}


def agreement(labels: np.ndarray, log_odds: np.ndarray) -> dict[str, float]:
    """Return cross-entropy, Pearson's r of labels and probabilities, and ROC AUC.

    Labels are from 0 (no) to 1 (yes), some above .5 and some below, which the AUC tells apart.
    All are nan without labels.
    """
    if not len(labels):
        return dict.fromkeys(("loss", "pearson", "auc"), float("nan"))
    scores = expit(log_odds.astype(np.float64))
    losses = labels * np.logaddexp(0, -log_odds) + (1 - labels) * np.logaddexp(0, log_odds)
    decided = labels != 0.5
    ranks, positive = rankdata(log_odds[decided]), labels[decided] > 0.5
    pairs = positive.sum() * (~positive).sum()
    return {
        "loss": float(losses.mean()),
        "pearson": float(np.corrcoef(labels, scores)[0, 1]) if scores.std() else float("nan"),
        "auc": float((ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / pairs),
    }


def _with_lora(model: PreTrainedModel, rank: int) -> Any:
    import peft

    task = peft.TaskType.SEQ_2_SEQ_LM if model.config.is_encoder_decoder else peft.TaskType.SEQ_CLS
    config = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type=task)
    with warnings.catch_warnings():
        # peft itself asks the model by a name that transformers has replaced.
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        return peft.get_peft_model(model, config)
