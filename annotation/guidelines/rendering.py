"""Guidelines as HTML: Markdown in sections by question, language and example, without anything unsafe.

Some headings mean something. All others are only headings.

- The title of a question, or `{#key}` with its key, begins the section of that question.
- `{lang=de}` begins a part for that language, which only its raters are shown. Its quotations are marked as
  texts in that language.
- An answer, such as "Yes" or "No: a repeated name", begins an example for that answer.
- `{#name}` with any other name begins a section to which links to `#name` lead.

A section ends with the next heading of its own or a higher level.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from annotation.protocol import Question
from annotation.templatetags.texts import answer_label, direction

ID_PREFIX = "guidelines-"
"""Comes before ids of sections, so that they differ from all ids of the page."""
ATTRIBUTES = re.compile(r"\{:?[ ]*+((?:(?:#|lang=)[\w-]++[ ]*+)++)\}$")
TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "h5"),
    *("h6", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "section", "span", "strong"),
    *("sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
}
CLASSES = {"example", "yes", "no", "unsure"}


@dataclass(frozen=True)
class AnswerExample:
    """A section that shows one answer. `question` and `language` are empty outside such a section."""

    question: str
    language: str
    answer: str


class QuestionSection(NamedTuple):
    """The section of a question, with its id on the page."""

    question: str
    title: str
    id: str


@dataclass(frozen=True)
class RenderedGuidelines:
    html: SafeString
    sections: tuple[QuestionSection, ...]
    """The sections of questions, in the order of the text."""
    examples: tuple[AnswerExample, ...]


def render_guidelines(
    text: str,
    questions: Sequence[Question],
    languages: Sequence[str] | None = None,
    id_prefix: str = ID_PREFIX,
) -> RenderedGuidelines:
    """Return Markdown as HTML that is safe on any page. Parts for other languages than these are left out.

    None keeps all languages. Images, scripts, styles and addresses other than http, https and mailto are
    removed.
    """
    asked = tuple((question.key, question.title, question.scale.choices) for question in questions)
    return _render(text, asked, None if languages is None else frozenset(languages), id_prefix)


Asked = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Key, title and answers of each question."""


@lru_cache(maxsize=32)
def _render(text: str, asked: Asked, languages: frozenset[str] | None, id_prefix: str) -> RenderedGuidelines:
    sections = _Sections(asked, languages)
    tokens = list(sections.arranged(_markdown.parse(text)))
    unsafe = _markdown.renderer.render(tokens, _markdown.options, {})
    html = nh3.clean(
        unsafe,
        tags=TAGS,
        attributes={
            "*": {"lang", "dir"},
            "a": {"href"},
            "abbr": {"title"},
            "ol": {"start"},
            "section": {"id"},
        },
        tag_attribute_values={"a": {"target": {"_blank"}}},
        allowed_classes={"section": CLASSES},
        url_schemes={"http", "https", "mailto"},
        url_relative=lambda url: f"#{id_prefix}{url[1:]}" if url.startswith("#") else None,
        id_prefix=id_prefix,
    )
    titles = {key: title for key, title, _ in asked}
    found = tuple(QuestionSection(key, titles[key], id_prefix + key) for key in sections.questions)
    safe = mark_safe(html)  # noqa: S308 - nh3 cleaned it
    return RenderedGuidelines(safe, found, tuple(sections.examples))


@dataclass(frozen=True)
class _Section:
    """An open section of the text, with what it inherits from those around it."""

    level: int = 0
    question: str = ""
    language: str = ""
    shown: bool = True


@dataclass
class _Sections:
    """Puts what follows each heading that means something into a section."""

    asked: Asked
    languages: frozenset[str] | None
    questions: list[str] = field(default_factory=list)
    examples: list[AnswerExample] = field(default_factory=list)

    def arranged(self, tokens: Sequence[Token]) -> Iterator[Token]:
        """Yield the tokens that are shown, with those of the sections, and note what they are."""
        around = [_Section()]
        for place, token in enumerate(tokens):
            if token.type == "heading_open" and token.level == 0:
                level = int(token.tag[1])
                while around[-1].level >= level:
                    yield from _close(around.pop())
                yield from self._open(token, tokens[place + 1], level, around)
            if token.type == "blockquote_open" and around[-1].language:
                token.attrs |= {"lang": around[-1].language, "dir": direction(around[-1].language)}
            if around[-1].shown:
                yield token
        while around:
            yield from _close(around.pop())

    def _open(self, heading: Token, content: Token, level: int, around: list[_Section]) -> Iterator[Token]:
        """Add the section that the heading begins to those around it; none if it is only a heading."""
        title = "".join(
            each.content for each in content.children or () if each.type in ("text", "code_inline")
        )
        language, key = heading.meta.get("lang", ""), heading.meta.get("#", "")
        question = next((each for each, name, _ in self.asked if each == key or name == title), "")
        answer = "" if question else self._answer(title, around[-1].question)
        if not (question or language or answer or key):
            return
        inherited = around[-1]
        language = language or inherited.language
        shown = self.languages is None or not language or language in self.languages
        section = _Section(level, question or inherited.question, language, inherited.shown and shown)
        around.append(section)
        attributes: dict[str, str | int | float] = {}
        if question and question not in self.questions:
            attributes["id"] = question
            self.questions.append(question)
        elif key and key not in self.questions:
            attributes["id"] = key
        if answer:
            attributes["class"] = f"example {answer}"
        if section.shown:
            if answer:
                self.examples.append(AnswerExample(section.question, section.language, answer))
            yield Token("section_open", "section", 1, attrs=attributes)

    def _answer(self, title: str, question: str) -> str:
        """Return the answer with which the heading begins, to this question or else to any."""
        for key, _, answers in self.asked:
            for answer in answers if question in ("", key) else ():
                if _beginning(answer).match(title):
                    return answer
        return ""


@cache
def _beginning(answer: str) -> re.Pattern[str]:
    return re.compile(rf"{re.escape(answer_label(answer))}\b(?!-)", re.IGNORECASE)


def _close(section: _Section) -> Iterator[Token]:
    if section.level and section.shown:
        yield Token("section_close", "section", -1)


def _read_headings(state: StateCore) -> None:
    """Take {...} from the ends of headings, and lower the highest, as the page around has that level."""
    for place, token in enumerate(state.tokens):
        if token.tag == "h1":
            token.tag = "h2"
        if token.type == "heading_open":
            content = state.tokens[place + 1]
            found = ATTRIBUTES.search(content.content)
            if found:
                content.content = content.content[: found.start()].rstrip()
                token.meta = {
                    "#" if each[0] == "#" else "lang": each.removeprefix("#").removeprefix("lang=")
                    for each in found[1].split()
                }


def _open_elsewhere(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    place: int,
    options: Any,
    env: Any,
) -> str:
    if not str(tokens[place].attrs.get("href", "")).startswith("#"):
        tokens[place].attrs["target"] = "_blank"
    return renderer.renderToken(tokens, place, options, env)


def _replace_by_text(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: Any, env: Any
) -> str:
    return f"<em>{escape(renderer.renderInlineAsText(tokens[place].children, options, env))}</em>"


# Its time grows with the length of a text alone, whatever brackets, stars and quotations are in it.
_markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
_markdown.core.ruler.after("block", "headings", _read_headings)
_markdown.add_render_rule("link_open", _open_elsewhere)
_markdown.add_render_rule("image", _replace_by_text)
