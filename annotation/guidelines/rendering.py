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
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from xml.etree.ElementTree import Element

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from annotation.protocol import Question
from annotation.templatetags.texts import answer_label, direction

ID_PREFIX = "guidelines-"
"""Comes before ids of sections, so that they differ from all ids of the page."""
HEADING = re.compile(r"h([1-6])")
HIGHEST = 2  # the page around the guidelines has the heading of level 1
TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h2", "h3", "h4", "h5"),
    *("h6", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "section", "span", "strong"),
    *("sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul"),
}
CLASSES = {"example", "yes", "no", "unsure"}
PLACED_AFTER_ATTRIBUTES = 4  # priority among Markdown's processors; the one that reads {...} has 8


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
    converter = Markdown(extensions=["attr_list", "sane_lists", "tables", _SectionExtension(sections)])
    unsafe = converter.convert(text)
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
    return RenderedGuidelines(mark_safe(html), found, tuple(sections.examples))


@dataclass
class _Section:
    """An open section of the text, with what it inherits from those around it."""

    element: Element
    level: int
    question: str = ""
    language: str = ""

    def append(self, content: Element) -> None:
        self.element.append(content)
        for quotation in content.iter("blockquote") if self.language else ():
            quotation.attrib |= {"lang": self.language, "dir": direction(self.language)}


@dataclass
class _Sections:
    """Puts the elements after each heading that means something into a section."""

    asked: Asked
    languages: frozenset[str] | None
    questions: list[str] = field(default_factory=list)
    examples: list[AnswerExample] = field(default_factory=list)

    def arrange(self, root: Element) -> None:
        """Rearrange the children of `root`, and note what they are."""
        _tidy(root)
        content = list(root)
        for element in content:
            root.remove(element)
        open_sections = [_Section(root, level=0)]
        for element in content:
            heading = HEADING.fullmatch(element.tag)
            if heading:
                level = int(heading[1])
                while open_sections[-1].level >= level:
                    open_sections.pop()
                section = self._section(element, level, open_sections[-1])
                if section is not None:
                    open_sections.append(section)
            open_sections[-1].append(element)

    def _section(self, heading: Element, level: int, around: _Section) -> _Section | None:
        """Return the section that the heading begins; None if it is only a heading."""
        title = "".join(heading.itertext()).strip()
        language = heading.attrib.pop("lang", "")
        key = heading.attrib.pop("id", "")
        question = next((each for each, name, _ in self.asked if each == key or name == title), "")
        answer = "" if question else self._answer(title, around.question)
        if not (question or language or answer or key):
            return None
        section = _Section(
            Element("section"), level, question or around.question, language or around.language
        )
        if question and question not in self.questions:
            section.element.set("id", question)
            self.questions.append(question)
        elif key and key not in self.questions:
            section.element.set("id", key)
        if answer:
            section.element.set("class", f"example {answer}")
        shown = self.languages is None or not section.language or section.language in self.languages
        if shown:
            around.element.append(section.element)
            if answer:
                self.examples.append(AnswerExample(section.question, section.language, answer))
        return section

    def _answer(self, title: str, question: str) -> str:
        """Return the answer with which the heading begins, to this question or else to any."""
        for key, _, answers in self.asked:
            for answer in answers if question in ("", key) else ():
                if re.match(rf"{re.escape(answer_label(answer))}\b(?!-)", title, re.IGNORECASE):
                    return answer
        return ""


def _tidy(root: Element) -> None:
    """Lower headings below the page's own, let links open elsewhere, and replace images by their text."""
    for element in root.iter():
        if element.tag == "h1":
            element.tag = f"h{HIGHEST}"
        elif element.tag == "a" and not element.get("href", "").startswith("#"):
            element.set("target", "_blank")
        elif element.tag == "img":
            element.tag, element.text = "em", element.get("alt", "")


class _SectionProcessor(Treeprocessor):
    def __init__(self, sections: _Sections) -> None:
        super().__init__()
        self.sections = sections

    def run(self, root: Element) -> None:
        self.sections.arrange(root)


class _SectionExtension(Extension):
    def __init__(self, sections: _Sections) -> None:
        super().__init__()
        self.sections = sections

    def extendMarkdown(self, md: Markdown) -> None:
        md.treeprocessors.register(_SectionProcessor(self.sections), "sections", PLACED_AFTER_ATTRIBUTES)
