"""Estimating the number of tokens in a prompt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from scoring.contract.evaluator import EvaluatorError
from scoring.prompts.prompt_length import MESSAGE_TOKENS, ContextWindow, at_most_tokens, token_counter


def folder_with(tokenizer, folder):
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.safetensors").touch()
    return str(folder)


@pytest.fixture(scope="module")
def bytes_only(tmp_path_factory):
    """Return the folder of a tokenizer with one token per byte, which gives the longest possible prompt."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({each: number for number, each in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return folder_with(tokenizer, tmp_path_factory.mktemp("bytes"))


def test_named_tokenizer_counts_exactly(bytes_only):
    assert token_counter(bytes_only)("Ein Wörtchen") == 13


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_other_characters_count_one_token_per_byte(bytes_only, text):
    without = "".join(each for each in text if not (each.isascii() and (each.isalpha() or each == " ")))
    assert at_most_tokens(without) == token_counter(bytes_only)(without)
    assert at_most_tokens(text) >= at_most_tokens(without)


def test_ascii_prose_counts_half_a_token_per_letter():
    assert at_most_tokens("The cat sat on the mat") == 11
    assert at_most_tokens("猫坐在垫子上") == 18
    assert at_most_tokens("20:15") == 5
    assert at_most_tokens("") == 0


@given(st.text(), st.text())
def test_bound_of_a_text_is_at_most_that_of_its_parts(one, two):
    assert at_most_tokens(one + two) <= at_most_tokens(one) + at_most_tokens(two)


class TestContextWindow:
    def test_everything_fits_without_a_limit(self):
        assert ContextWindow(0, 16).holds("x" * 10**6)

    def test_messages_reply_and_chat_format_count(self):
        exact = 2 * MESSAGE_TOKENS + 5 + 3 + 16
        assert ContextWindow(exact, 16).holds("12345", "", "123")
        assert not ContextWindow(exact - 1, 16).holds("12345", "", "123")

    def test_model_without_tokenizer_is_refused(self, tmp_path):
        (tmp_path / "model.safetensors").touch()
        with pytest.raises(EvaluatorError, match=r"parameter 'tokenizer': .* no tokenizer\.json"):
            ContextWindow(100, 16, str(tmp_path)).holds("x")

    def test_tokenizer_of_an_unknown_form_is_refused(self, tmp_path):
        (tmp_path / "model.safetensors").touch()
        (tmp_path / "tokenizer.json").write_text('{"version": "9.0"}')
        with pytest.raises(EvaluatorError, match=r"parameter 'tokenizer': .* cannot be read"):
            ContextWindow(100, 16, str(tmp_path)).holds("x")
