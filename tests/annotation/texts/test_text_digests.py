import gzip
import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from annotation.texts.text_digests import text_digest

ARTICLE = "The café’s owner paid 3.50 for the ﬁne straße."


@pytest.mark.parametrize(
    "same",
    [
        f"  {ARTICLE}\n",
        ARTICLE.replace(" ", "\u00a0\t\r\n"),
        ARTICLE.replace("caf", "c\u00ada\u200bf"),
        "\ufeff" + ARTICLE,
        ARTICLE.upper(),
        ARTICLE.replace(" ", ""),
        "the café ' s owner paid 3 . 50 for the ﬁne straße",
        unicodedata.normalize("NFD", ARTICLE),
        unicodedata.normalize("NFKC", ARTICLE),
    ],
)
def test_the_same_text_written_differently_has_the_same_digest(same):
    assert same != ARTICLE
    assert text_digest(same) == text_digest(ARTICLE)


@pytest.mark.parametrize(
    "other", ["", ARTICLE[:-2], ARTICLE.replace("3.50", "3.5"), ARTICLE.replace("é", "e")]
)
def test_another_text_has_another_digest(other):
    assert text_digest(other) != text_digest(ARTICLE)


@given(st.text(), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
@example("e\u200d\u0301", "NFC")
@example("\u0345\u1fb4", "NFKC")
def test_unicode_forms_make_no_difference(text, form):
    assert text_digest(unicodedata.normalize(form, text)) == text_digest(text)


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)), st.data())
def test_white_space_makes_no_difference(words, data):
    space = st.text(st.sampled_from(" \t\n\r\u00a0\u2003\u2028\u3000"), min_size=1)
    spaced = "".join(data.draw(space) + word for word in words) + data.draw(space)
    assert text_digest(spaced) == text_digest(" ".join(words))


def test_a_text_without_letters_is_taken_by_its_signs():
    assert len({text_digest(each) for each in ("", "?!", "\N{GRINNING FACE}", "\ud800")}) == 4


def test_both_releases_of_summeval_have_the_same_articles(shared):
    """They differ in tokens, quotation marks and upper case."""
    digests = []
    for name, field in (
        ("model_annotations.aligned.paired.12systems.jsonl.gz", "text"),
        ("expert_means.16systems.jsonl.gz", "src"),
    ):
        with gzip.open(shared / "data/summeval" / name, "rt", encoding="utf-8") as lines:
            digests.append({text_digest(json.loads(line)[field]) for line in lines})
    assert len(digests[0]) == 100
    assert digests[0] == digests[1]


@pytest.mark.parametrize("nothing", ["", " \n\t", "\u200b\u00ad "])
def test_a_text_with_nothing_to_see_has_no_digest(nothing):
    assert text_digest(nothing) == ""
