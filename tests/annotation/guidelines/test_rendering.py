import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.guidelines.rendering import TAGS, AnswerExample, QuestionSection, render_guidelines
from annotation.guidelines.views import coverage
from annotation.protocol import SEAHORSE, SUMMEVAL

GRAMMAR = """
Read slowly.

## Grammatical
Is each sentence correct?

### German {lang=de}
#### Yes
> Der Hafen fror zu.

#### No: an agreement error
> Der Hafen froren zu.

### English {lang=en}
#### No
> The harbour freeze.

## What matters {#main_ideas}
See [above](#grammar).
"""


def shown(text, languages=None, questionnaire=SEAHORSE):
    return render_guidelines(text, questionnaire.questions, languages)


def test_questions_languages_and_examples_become_sections():
    rendered = shown(GRAMMAR)
    assert rendered.sections == (
        QuestionSection("grammar", "Grammatical", "guidelines-grammar"),
        QuestionSection("main_ideas", "Main ideas", "guidelines-main_ideas"),
    )
    assert rendered.examples == (
        AnswerExample("grammar", "de", "yes"),
        AnswerExample("grammar", "de", "no"),
        AnswerExample("grammar", "en", "no"),
    )
    assert '<section id="guidelines-grammar"><h2>Grammatical</h2>' in rendered.html
    assert '<section class="example no"><h4>No: an agreement error</h4>' in rendered.html
    assert re.search(r'<blockquote (dir="ltr" )?lang="de"', rendered.html)
    assert '<a href="#guidelines-grammar"' in rendered.html


def test_raters_are_shown_only_the_parts_for_their_languages():
    rendered = shown(GRAMMAR, ["en"])
    assert "harbour" in rendered.html
    assert "Hafen" not in rendered.html
    assert "German" not in rendered.html
    assert "What matters" in rendered.html
    assert rendered.examples == (AnswerExample("grammar", "en", "no"),)


def test_answers_of_points_begin_examples_and_similar_words_do_not():
    text = "## Coherence\n#### 5\nGood.\n#### 1: bad\nBad.\n#### 12 rules\nNone.\n"
    assert [each.answer for each in shown(text, questionnaire=SUMMEVAL).examples] == ["5", "1"]
    assert shown("## Grammatical\n#### None of these\n#### No-one\n").examples == ()


def test_images_are_replaced_by_their_text_and_links_open_elsewhere():
    html = shown("![a chart](https://tracker.example/x.png) [source](https://a.example)").html
    assert "tracker" not in html
    assert "a chart" in html
    assert 'target="_blank"' in html
    assert "noopener" in html


FORBIDDEN = r"<(script|img|style|iframe|form|button|svg)|\son\w+=|style=|javascript:|data:|\"item\"|card"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,hm)",
        "# x {onclick=alert(1) style=color:red}",
        "<style>body{display:none}</style>",
        "<iframe src=https://a.example></iframe>",
        '<form action="/sign-out/"><button name=x>hm</button></form>',
        '<section id="item" class="card">x</section>',
        "<svg><script>alert(1)</script></svg>",
    ],
)
def test_nothing_unsafe_is_left(text):
    html = shown(text).html
    forbidden = (
        r"<(script|img|style|iframe|form|button|svg)|alert|\son\w+=|style=|javascript:|data:|\"item\"|card"
    )
    assert re.search(forbidden, re.sub(r">[^<]*<", "><", html)) is None, html


@pytest.mark.parametrize("piece", ["[", "![", "> ", "{#a ", "a|\n-|\n", "*_", "`` ` "])
def test_time_grows_with_the_length_alone(piece):
    began = time.process_time()
    shown("# " + piece * (20_000 // len(piece)))
    assert time.process_time() - began < 10  # a fifth of a second, where minutes are possible


def test_braces_that_are_no_attributes_stay_in_the_heading():
    html = shown("# Use {name} {lang=de}\n# Use {name}\n# Grammatical {#grammar lang=de}").html
    assert "<h2>Use {name}</h2>" in html
    assert "lang=de" not in html
    assert '<section id="guidelines-grammar"><h2>Grammatical</h2>' in html


def test_a_part_for_another_language_hides_all_that_is_in_it():
    rendered = shown("# German {lang=de}\n### A {#a}\n#### Yes {lang=en}\nHidden.\n# Next\nShown.", ["en"])
    assert "Hidden" not in rendered.html
    assert "Shown" in rendered.html
    assert rendered.examples == ()


class Seen(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


pieces = st.lists(
    st.sampled_from([*GRAMMAR.split("\n"), "<b", "](", "{#x}", "<script>", "`", "| a |", "> #"])
)


@given(pieces.map("\n".join))
def test_every_text_is_safe_and_every_example_is_counted_once(text):
    rendered = shown(text)
    seen = Seen()
    seen.feed(rendered.html)
    assert seen.tags <= TAGS
    assert seen.attributes <= {"class", "dir", "href", "id", "lang", "rel", "target"}
    assert len(set(rendered.sections)) == len(rendered.sections)
    assert rendered.html.count('class="example') == len(rendered.examples)


def test_coverage_names_missing_sections_and_examples():
    found = {each.question.key: each for each in coverage(shown(GRAMMAR), SEAHORSE.questions, ["de", "en"])}
    grammar = found["grammar"]
    assert grammar.has_section
    assert [(each.language, each.missing) for each in grammar.languages] == [("de", ()), ("en", ("yes",))]
    assert found["main_ideas"].has_section
    assert not found["attribution"].has_section


def test_examples_for_every_language_count_in_each():
    (grammar,) = coverage(shown("## Grammatical\n### Yes\n### No\n"), SEAHORSE.questions[2:3], ["de", "tr"])
    assert [each.missing for each in grammar.languages] == [(), ()]
