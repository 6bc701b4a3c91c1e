"""The dataset card of a project with hostile texts, rendered as a hub renders it."""

from itertools import count, pairwise

import pytest
from huggingface_hub import DatasetCard
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from annotation.models import Answer
from annotation.protocol import Question, Questionnaire, Scale, ScaleKind
from tests.annotation.exports.exporting_steps import rate
from tests.factories import (
    make_article,
    make_project,
    make_rater,
    make_summary,
    make_system,
    publish_guidelines,
)
from tests.metaeval.dataset_card.unpacking import unpacked

pytestmark = pytest.mark.django_db

_numbers = count()
MARKUP = {"html_block", "html_inline", "link_open", "image"}
PIECES = [
    *("<script>alert(1)</script>", "<b>", "<!--", "<javascript:x>", "<img src=x onerror=y>"),
    *("[x](javascript:y)", "![x](https://y.z)", "[x]: https://y.z", "[x]", "[x](#y)"),
    *("\\", "`", "```", "~~~", "|", "&lt;", "&#60;", ": ", '"', "'", "# ", "> ", "- ", "---"),
    *("\n", "\n\n", "\r", "\u2028", "    ", "a"),
]
LONGEST = 80  # characters of a title
TEXTS = (
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5)
    .map(lambda pieces: "".join(pieces)[:LONGEST])
    .filter(str.strip)
)


def project_full_of(text):
    """Return a project with one rating, in which everything that a person may write is this text."""
    value = text.strip()[:32]
    questions = tuple(
        Question(key, key, text, text, 1, Scale(ScaleKind.NOMINAL, (value, "no")), stops_rating_on=(value,))
        for key in ("mood", "tone")
    )
    project = make_project(
        Questionnaire(f"hostile-{next(_numbers)}", text, (text,), questions), name=text, description=text
    )
    article = make_article(project, dataset=text)
    summary = make_summary(project, article=article, system=make_system(project, text))
    rating = rate(summary, make_rater(project, pseudonym=text[:40], group=text[:40]), mood=value)
    Answer.objects.filter(rating=rating).update(guidelines=publish_guidelines(project, text))
    return project


def tokens_of(card):
    """Return the tokens of the card below its header."""
    body = card.split("\n---\n", 1)[1]
    return [
        token
        for block in MarkdownIt("commonmark").enable("table").parse(body)
        for token in (block, *(block.children or ()))
    ]


@given(text=TEXTS)
@example(text="<script>alert(1)</script>")
@example(text="\\<b>\\[x](javascript:y)")
@example(text="a\r```\r<b>")
@example(text="[x]\n\n[x]: javascript:y")
@example(text='a: "b"\n---\n# c')
def test_no_text_of_a_project_is_markup_in_its_card(text):
    card = unpacked(project_full_of(text))["README.md"]
    tokens = tokens_of(card)
    assert {token.type for token in tokens} & MARKUP == set()
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert headings[-1] == "Licence", "the text swallows what follows"
    assert DatasetCard(card).data.pretty_name == " ".join(text.split())


def test_html_in_guidelines_can_still_be_read():
    card = unpacked(project_full_of("Say <b>no</b> to [this](https://a.b), [as above](#x)."))["README.md"]
    shown = "".join(token.content for token in tokens_of(card) if token.type.startswith("text"))
    assert "Say <b>no</b> to [this](https://a.b), as above." in shown
