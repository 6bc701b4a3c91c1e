"""The pages of judges."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotation.projects.closing import close_campaign
from metaeval.disagreements.tags import tag_disagreement
from scoring.models import Endpoint, Judge, JudgeVersion, Run, SealedOpening, Trial
from scoring.sealed_labels.label_parts import LabelPart
from scoring.sealed_labels.split import set_split, split_of
from tests.factories import make_member
from tests.metaeval.judges.judge_trials import next_version, summaries_of, try_with
from tests.metaeval.judges.labelled_projects import SHARES, make_judge, make_labelled

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def labelled(db, settings):
    settings.LLM_ENDPOINTS = ["*", "loopback"]
    return make_labelled(articles=40)


@pytest.fixture
def version(labelled):
    project, user = labelled
    set_split(project, user, SHARES)
    return make_judge(project, user)


@pytest.fixture
def reader(client, labelled):
    client.force_login(labelled[1])
    return client


def text_of(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def address(name, version, number=None):
    slug, judge = version.judge.project.slug, version.judge_id
    return reverse(name, args=[slug, judge] + ([version.number] if number is None else []))


def judge_address(version):
    return address("judge", version, number=False)


def fill_in(reader, url, **changes):
    """Return the data of the page's form with these changes."""
    form = reader.get(url).context["form"]
    sent = {}
    for field in form:
        value = field.value()
        if value not in (None, False, ""):
            sent[field.html_name] = value
    return {**sent, **changes}


def make_scores(project, noise=0):
    return {
        each: (place * 7 % 11) / 11 + noise
        for place, each in enumerate(summaries_of(project, LabelPart.TUNING))
    }


def test_a_page_without_judges_explains_the_workflow_and_offers_the_split(reader, labelled):
    project, _ = labelled
    shown = text_of(reader.get(reverse("judges", args=[project.slug])))
    assert "No judges yet" in shown
    assert "New judge" not in shown
    assert "Not opened yet." in shown


def test_the_split_is_previewed_saved_and_validated(reader, labelled):
    project, _ = labelled
    url = reverse("judges", args=[project.slug])
    preview = reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}, **HTMX)
    assert "Labelled summaries" in text_of(preview)
    assert split_of(project) is None
    assert reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}).status_code == 302
    assert (split_of(project).seed, split_of(project).tuning_share) == (2, 0.3)
    refused = reader.post(url, {"pool": 60, "tuning": 40, "seed": 2})
    assert refused.status_code == 422
    assert "so that some articles stay sealed" in text_of(refused)


def test_the_split_is_fixed_after_the_first_trial(reader, labelled, version):
    project, _ = labelled
    try_with(version, make_scores(project))
    url = reverse("judges", args=[project.slug])
    assert "The split is fixed because a version was tried" in text_of(reader.get(url))
    answer = reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}, follow=True)
    assert "The split can no longer be changed" in text_of(answer)
    assert split_of(project).seed == 0


def test_a_judge_is_created_with_the_form(reader, labelled):
    project, _ = labelled
    url = reverse("judge_new", args=[project.slug])
    sent = fill_in(reader, url, name="Coherence", param_model="any", note="as in the paper")
    answer = reader.post(url, sent, follow=True)
    assert "Coherence v1 created" in text_of(answer)
    made = Judge.objects.get().versions.get()
    assert (made.params["model"], made.note, made.created_by) == ("any", "as in the paper", labelled[1])
    again = reader.post(url, sent)
    assert again.status_code == 422
    assert "called Coherence" in text_of(again)
    assert reader.get(url, {"evaluator": "rouge"}).status_code == 404


def test_a_new_version_is_previewed_with_its_differences(reader, version):
    url = address("judge_version_new", version)
    sent = fill_in(reader, url, param_seed=5, note="another draw")
    preview = reader.post(url, sent, **HTMX)
    assert "<del>" in preview.content.decode()
    assert "removed: 0" in text_of(preview)
    assert "added: 5" in text_of(preview)
    assert JudgeVersion.objects.count() == 1
    assert reader.post(url, sent).status_code == 302
    made = version.judge.versions.get(number=2)
    assert made.params == {**version.params, "seed": 5}
    same = reader.post(url, fill_in(reader, url))
    assert same.status_code == 422
    assert "Nothing differs from version 1" in text_of(same)


def test_any_two_versions_can_be_compared(reader, labelled, version):
    second = next_version(version, labelled[1], 4)
    third = next_version(second, labelled[1], 6)
    shown = text_of(reader.get(address("judge_version", third)))
    assert "Differences from v2" in shown
    assert "removed: 4" in shown
    against_first = text_of(reader.get(address("judge_version", third), {"with": "1"}))
    assert "Differences from v1" in against_first
    assert reader.get(address("judge_version", third), {"with": "x"}).status_code == 400
    assert reader.get(address("judge_version", third), {"with": "9"}).status_code == 404


def test_the_judge_page_shows_figures_bias_and_tags(reader, labelled, version):
    project, user = labelled
    first = try_with(version, make_scores(project))
    try_with(next_version(version, user, 1), make_scores(project, 0.2))
    summary = summaries_of(project, LabelPart.TUNING)[0]
    tag_disagreement(project, user, first.setup_id, "coherence", summary.pk, "label")
    shown = text_of(reader.get(judge_address(version)))
    assert "2 tried" in shown
    assert "1 label wrong" in shown
    assert "better by chance" in shown
    assert "Not opened yet." in shown
    kendall = text_of(reader.get(judge_address(version), {"measure": "kendall_b"}))
    assert "Kendall" in kendall
    assert reader.get(judge_address(version), {"measure": "luck"}).status_code == 400


def test_a_judge_says_that_its_intervals_are_for_a_single_look(reader, labelled, version):
    project, _ = labelled
    assert "single look" not in text_of(reader.get(judge_address(version))), "nothing is measured yet"
    try_with(version, make_scores(project))
    live = text_of(reader.get(judge_address(version)))
    assert "For a single look: while ratings come in, intervals like these mislead" in live
    assert "Show those that hold at every look" not in live
    assert "Intervals are for a single look at the ratings." in live
    close_campaign(project, make_member(project, "manager"))
    final = text_of(reader.get(judge_address(version)))
    assert "Its ratings are final, so intervals are for a single look." in final
    assert "while ratings come in" not in final
    assert "Intervals are for a single look at the ratings." not in final


def test_disagreements_of_a_trial_cover_only_the_tuning_part(reader, labelled, version):
    project, _ = labelled
    trial = try_with(version, make_scores(project))
    url = reverse("disagreements", args=[project.slug])
    choices = {"evaluator": trial.setup_id, "question": "coherence"}
    assert reader.get(url, choices).status_code == 400, "a trial takes no part in comparisons"
    answer = reader.get(url, choices | {"part": "tuning"})
    listed = {int(pk) for pk in re.findall(r'id="summary-(\d+)"', answer.content.decode())}
    assert listed
    assert listed <= {each.pk for each in summaries_of(project, LabelPart.TUNING)}
    assert "Tuning part only" in text_of(answer)
    assert reader.get(url, choices | {"part": "sealed"}).status_code == 400


def test_another_rating_of_a_wrong_label_can_be_requested(reader, labelled, version):
    project, _ = labelled
    trial = try_with(version, make_scores(project))
    summary = summaries_of(project, LabelPart.TUNING)[0]
    of_row = [project.slug, trial.setup_id, "coherence", summary.pk]
    tagged = reader.post(
        reverse("disagreement_tag", args=of_row) + "?part=tuning", {"verdict": "label"}, **HTMX
    )
    assert "Request another rating" in text_of(tagged)
    asked = reader.post(
        reverse("disagreement_rerating", args=of_row) + "?part=tuning", {"again": "1"}, **HTMX
    )
    assert "Sent to be rated once more" in text_of(asked)
    assert "label wrong, by" in text_of(asked), "the tag is kept"
    assert "1 waiting for another rating" in text_of(reader.get(judge_address(version)))
    back = reader.post(reverse("disagreement_rerating", args=of_row), {"again": ""}, follow=True)
    assert "Request for another rating cancelled" in text_of(back)


def test_starting_a_trial_polls_its_progress(reader, labelled, version):
    answer = reader.post(address("judge_try", version), follow=True)
    assert "Trial of Coherence v1 started" in text_of(answer)
    run = Trial.objects.get().run
    assert 'hx-trigger="every 2s"' in answer.content.decode()
    polled = reader.get(judge_address(version), {"progress": 1}, **HTMX)
    assert f"0 of {run.total}" in text_of(polled)
    assert "HX-Refresh" not in polled
    Run.objects.filter(pk=run.pk).update(status="done")
    assert reader.get(judge_address(version), {"progress": 1}, **HTMX)["HX-Refresh"] == "true"
    Run.objects.filter(pk=run.pk).update(status="running")
    busy = reader.post(address("judge_try", version))
    assert busy.status_code == 422
    assert "is in progress" in text_of(busy)


def test_an_invalid_budget_is_refused_next_to_its_field(reader, labelled, version):
    for budget, why in (("much", "Enter a number"), ("5", "needs a price for scripted")):
        answer = reader.post(address("judge_try", version), {"budget": budget})
        assert answer.status_code == 422
        assert why in str(answer.context["form"].errors["budget"])
        assert not Trial.objects.exists()


@pytest.fixture
def named_texts(labelled):
    """Give each summary a text that names its part of the labels."""
    project, _ = labelled
    set_split(project, labelled[1], SHARES)
    for part in LabelPart:
        for summary in summaries_of(project, part):
            summary.text = f"Summary {summary.pk} of the {part} part."
            summary.save()


def parts_in_prompts(answer):
    """Return the parts that the prompts name."""
    endings = [shown.prompt.rpartition("Summary: ")[2] for shown in answer.context["estimate"].prompts]
    return {ending.split()[-3] for ending in endings}


@pytest.mark.usefixtures("named_texts")
def test_the_trial_page_shows_requests_cost_and_three_prompts(reader, labelled, version):
    project, _ = labelled
    url = address("judge_try", version)
    shown = reader.get(url)
    asked = shown.context["estimate"]
    assert asked.requests == len(summaries_of(project, LabelPart.TUNING)) == asked.to_send
    assert "scripted has no price." in text_of(shown)
    assert shown.content.decode().count('<details class="prompt"') == 3
    assert parts_in_prompts(shown) == {"tuning"}
    endpoint = Endpoint.objects.create(project=project, base_url=version.params["base_url"])
    endpoint.models.create(name="scripted", api="chat", input_price=1, output_price=2)
    priced = reader.get(url)
    assert priced.context["estimate"].cost_at_most > 0
    assert "at most $" in text_of(priced)
    assert not Trial.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.usefixtures("named_texts")
def test_previewing_an_opening_shows_sealed_prompts_without_opening(reader, labelled, version):
    project, _ = labelled
    reader.post(address("judge_try", version))
    Run.objects.update(status="done")
    shown = reader.get(address("sealed_open", version))
    assert shown.context["estimate"].requests == len(summaries_of(project, LabelPart.SEALED))
    assert parts_in_prompts(shown) == {"sealed"}
    assert not SealedOpening.objects.exists()


def test_an_untriable_version_gives_a_reason_instead_of_a_button(reader, labelled, version):
    project, _ = labelled
    project.label_split.delete()
    shown = reader.get(address("judge_try", version))
    assert "labels into pool, tuning and sealed first." in text_of(shown)
    assert "Start trial" not in text_of(shown)
    refused = reader.post(address("judge_try", version))
    assert refused.status_code == 422
    assert text_of(refused).count("labels into pool, tuning and sealed first.") == 1


def test_opening_needs_a_trial_and_confirmation_and_is_recorded(reader, labelled, version):
    _, user = labelled
    url = address("sealed_open", version)
    assert "has no trial yet" in text_of(reader.get(url))
    assert "has no trial yet" in text_of(reader.post(url))
    assert not SealedOpening.objects.exists()
    reader.post(address("judge_try", version))
    Run.objects.update(status="done")
    assert "cannot be undone" in text_of(reader.get(url))
    opened = text_of(reader.post(url, follow=True))
    assert "Sealed part opened for Coherence v1" in opened
    assert "Opened 1 time . Each opening" in opened
    assert f"Coherence v1 , by {user}" in opened
    of_sealed = reader.get(judge_address(version)).context["rows"][0]
    trial_page = text_of(
        reader.get(reverse("run", args=[version.judge.project.slug, version.trials.get().run_id]))
    )
    assert "View judge" in trial_page
    assert "Compare with human labels" not in trial_page, "a trial takes no part in comparisons"
    assert of_sealed.opening_run == Run.objects.latest("pk"), "the sealed figure waits for its run"
    Run.objects.update(status="done")
    assert reader.get(judge_address(version)).context["rows"][0].opening_run is None


def test_managers_see_judges_and_annotators_are_forbidden(client, labelled, version):
    project, _ = labelled
    client.force_login(make_member(project, "manager"))
    assert client.get(judge_address(version)).status_code == 200
    rater = project.raters.first()
    client.force_login(rater.user)
    assert client.get(judge_address(version)).status_code == 403


def test_more_judges_and_versions_cost_no_more_queries(labelled, version, reader):
    project, user = labelled

    def count_queries():
        with CaptureQueriesContext(connection) as queries:
            assert reader.get(reverse("judges", args=[project.slug])).status_code == 200
        return len(queries)

    def add_judge(number):
        made = make_judge(project, user, name=f"Judge {number}")
        for judged in (made, next_version(version, user, 100 + number)):
            try_with(judged, {summaries_of(project, LabelPart.TUNING)[0]: 0.5})
            SealedOpening.objects.create(version=judged, opened_by=user, opened_at=timezone.now())

    add_judge(1)
    before = count_queries()
    for number in range(2, 5):
        add_judge(number)
    assert count_queries() == before
