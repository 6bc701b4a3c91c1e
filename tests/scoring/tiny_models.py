"""Random models of every kind that evaluators load, a few kilobytes each, with their own tokenizers."""

import functools
import tempfile
from pathlib import Path
from typing import Any

TEXT = """
The cat sat on the mat. It was a good mat, and the cat liked it.
Officials said on Monday that the talks went on. She paid 3.50 for it! Really? Yes. No.
The company's shares fell by 4 percent after the news, the report says.
premise: hypothesis: question: Is this a coherent summary to the document? document: summary:
claim: paragraph: fluent consistent relevant reference: 0 1 2 MASKED xnli weren't
Die Katze saß auf der Matte. Am Montag sprach der Minister über die Wahl.
El gato se sentó en la alfombra. Кошка сидела на ковре. Министр сказал, что переговоры идут.
Kedi halının üzerinde oturdu. Bakan konuştu. Con mèo ngồi trên thảm. 猫坐在垫子上。很好。
"""
HIDDEN, LAYERS, HEADS, WIDE, POSITIONS = 32, 3, 2, 48, 512
PROMPT_POSITIONS = 8192
"""Positions of causal models; their tokenizers give about one token per letter."""
CHAT_TEMPLATE = """\
{% for message in messages %}<s>{{ message.role }}
{{ message.content }}</s>
{% endfor %}{% if add_generation_prompt %}<s>assistant
{% endif %}"""


@functools.cache
def tiny_model(kind: str, head: str = "", labels: tuple[str, ...] = (), **changes: Any) -> Path:
    """Return the folder of a model, the same one for the same arguments.

    `kind` is bert, roberta, xlm-roberta, bart, t5, mt5, or a causal language model with a chat template:
    llama, gpt2, mistral, bloom. `head` is the ending of a class of transformers (Model, ForMaskedLM,
    ForSequenceClassification, ForQuestionAnswering, ForConditionalGeneration, ForCausalLM, LMHeadModel);
    `labels` are a classifier's labels; `changes` go into its configuration.
    """
    import torch
    import transformers

    folder = Path(tempfile.mkdtemp(prefix=f"tiny-{kind}-"))
    tokenizer = _tokenizer(kind)
    tokenizer.save_pretrained(folder)
    name, sizes = _ARCHITECTURES[kind]
    config = getattr(transformers, f"{name}Config")(
        **{**sizes, "vocab_size": len(tokenizer), **_special_ids(kind, tokenizer), **changes},
        **({"id2label": dict(enumerate(labels))} if labels else {}),
    )
    generator_state = torch.random.get_rng_state()
    torch.manual_seed(0)
    model = getattr(transformers, f"{name}{head or _HEADS.get(kind, 'Model')}")(config)
    torch.random.set_rng_state(generator_state)
    model.save_pretrained(folder)
    return folder


def _tokenizer(kind: str) -> Any:
    """Load a tokenizer trained on TEXT; it is stored because training breaks ties at random."""
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    vocabulary, tokens = _TOKENIZERS[kind]
    file = Path(__file__).with_name("tiny_tokenizers") / f"{vocabulary}.json"
    names = {f"{name}_token": token for name, token in tokens.items()}
    if kind not in _CAUSAL:
        return PreTrainedTokenizerFast(tokenizer_file=str(file), model_max_length=POSITIONS, **names)
    found = PreTrainedTokenizerFast(tokenizer_file=str(file), model_max_length=PROMPT_POSITIONS, **names)
    opening = "" if kind == "gpt2" else "<s> "
    found.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{opening}$A", special_tokens=[("<s>", found.bos_token_id)]
    )
    found.chat_template = CHAT_TEMPLATE
    return found


def _special_ids(kind: str, tokenizer: Any) -> dict[str, int]:
    ids = {"pad_token_id": tokenizer.pad_token_id}
    if kind in ("t5", "mt5"):
        return ids | {
            "eos_token_id": tokenizer.eos_token_id,
            "decoder_start_token_id": tokenizer.pad_token_id,
        }
    if kind == "bart":
        end = tokenizer.eos_token_id
        return ids | {
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": end,
            "decoder_start_token_id": end,
        }
    if kind in _CAUSAL:
        return ids | {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return ids


_ENCODER = {
    "hidden_size": HIDDEN,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "intermediate_size": WIDE,
    "max_position_embeddings": POSITIONS + 2,
    "initializer_range": 0.3,
}
_T5 = {
    "d_model": HIDDEN,
    "d_kv": HIDDEN // HEADS,
    "d_ff": WIDE,
    "num_layers": LAYERS,
    "num_decoder_layers": 2,
    "num_heads": HEADS,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
    "initializer_factor": 1.0,
}
_BART = {
    "d_model": HIDDEN,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": WIDE,
    "decoder_ffn_dim": WIDE,
    "max_position_embeddings": POSITIONS,
    "init_std": 0.3,
}
_LLAMA = {
    **_ENCODER,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": PROMPT_POSITIONS,
    "tie_word_embeddings": False,
}
_GPT2 = {
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": HEADS,
    "n_positions": PROMPT_POSITIONS,
    "initializer_range": 0.3,
}
_BLOOM = {"hidden_size": HIDDEN, "n_layer": LAYERS, "n_head": HEADS, "initializer_range": 0.3}
_CAUSAL = ("llama", "gpt2", "mistral", "bloom")
_HEADS = {
    **dict.fromkeys(("bart", "t5", "mt5"), "ForConditionalGeneration"),
    **dict.fromkeys(("llama", "mistral", "bloom"), "ForCausalLM"),
    "gpt2": "LMHeadModel",
}
_MARKS = {"pad": "<pad>", "eos": "</s>", "unk": "<unk>"}
_ALL_MARKS = {**_MARKS, "bos": "<s>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
_BERT_MARKS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
_TOKENIZERS = {
    "bert": ("word_pieces", _BERT_MARKS),
    "roberta": ("byte_pairs", _ALL_MARKS),
    "bart": ("byte_pairs", _ALL_MARKS),
    "xlm-roberta": ("opened_sentence_pieces", _ALL_MARKS),
    "t5": ("sentence_pieces", _MARKS),
    "mt5": ("sentence_pieces", _MARKS),
    **dict.fromkeys(_CAUSAL, ("byte_pairs", {**_MARKS, "bos": "<s>"})),
}
_ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("Bert", _ENCODER),
    "roberta": ("Roberta", _ENCODER),
    "xlm-roberta": ("XLMRoberta", _ENCODER),
    "bart": ("Bart", _BART),
    "t5": ("T5", _T5),
    "mt5": ("MT5", _T5),
    "llama": ("Llama", _LLAMA),
    "mistral": ("Mistral", {**_LLAMA, "sliding_window": 64}),
    "gpt2": ("GPT2", _GPT2),
    "bloom": ("Bloom", _BLOOM),
}
