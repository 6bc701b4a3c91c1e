"""The catalogues hold every word that raters' pages show, translated, and no page shows a word they lack."""

import gettext
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from html.parser import HTMLParser
from inspect import isfunction, unwrap
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from django.conf import settings
from django.template.base import Lexer, TokenType
from django.template.loader import get_template
from django.urls import get_resolver

from annotation.interface_language.middleware import is_translated
from tests.addresses import patterns

ROOT = settings.BASE_DIR
LANGUAGES = sorted(code for code, _ in settings.LANGUAGES if code != "en")
SHOWN_BY_MIDDLEWARE = {"refused.html"}
NOT_SHOWN = {
    # stored: in the audit log, and with a session
    "Stopped rating at their own wish.",
    "Unknown browser",
    # logged
    "Somebody could not sign in with OpenID Connect.",
    "The OpenID Connect provider cannot be used.",
    # said by the API alone: the form offers nothing that is refused
    "A token works for ",
    "You may not ",
}

needs_gettext = pytest.mark.skipif(not shutil.which("msgmerge"), reason="GNU gettext is not installed")


def catalogue(language: str, folder: Path = ROOT / "locale") -> dict[Any, str]:
    """Return message -> translation. Messages with a context start with it; plurals are (message, number)."""
    with open(folder / language / "LC_MESSAGES" / "django.mo", "rb") as file:
        return {key: text for key, text in gettext.GNUTranslations(file)._catalog.items() if key}  # type: ignore[attr-defined]


def messages(language: str, folder: Path = ROOT / "locale") -> set[str]:
    """Return the singulars and plurals of all messages that wait for a translation or have one."""
    written = (folder / language / "LC_MESSAGES" / "django.po").read_text()
    found = re.findall(r'^msgid(?:_plural)? ((?:".*"\n)+)', written, re.MULTILINE)
    return {"".join(json.loads(line) for line in lines.splitlines()) for lines in found}


@pytest.fixture(scope="module")
def marked() -> set[str]:
    return messages("de")


# ---- the catalogues


@needs_gettext
def test_catalogues_are_those_that_script_translate_writes(tmp_path):
    for folder in ("annotation", "templates", "locale", "script"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    done = subprocess.run(
        [tmp_path / "script" / "translate"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"fuzzy|untranslated", done.stderr)) == set(), done.stderr
    assert [language for language in LANGUAGES if f"/{language}/LC_MESSAGES/" in done.stderr] == []
    written = tmp_path / "locale"
    assert sorted(path.name for path in written.iterdir()) == LANGUAGES
    for language in LANGUAGES:
        hint = f"locale/{language} is out of date: run script/translate"
        assert messages(language, written) == messages(language), hint
        assert catalogue(language, written) == catalogue(language), hint


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_keep_placeholders_and_markup(language):
    translations = catalogue(language)
    wrong = [
        (_english(key), translation)
        for key, translation in translations.items()
        if _parts(_english(key), is_plural=isinstance(key, tuple))
        != _parts(translation, is_plural=isinstance(key, tuple))
    ]
    assert wrong == []


def _english(key: Any) -> str:
    """Return the message, in the singular."""
    return (key[0] if isinstance(key, tuple) else key).rpartition("\4")[2]


def _parts(text: str, *, is_plural: bool) -> set[str]:
    """Return the tags and variables of a message. The placeholders of plurals are for msgfmt to check."""
    parts = re.findall(r"%\(\w+\)s|</?\w[^>]*>|\{\w+\}", text)
    return {part for part in parts if not (is_plural and part.startswith("%("))}


# ---- the pages


def _code_objects(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_objects(constant)


def _called_by_translated_views() -> dict[str, FunctionType]:
    """Return the functions of `annotation` that a translated page may call, by their names."""
    found: dict[str, FunctionType] = {}
    waiting = [
        each.callback for each in patterns(get_resolver().url_patterns) if is_translated(each.callback)
    ]
    while waiting:
        function = unwrap(waiting.pop())
        if not isfunction(function) or not function.__module__.startswith("annotation."):
            continue
        name = f"{function.__module__}.{function.__qualname__}"
        if name in found:
            continue
        found[name] = function
        for code in _code_objects(function.__code__):
            waiting += [
                called for each in code.co_names if callable(called := function.__globals__.get(each))
            ]
    return found


def _strings(function: FunctionType) -> Iterator[str]:
    """Yield the texts that a function holds or reads from its module, without its docstring."""
    for code in _code_objects(function.__code__):
        yield from (text for text in code.co_consts if isinstance(text, str) and text != function.__doc__)
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, str) and name.isupper():
                yield value


def _is_sentence(text: str) -> bool:
    return bool(re.match(r"[A-Z“][\w’'-]*[ ,][^_{}]*[a-z][.?!…]?", text)) and not re.match("[A-Z]{2,}", text)


FUNCTIONS = _called_by_translated_views()


def test_views_say_nothing_that_is_not_marked(marked):
    """Texts with %s are logged: those that are shown have named placeholders."""
    unmarked = {
        f"{name}: {text}"
        for name, function in FUNCTIONS.items()
        for text in _strings(function)
        if _is_sentence(text) and text not in marked | NOT_SHOWN and not re.search("%[sd]", text)
    }
    assert not unmarked, "\n".join(sorted(unmarked))


def _templates() -> Iterator[str]:
    """Yield the names of the templates that translated pages use, and those that they include."""
    waiting = set(SHOWN_BY_MIDDLEWARE)
    for function in FUNCTIONS.values():
        waiting |= {text.partition("#")[0] for text in _strings(function) if text.endswith(".html")}
    for pattern in patterns(get_resolver().url_patterns):
        if is_translated(pattern.callback):
            waiting.add(getattr(pattern.callback, "view_initkwargs", {}).get("template_name", ""))
    seen = {""}
    while waiting - seen:
        name = (waiting - seen).pop()
        seen.add(name)
        yield name
        waiting |= set(re.findall(r"{% (?:include|extends) \"([^\"]+)\"", _source(name)))


def _source(name: str) -> str:
    return Path(get_template(name).origin.name).read_text()


class _Words(HTMLParser):
    """Collects the words of a page but for code, also those of attributes that people read."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.is_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.is_code = tag == "code"
        self.words += [
            text or "" for name, text in attrs if name in ("aria-label", "title", "placeholder", "alt")
        ]

    def handle_data(self, data: str) -> None:
        if not self.is_code:
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.is_code = False


LITERAL = re.compile(r"""([\w:]+=?|_\()?"([^"]*)\"""")
NO_WORDS = ("_(", "look=", "date:", "moment:", "yesno:")  # what stands before a literal that nobody reads


@pytest.mark.parametrize("name", sorted(_templates()))
def test_templates_have_no_word_that_is_not_marked(name):
    html, literals, is_marked = "", [], False
    for token in Lexer(re.sub("{% block page_class %}.*?{% endblock %}", "", _source(name))).tokenize():
        tag = token.contents.split()[0] if token.token_type == TokenType.BLOCK else ""
        if tag in ("blocktranslate", "comment"):
            is_marked = True
        elif tag in ("endblocktranslate", "endcomment"):
            is_marked = False
        elif is_marked or tag in ("translate", "url", "styles", "scripts", "if", "elif", "extends"):
            continue
        elif token.token_type == TokenType.TEXT:
            html += token.contents
        elif token.token_type in (TokenType.BLOCK, TokenType.VAR):
            literals += [text for before, text in LITERAL.findall(token.contents) if before not in NO_WORDS]
    page = _Words()
    page.feed(html)
    words = [text for text in literals if re.search("[A-Z ]", text)] + page.words
    assert re.findall(r"[A-Za-z]{2,}[^<>\n]*", " ".join(words).replace("Touchstone", "")) == []
