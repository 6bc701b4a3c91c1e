"""Texts as token ids, equal to the tokenizer's own."""

import json
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.neural import tokens as tokens_module
from scoring.neural.tokens import TextTokenizer, chunks
from scoring.weights.model_files import MissingWeights
from tests.scoring.tiny_models import tiny_model

TEXTS = ["The cat sat.", "", "  It was a good mat! ", "Кошка сидела.", "猫", "The cat sat."]


@pytest.fixture(scope="module", params=["bert", "roberta", "xlm-roberta", "t5"])
def tokenizer(request):
    return TextTokenizer(tiny_model(request.param))


def test_whole_texts_equal_the_tokenizers_ids(tokenizer):
    expected = tokenizer.tokenizer(TEXTS)["input_ids"]
    assert [list(each.ids) for each in tokenizer.whole(TEXTS, None)] == expected
    assert {each.share_read for each in tokenizer.whole(TEXTS, None)} == {1.0}


def test_cut_texts_equal_the_tokenizers_ids(tokenizer):
    text = "The cat sat on the mat. " * 20
    expected = tokenizer.tokenizer(text, truncation=True, max_length=16)["input_ids"]
    [cut] = tokenizer.whole([text], 16)
    assert list(cut.ids) == expected
    assert len(cut) == 16
    specials = len(tokenizer.opening) + len(tokenizer.closing)
    assert cut.share_read == pytest.approx((16 - specials) / len(tokenizer.pieces([text])[0]))


def test_pieces_have_no_special_ids(tokenizer):
    expected = tokenizer.tokenizer(TEXTS, add_special_tokens=False)["input_ids"]
    assert list(map(list, tokenizer.pieces(TEXTS))) == expected


def test_special_token_in_a_text_is_text(tokenizer):
    specials = tokenizer.tokenizer.all_special_tokens
    unknown = tokenizer.tokenizer.unk_token_id
    for pieces in tokenizer.pieces([f"The cat {special} sat." for special in specials]):
        assert not {*pieces} & {*tokenizer.tokenizer.all_special_ids} - {unknown}


@pytest.mark.parametrize(("kind", "mark"), [("bert", "[SEP]"), ("t5", "</s>")])
def test_prompt_with_special_tokens_keeps_them(kind, mark):
    tokens = TextTokenizer(tiny_model(kind), reads_specials=True)
    [pieces] = tokens.pieces([f"The cat {mark} sat."])
    assert tokens.tokenizer.convert_tokens_to_ids(mark) in pieces


def test_texts_are_tokenised_once(tokenizer, monkeypatch):
    text = "The cat sat on a mat that nobody has met."
    first = tokenizer.pieces([text])

    def refuse(*_, **__):
        raise AssertionError("tokenised again")

    monkeypatch.setattr(tokenizer, "tokenizer", refuse)
    assert tokenizer.pieces([text, text]) == first * 2


def test_cache_of_texts_is_bounded(monkeypatch):
    monkeypatch.setattr(tokens_module, "REMEMBERED_TEXTS", 3)
    tokenizer = TextTokenizer(tiny_model("bert"))
    texts = [f"The cat {number}." for number in range(10)]
    expected = tokenizer.tokenizer(texts, add_special_tokens=False)["input_ids"]
    assert list(map(list, tokenizer.pieces(texts))) == expected
    assert len(tokenizer._pieces) == 3


def test_only_byte_level_tokenizers_distinguish_leading_spaces():
    kinds = ("bert", "roberta", "t5")
    assert [TextTokenizer(tiny_model(kind)).heeds_spaces for kind in kinds] == [False, True, False]


@given(st.lists(st.integers(0, 99), max_size=60), st.integers(1, 20))
def test_chunks_are_complete_ordered_and_equal(pieces, room):
    parts = chunks(pieces, room)
    assert [each for part in parts for each in part] == pieces
    lengths = [len(part) for part in parts]
    assert max(lengths) <= room
    assert max(lengths) - min(lengths) <= 1
    assert len(parts) == max(1, -(-len(pieces) // room))


@given(st.lists(st.integers(0, 99), max_size=30), st.integers(0, 40))
def test_cut_text_stays_within_the_limit(pieces, limit):
    cut = TextTokenizer.between((1,), pieces, (2, 3), limit)
    assert len(cut) <= max(limit, 3)
    assert cut.ids[:1] == (1,)
    assert cut.ids[-2:] == (2, 3)
    kept = len(cut) - 3
    assert cut.ids[1 : 1 + kept] == tuple(pieces[:kept])
    assert cut.share_read == (kept / len(pieces) if pieces else 1)


def with_vocabulary_of(size, folder, *, added=""):
    """Return a copy of the tiny BERT whose model states `size` embeddings, with a special token `added`."""
    shutil.copytree(tiny_model("bert"), folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"vocab_size": size}))
    if added:
        tokenizer = TextTokenizer(tiny_model("bert")).tokenizer
        tokenizer.add_special_tokens({"bos_token": added})
        tokenizer.save_pretrained(folder)
    return folder


def test_tokenizer_with_more_ids_than_the_model_is_refused(tmp_path):
    size = len(TextTokenizer(tiny_model("bert")).tokenizer)
    TextTokenizer(with_vocabulary_of(size, tmp_path / "equal"))
    with pytest.raises(
        MissingWeights, match=f"has ids up to {size - 1}, but the model .* for {size - 1} only"
    ):
        TextTokenizer(with_vocabulary_of(size - 1, tmp_path / "fewer"))


def test_special_token_that_no_text_has_may_lack_an_embedding(tmp_path):
    size = len(TextTokenizer(tiny_model("bert")).tokenizer)
    folder = with_vocabulary_of(size, tmp_path / "added", added="<bos>")
    assert len(TextTokenizer(folder).tokenizer) == size + 1
    with pytest.raises(MissingWeights, match="Are both of the same model"):
        TextTokenizer(folder, reads_specials=True)
