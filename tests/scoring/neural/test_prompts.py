"""The parts of article and summary that fit into a prompt of limited length."""

import pytest

from scoring.neural.prompts import Prompts
from scoring.neural.tokens import TextTokenizer
from tests.scoring.t5_models import label_model

RECIPE = "premise: {article} hypothesis: {summary}"
SENTENCE = "The cat sat on the mat. "


@pytest.fixture(scope="module")
def tokens():
    return TextTokenizer(label_model())


def prompted(tokens, article, summary, how="cut", template=RECIPE, limit=64):
    [found] = Prompts(tokens, template, limit, how).of([(article, summary)])
    assert all(len(ids) <= limit for ids in found.inputs)
    assert all(ids[-1:] == tokens.closing for ids in found.inputs)
    return found


def pieces(tokens, text):
    return tokens.pieces([text])[0]


@pytest.mark.parametrize("how", ["cut", "cut_end", "parts"])
def test_fitting_prompt_is_read_whole(tokens, how):
    found = prompted(tokens, "A {summary} sat.", "The {article}.", how)
    assert found.inputs == ((*pieces(tokens, "premise: A {summary} sat. hypothesis: The {article}."), 1),)
    assert found.shares == ()


def test_cut_keeps_the_summary(tokens):
    found = prompted(tokens, SENTENCE * 20, "The cat sat.")
    front, back = pieces(tokens, "premise: " + SENTENCE * 20), pieces(tokens, "hypothesis: The cat sat.")
    assert found.inputs == ((*front[: 63 - len(back)], *back, 1),)
    lead = len(pieces(tokens, "premise:"))
    shares = dict(found.shares)
    assert shares["article"] == pytest.approx((63 - len(back) - lead) / (len(front) - lead), abs=0.01)
    assert shares["summary"] == 1


def test_plain_cut_drops_the_summary_and_reports_it(tokens):
    one = prompted(tokens, SENTENCE * 20, "The cat sat.", "cut_end")
    other = prompted(tokens, SENTENCE * 20, "Officials said.", "cut_end")
    assert one.inputs == other.inputs
    assert dict(one.shares)["summary"] == 0
    assert 0 < dict(one.shares)["article"] < 1


def test_parts_cover_the_article_and_each_has_the_summary(tokens):
    article = (SENTENCE * 20).strip()
    found = prompted(tokens, article, "The cat sat.", "parts")
    lead, back = pieces(tokens, "premise:"), pieces(tokens, "hypothesis: The cat sat.")
    joined: list[int] = []
    for ids in found.inputs:
        assert ids[: len(lead)] == lead
        assert ids[-1 - len(back) : -1] == back
        joined += ids[len(lead) : -1 - len(back)]
    assert tuple(joined) == pieces(tokens, "premise: " + article)[len(lead) :]
    assert max(map(len, found.inputs)) - min(map(len, found.inputs)) <= 1
    assert found.shares == ()


@pytest.mark.parametrize("how", ["cut", "parts"])
def test_too_long_a_summary_is_cut(tokens, how):
    found = prompted(tokens, SENTENCE * 20, SENTENCE * 30, how)
    assert found.inputs == ((*pieces(tokens, "hypothesis: " + SENTENCE * 30)[:63], 1),)
    assert dict(found.shares)["article"] == 0
    assert 0 < dict(found.shares)["summary"] < 1


def test_little_room_prevents_parts(tokens):
    summary = SENTENCE * 4
    assert 32 < len(pieces(tokens, summary)) < 60
    found = prompted(tokens, SENTENCE * 20, summary, "parts")
    assert found == prompted(tokens, SENTENCE * 20, summary, "cut")


def test_summary_may_come_first(tokens):
    template = "hypothesis: {summary} premise: {article}"
    found = prompted(tokens, SENTENCE * 20, "The cat sat.", "cut", template)
    whole = pieces(tokens, "hypothesis: The cat sat. premise: " + SENTENCE * 20)
    assert found.inputs == ((*whole[:63], 1),)
    assert dict(found.shares)["summary"] == 1
    assert 0 < dict(found.shares)["article"] < 1
