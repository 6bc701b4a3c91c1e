import csv

import pytest

from annotation.declared.settings import SettingsRefused, settings_of
from annotation.errors import NotAllowed, NotFound
from annotation.exports.exporter import Exporter, exporter_class, open_export, open_export_for
from annotation.exports.files import csv_chunks, tsv_chunks
from annotation.exports.filters import SummaryFilters
from annotation.exports.formats import EXPORTERS
from tests.annotation.exports.exporting_steps import csv_rows, json_rows, rate
from tests.conftest import ROOT
from tests.declarations import declaration_problems
from tests.factories import make_article, make_gold, make_member, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """Return a project with a rating in each of two languages."""
    project = make_project()
    for language, dataset in (("de", "mlsum"), ("en", "xsum")):
        article = make_article(project, language=language, dataset=dataset)
        rate(make_summary(project, article=article), make_rater(project), comprehensibility="no")
    return project


def test_filters_choose_among_languages_datasets_and_systems(project):
    assert {row["language"] for row in csv_rows(project, "ratings")} == {"de", "en"}
    assert {row["language"] for row in csv_rows(project, "ratings", language="de")} == {"de"}
    assert {row["dataset"] for row in json_rows(project, "examples", dataset=["xsum"])} == {"xsum"}
    assert csv_rows(project, "ratings", language="de", dataset="xsum") == []


@pytest.mark.parametrize("name", EXPORTERS)
def test_a_value_that_the_project_lacks_is_refused_with_those_it_has(project, name):
    if exporter_class(name).why_not(project):
        return
    with pytest.raises(SettingsRefused, match=r"language.*found 'fr', expected one of de, en"):
        open_export(project, name, {"language": "fr"})


def test_an_unknown_format_is_refused_with_similar_ones(project):
    with pytest.raises(NotFound, match="did you mean ratings"):
        open_export(project, "rating", {})


def test_only_managers_export_ratings_and_gold_answers(project):
    make_gold(project)
    manager, researcher = (make_member(project, role) for role in ("manager", "researcher"))
    for name in EXPORTERS:
        if not exporter_class(name).why_not(project):
            assert b"".join(open_export_for(manager, project, name, {}).chunks())
    for name in set(EXPORTERS) - {"scores"}:
        with pytest.raises(NotAllowed):
            open_export_for(researcher, project, name, {})
    assert open_export_for(researcher, project, "scores", {})
    for user in (make_rater(project).user, make_member(make_project(), "manager")):
        with pytest.raises((NotAllowed, NotFound)):
            open_export_for(user, project, "scores", {})


@pytest.mark.parametrize("name", EXPORTERS)
def test_every_format_has_a_complete_declaration(name):
    found = exporter_class(name)
    assert found.name == name
    assert found.title
    assert found.description.endswith(".")
    for option in settings_of(found.Options):
        assert declaration_problems(option) == []


@pytest.mark.parametrize(("write", "delimiter"), [(csv_chunks, ","), (tsv_chunks, "\t")])
def test_a_format_that_does_nothing_about_formulas_writes_none(project, write, delimiter):
    class NewExporter(Exporter):
        def written(self):
            return write(["name", "@x"], [["=HYPERLINK(1)", -1], ["plain", "-1"]])

    lines = b"".join(NewExporter(project, SummaryFilters()).chunks()).decode().splitlines()
    assert list(csv.reader(lines, delimiter=delimiter)) == [
        ["name", "'@x"],
        ["'=HYPERLINK(1)", "-1"],
        ["plain", "-1"],
    ]


def test_one_option_means_the_same_in_all_formats():
    """The formats share the command's flags."""
    declared = {}
    for option in (option for name in EXPORTERS for option in settings_of(exporter_class(name).Options)):
        assert declared.setdefault(option.name, option) == option


def test_every_format_is_in_the_documents():
    told = (ROOT / "docs" / "exporting.md").read_text()
    assert [name for name in EXPORTERS if f"| `{name}` |" not in told] == []
    options = {option.flag for name in EXPORTERS for option in settings_of(exporter_class(name).Options)}
    assert [flag for flag in options if f"`{flag}" not in told] == []
