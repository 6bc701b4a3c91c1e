"""The exported dataset, opened as its readers open it."""

import io
import json
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.urls import reverse
from huggingface_hub import DatasetCard

from annotation.models import Answer
from annotation.people.members import remove_rater
from annotation.projects.closing import close_campaign
from annotation.projects.settings import change_settings
from metaeval.agreement.report import agreement_rows
from metaeval.templatetags.results import short_figure
from tests.annotation.exports.exporting_steps import rate
from tests.factories import (
    make_article,
    make_member,
    make_project,
    make_rater,
    make_summary,
    publish_guidelines,
)
from tests.metaeval.dataset_card.unpacking import unpacked

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """Return a project with two raters in good standing and a removed one."""
    project = make_project(name="Harbour | pilot", description="Ships and ice.")
    raters = [make_rater(project, pseudonym=name) for name in ("rater-1", "rater-2", "rater-3")]
    for number, answers in enumerate(["yy", "nn", "yn", "nn", *["yy", "nn"] * 6]):
        split = "test" if number else ""
        article = make_article(project, dataset="xsum", split=split, language="de" if number % 2 else "en")
        summary = make_summary(project, article=article)
        for rater, answer in zip(raters, (*answers, "n"), strict=True):
            rate(summary, rater, "PRIVATE-COMMENT", comprehensibility={"y": "yes", "n": "no"}[answer])
    remove_rater(raters[2])
    return project


def rows(text):
    return [json.loads(line) for line in text.split("\n") if line]


def test_the_header_describes_the_files_and_their_columns(project):
    files = unpacked(project, licence="cc-by-4.0")
    header = DatasetCard(files["README.md"]).data.to_dict()
    assert header["license"] == "cc-by-4.0"
    assert header["language"] == ["de", "en"]
    data_files = {each["split"]: each["path"] for each in header["configs"][0]["data_files"]}
    assert data_files == {"all": "data/all.jsonl", "test": "data/test.jsonl"}
    assert set(files) == {"README.md", *data_files.values()}
    columns = [feature["name"] for feature in header["dataset_info"]["features"]]
    for path in data_files.values():
        assert all(list(row) == columns for row in rows(files[path]))
    assert (len(rows(files["data/all.jsonl"])), len(rows(files["data/test.jsonl"]))) == (2, 30)


def test_optional_columns_are_in_the_header_and_in_the_rows(project):
    without, files = unpacked(project), unpacked(project, articles=True, comments=True)
    assert "PRIVATE-COMMENT" not in str(without)
    assert "froze over" not in str(without)
    row = rows(files["data/test.jsonl"])[0]
    columns = DatasetCard(files["README.md"]).data.to_dict()["dataset_info"]["features"]
    assert list(row) == [feature["name"] for feature in columns]
    assert row["comments"]["comprehensibility"] == "PRIVATE-COMMENT"
    assert "froze over" in row["article"]


def test_the_card_counts_and_agrees_with_the_agreement_page(project):
    card = unpacked(project)["README.md"]
    assert "# Harbour \\| pilot\n\nShips and ice." in card
    assert "32 ratings of 16 summaries of 16 articles, by 2 raters." in card
    assert "- 16 ratings are left out because their raters were removed." in card
    assert "No licence was stated, so nobody can know how they may use the ratings." in card
    alpha = alpha_of(project)
    missing = f"{short_figure(alpha['value'])} (no interval: {alpha['interval_reason']})"
    assert f"| comprehensibility | All | {missing} | 16 | 2 |" in card


def test_the_card_of_a_closed_campaign_has_intervals_for_a_single_look(project):
    close_campaign(project, make_member(project, "manager"))
    alpha = alpha_of(project)
    value, low, high = (short_figure(alpha[name]) for name in ("value", "low", "high"))
    card = unpacked(project)["README.md"]
    assert f"| comprehensibility | All | {value} \\[{low}, {high}\\] | 16 | 2 |" in card


def alpha_of(project):
    """Return the agreement page's alpha of comprehensibility in all languages."""
    return next(
        row
        for row in agreement_rows(project)
        if (row["question"], row["language"], row["statistic"])
        == ("comprehensibility", "all", "krippendorff_alpha")
    )


def test_a_filtered_card_says_what_was_left_out(project):
    card = unpacked(project, system="system-a", language="de")["README.md"]
    assert "- Only these languages were exported: de." in card
    assert "These figures are of all ratings of the project that count." in card
    assert "English (en)" not in card


def test_a_project_without_ratings_has_a_card_too():
    files = unpacked(make_project())
    assert list(files) == ["README.md"]
    assert "0 ratings of 0 summaries" in files["README.md"]


def test_the_card_has_the_guidelines_under_which_answers_were_given(project):
    first = publish_guidelines(project, "## Comprehensible {lang=en}\n\nCan you read it?")
    publish_guidelines(project, "Nobody has answered under this one.")
    Answer.objects.filter(rating__rater__pseudonym="rater-1").update(guidelines=first)
    card = unpacked(project)["README.md"]
    assert "16 answers were given without guidelines, or imported." in card
    assert (
        "### Version 1 in English\n\n16 answers were given under this version.\n\n> #### Comprehensible\n"
        in card
    )
    assert "Nobody has answered" not in card


def test_the_card_of_a_project_without_guidelines_says_so(project):
    assert "no further guidelines" in unpacked(project)["README.md"]


@pytest.mark.parametrize(
    ("of_project", "given", "in_header", "said"),
    [
        ("", {}, "unknown", "No licence was stated"),
        ("cc-by-4.0", {}, "cc-by-4.0", "published under cc-by-4.0."),
        ("cc-by-4.0", {"licence": "mit"}, "mit", "published under mit."),
        ("cc-by-4.0", {"licence": ""}, "unknown", "No licence was stated"),
        ("unknown", {}, "unknown", "No licence was stated"),
        ("other", {}, "other", "Name it here before you publish."),
    ],
)
def test_the_card_states_the_given_licence_or_else_the_projects(of_project, given, in_header, said):
    card = unpacked(make_project(licence=of_project), **given)["README.md"]
    assert DatasetCard(card).data.to_dict()["license"] == in_header
    assert said in card.partition("## Licence")[2]


def test_the_command_uses_the_projects_licence(tmp_path):
    project = make_project(licence="cc-by-4.0")
    call_command("export", "dataset", project=project.slug, output=tmp_path / "dataset.zip")
    assert "license: cc-by-4.0" in ZipFile(tmp_path / "dataset.zip").read("README.md").decode()


@pytest.fixture
def manager(client, project):
    client.force_login(make_member(project, "manager"))
    return client


def test_the_form_starts_with_the_projects_licence_and_warns_without_one(manager, project):
    address = reverse("exports", args=[project.slug]) + "?format=dataset"
    warning = "nobody can know how they may use the ratings"
    assert warning in manager.get(address).content.decode()
    change_settings(project, {"licence": "cc-by-4.0"})
    shown = manager.get(address).content.decode()
    assert warning not in shown
    assert 'name="licence" value="cc-by-4.0"' in shown
    for other_format in ("ratings", "gold"):
        assert warning not in manager.get(address.replace("dataset", other_format)).content.decode()


@pytest.mark.parametrize(
    ("sent", "in_header"), [({}, "cc-by-4.0"), ({"licence": "mit"}, "mit"), ({"licence": ""}, "unknown")]
)
@pytest.mark.parametrize("by", ["page", "api"])
def test_an_emptied_licence_is_not_the_projects(manager, project, by, sent, in_header):
    change_settings(project, {"licence": "cc-by-4.0"})
    page = reverse("export_file", args=[project.slug, "dataset"])
    address = page if by == "page" else f"/api/projects/{project.slug}/exports/dataset/"
    archive = ZipFile(io.BytesIO(b"".join(manager.get(address, sent).streaming_content)))
    assert f"license: {in_header}\n" in archive.read("README.md").decode()


def test_the_api_lists_the_projects_licence_as_the_default(manager, project):
    change_settings(project, {"licence": "cc-by-4.0"})
    listed = manager.get(f"/api/projects/{project.slug}/exports/").json()["results"]
    options = next(each["options"] for each in listed if each["name"] == "dataset")
    assert {each["name"]: each["default"] for each in options}["licence"] == "cc-by-4.0"
