import pytest

from annotation.errors import DomainError, DraftChanged, InvalidFields, NotAllowed, NotFound
from annotation.guidelines.versions import (
    LONGEST_CHANGES,
    LONGEST_TEXT,
    discard_draft,
    draft_in,
    latest_version,
    offered_languages,
    publish_draft,
    published_version,
    save_draft,
    set_default_language,
    start_draft,
)
from tests.factories import make_article, make_member, make_rater, publish_guidelines

pytestmark = pytest.mark.django_db


def test_a_draft_is_published_as_the_next_version_and_is_then_no_draft(project, manager):
    draft = start_draft(project, manager, "en", "First.")
    first = publish_draft(project, manager, "en", draft.saves)
    assert (first.number, first.text, first.author) == (1, "First.", manager)
    with pytest.raises(NotFound):
        draft_in(project, "en")
    second = publish_guidelines(project, "Second.", changes="More.")
    assert latest_version(project, "en") == second
    assert published_version(project, "en", 1).text == "First."


def test_versions_are_counted_in_each_language(project, manager):
    assert publish_guidelines(project).number == 1
    assert publish_guidelines(project, language="de").number == 1


def test_a_published_version_is_out_of_reach_of_drafts(project, manager):
    published = publish_guidelines(project)
    with pytest.raises(DraftChanged):
        save_draft(project, manager, "en", "Other.", "", published.saves)
    with pytest.raises(DraftChanged):
        discard_draft(project, manager, "en", published.saves)
    published.refresh_from_db()
    assert published.text == "Rate what you read."


def test_there_is_one_draft_in_a_language(project, manager):
    start_draft(project, manager, "en", "Mine.")
    with pytest.raises(DomainError, match="There is a draft"):
        start_draft(project, manager, "en", "Another.")
    assert draft_in(project, "en").text == "Mine."


def test_a_draft_that_somebody_else_saved_is_neither_overwritten_nor_published(project, manager):
    opened = start_draft(project, manager, "en", "").saves
    save_draft(project, make_member(project, "manager"), "en", "Theirs.", "", opened)
    for change in (
        lambda: save_draft(project, manager, "en", "Mine.", "", opened),
        lambda: publish_draft(project, manager, "en", opened),
        lambda: discard_draft(project, manager, "en", opened),
    ):
        with pytest.raises(DraftChanged, match="saved this draft after you opened it"):
            change()
    assert draft_in(project, "en").text == "Theirs."


def test_empty_and_unchanged_guidelines_and_unexplained_changes_are_not_published(project, manager):
    draft = start_draft(project, manager, "en", " \n")
    with pytest.raises(InvalidFields, match="empty"):
        publish_draft(project, manager, "en", draft.saves)
    discard_draft(project, manager, "en", draft.saves)
    publish_guidelines(project, "Same.")
    draft = start_draft(project, manager, "en", "Same.\n")
    with pytest.raises(InvalidFields) as refused:
        publish_draft(project, manager, "en", draft.saves)
    assert set(refused.value.fields) == {"text", "changes"}


@pytest.mark.parametrize(
    ("field", "text", "changes"),
    [("text", "x" * (LONGEST_TEXT + 1), ""), ("changes", "x", "x" * (LONGEST_CHANGES + 1))],
)
def test_texts_that_are_too_long_are_refused(project, manager, field, text, changes):
    draft = start_draft(project, manager, "en", "Kept.")
    with pytest.raises(InvalidFields, match="The limit is") as refused:
        save_draft(project, manager, "en", text, changes, draft.saves)
    assert set(refused.value.fields) == {field}
    assert draft_in(project, "en").text == "Kept."


def test_languages_are_those_of_articles_raters_guidelines_and_the_default(project, manager):
    make_article(project, language="de")
    make_rater(project, languages=["tr"])
    assert offered_languages(project) == ["de", "en", "tr"]
    for act in (start_draft, lambda *given: set_default_language(*given[:3])):
        with pytest.raises(DomainError, match="expected one of de, en, tr"):
            act(project, manager, "xx", "")


@pytest.mark.parametrize("role", ["researcher", None])
def test_only_managers_write_guidelines(project, manager, role):
    saves = start_draft(project, manager, "en", "Kept.").saves
    other = make_member(project, role) if role else make_rater(project).user
    for act in (
        lambda: start_draft(project, other, "en", ""),
        lambda: save_draft(project, other, "en", "Mine.", "", saves),
        lambda: discard_draft(project, other, "en", saves),
        lambda: publish_draft(project, other, "en", saves),
        lambda: set_default_language(project, other, "en"),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert draft_in(project, "en").text == "Kept."
