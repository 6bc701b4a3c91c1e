"""The pages of aligning a judge through their addresses."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metaeval.actions import tag_disagreement
from scoring.alignment.parts import Part
from scoring.alignment.split import set_split, split_of
from scoring.models import Endpoint, Judge, JudgeVersion, Run, SealedOpening, Trial
from tests.factories import make_member
from tests.metaeval.alignment.tried_judges import next_version, summaries_of, try_with
from tests.scoring.alignment.aligned import SHARES, make_judge, make_labelled

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def labelled(db, settings):
    settings.LLM_ENDPOINTS = ["*"]
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


def words(answer):
    return " ".join(re.sub(r"<[^>]+>", " ", answer.content.decode()).split())


def address(name, version, number=None):
    slug, judge = version.judge.project.slug, version.judge_id
    return reverse(name, args=[slug, judge] + ([version.number] if number is None else []))


def judge_address(version):
    return address("judge", version, number=False)


def filled_in(reader, url, **changes):
    """What the form sends as it stands in the page, with these changes."""
    form = reader.get(url).context["form"]
    sent = {}
    for field in form:
        value = field.value()
        if value not in (None, False, ""):
            sent[field.html_name] = value
    return {**sent, **changes}


def scores_of(project, noise=0):
    return {
        each: (place * 7 % 11) / 11 + noise for place, each in enumerate(summaries_of(project, Part.TUNING))
    }


def test_without_judges_the_page_explains_the_loop_and_offers_the_split(reader, labelled):
    project, _ = labelled
    shown = words(reader.get(reverse("alignment", args=[project.slug])))
    assert "No judge yet: how it goes" in shown
    assert "New judge" not in shown
    assert "Never opened." in shown


def test_the_split_is_previewed_then_kept_and_refused_with_words(reader, labelled):
    project, _ = labelled
    url = reverse("alignment", args=[project.slug])
    preview = reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}, **HTMX)
    assert "Labelled summaries" in words(preview)
    assert split_of(project) is None
    assert reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}).status_code == 302
    assert (split_of(project).seed, split_of(project).tuning_share) == (2, 0.3)
    refused = reader.post(url, {"pool": 60, "tuning": 40, "seed": 2})
    assert refused.status_code == 422
    assert "so that some articles stay sealed" in words(refused)


def test_a_tried_split_is_shown_as_fixed(reader, labelled, version):
    project, _ = labelled
    try_with(version, scores_of(project))
    url = reverse("alignment", args=[project.slug])
    assert "It stays so since a version was tried" in words(reader.get(url))
    answer = reader.post(url, {"pool": 30, "tuning": 30, "seed": 2}, follow=True)
    assert "The split stays as it is" in words(answer)
    assert split_of(project).seed == 0


def test_a_judge_is_made_in_the_browser(reader, labelled):
    project, _ = labelled
    url = reverse("judge_new", args=[project.slug])
    sent = filled_in(reader, url, name="Coherence", param_model="any", note="as in the paper")
    answer = reader.post(url, sent, follow=True)
    assert "Coherence v1 is there" in words(answer)
    made = Judge.objects.get().versions.get()
    assert (made.params["model"], made.note, made.created_by) == ("any", "as in the paper", labelled[1])
    again = reader.post(url, sent)
    assert again.status_code == 422
    assert "called Coherence already" in words(again)
    assert reader.get(url, {"evaluator": "rouge"}).status_code == 404


def test_a_version_is_made_by_editing_with_its_differences_shown_before(reader, version):
    url = address("judge_version_new", version)
    sent = filled_in(reader, url, param_seed=5, note="another draw")
    preview = reader.post(url, sent, **HTMX)
    assert "<del>" in preview.content.decode()
    assert "removed: 0" in words(preview)
    assert "added: 5" in words(preview)
    assert JudgeVersion.objects.count() == 1
    assert reader.post(url, sent).status_code == 302
    made = version.judge.versions.get(number=2)
    assert made.params == {**version.params, "seed": 5}
    same = reader.post(url, filled_in(reader, url))
    assert same.status_code == 422
    assert "Nothing differs from version 1" in words(same)


def test_any_two_versions_are_compared(reader, labelled, version):
    second = next_version(version, labelled[1], 4)
    third = next_version(second, labelled[1], 6)
    shown = words(reader.get(address("judge_version", third)))
    assert "What differs from v2" in shown
    assert "removed: 4" in shown
    against_first = words(reader.get(address("judge_version", third), {"with": "1"}))
    assert "What differs from v1" in against_first
    assert reader.get(address("judge_version", third), {"with": "x"}).status_code == 400
    assert reader.get(address("judge_version", third), {"with": "9"}).status_code == 404


def test_the_judge_page_shows_figures_luck_and_tags(reader, labelled, version):
    project, user = labelled
    first = try_with(version, scores_of(project))
    try_with(next_version(version, user, 1), scores_of(project, 0.2))
    summary = summaries_of(project, Part.TUNING)[0]
    tag_disagreement(project, user, first.setup_id, "coherence", summary.pk, "label")
    shown = words(reader.get(judge_address(version)))
    assert "2 tried" in shown
    assert "1 label wrong" in shown
    assert "by luck alone" in shown
    assert "Never opened." in shown
    kendall = words(reader.get(judge_address(version), {"measure": "kendall_b"}))
    assert "Kendall" in kendall
    assert reader.get(judge_address(version), {"measure": "luck"}).status_code == 400


def test_disagreements_of_a_trial_are_those_of_the_tuning_part(reader, labelled, version):
    project, _ = labelled
    trial = try_with(version, scores_of(project))
    url = reverse("disagreements", args=[project.slug])
    choices = {"evaluator": trial.setup_id, "question": "coherence"}
    assert reader.get(url, choices).status_code == 400, "it takes no part in comparisons yet"
    answer = reader.get(url, choices | {"part": "tuning"})
    listed = {int(pk) for pk in re.findall(r'id="summary-(\d+)"', answer.content.decode())}
    assert listed
    assert listed <= {each.pk for each in summaries_of(project, Part.TUNING)}
    assert "Of the tuning part alone" in words(answer)
    assert reader.get(url, choices | {"part": "sealed"}).status_code == 400


def test_a_wrong_label_is_sent_to_be_rated_once_more_from_its_row(reader, labelled, version):
    project, _ = labelled
    trial = try_with(version, scores_of(project))
    summary = summaries_of(project, Part.TUNING)[0]
    of_row = [project.slug, trial.setup_id, "coherence", summary.pk]
    tagged = reader.post(
        reverse("disagreement_tag", args=of_row) + "?part=tuning", {"verdict": "label"}, **HTMX
    )
    assert "Send to be rated once more" in words(tagged)
    asked = reader.post(
        reverse("disagreement_rerating", args=of_row) + "?part=tuning", {"again": "1"}, **HTMX
    )
    assert "Sent to be rated once more" in words(asked)
    assert "label wrong, by" in words(asked), "the tag stays"
    assert "1 to be rated once more" in words(reader.get(judge_address(version)))
    back = reader.post(reverse("disagreement_rerating", args=of_row), {"again": ""}, follow=True)
    assert "is not sent to be rated once more" in words(back)


def test_a_trial_starts_and_its_progress_is_asked_for(reader, labelled, version):
    answer = reader.post(address("judge_try", version), follow=True)
    assert "Coherence v1 is being tried" in words(answer)
    run = Trial.objects.get().run
    assert 'hx-trigger="every 2s"' in answer.content.decode()
    polled = reader.get(judge_address(version), {"progress": 1}, **HTMX)
    assert f"0 of {run.total}" in words(polled)
    assert "HX-Refresh" not in polled
    Run.objects.filter(pk=run.pk).update(status="done")
    assert reader.get(judge_address(version), {"progress": 1}, **HTMX)["HX-Refresh"] == "true"
    Run.objects.filter(pk=run.pk).update(status="running")
    busy = reader.post(address("judge_try", version))
    assert busy.status_code == 422
    assert "is being computed already" in words(busy)


def test_a_budget_that_cannot_be_kept_is_refused_beside_it(reader, labelled, version):
    for budget, why in (("much", "Enter a number"), ("5", "No price is known for scripted")):
        answer = reader.post(address("judge_try", version), {"budget": budget})
        assert answer.status_code == 422
        assert why in str(answer.context["form"].errors["budget"])
        assert not Trial.objects.exists()


@pytest.fixture
def named_texts(labelled):
    """Each summary tells the part of its article."""
    project, _ = labelled
    set_split(project, labelled[1], SHARES)
    for part in Part:
        for summary in summaries_of(project, part):
            summary.text = f"Summary {summary.pk} of the {part} part."
            summary.save()


def shown_endings(answer):
    """The parts that the prompts shown ask about."""
    endings = [shown.prompt.rpartition("Summary: ")[2] for shown in answer.context["estimate"].prompts]
    return {ending.split()[-3] for ending in endings}


@pytest.mark.usefixtures("named_texts")
def test_before_a_trial_its_requests_cost_and_three_prompts_are_shown(reader, labelled, version):
    project, _ = labelled
    url = address("judge_try", version)
    shown = reader.get(url)
    asked = shown.context["estimate"]
    assert asked.requests == len(summaries_of(project, Part.TUNING)) == asked.to_send
    assert "Cost not known. No price is known for scripted" in words(shown)
    assert shown.content.decode().count('<details class="prompt"') == 3
    assert shown_endings(shown) == {"tuning"}
    endpoint = Endpoint.objects.create(project=project, base_url=version.params["base_url"])
    endpoint.models.create(name="scripted", api="chat", input_price=1, output_price=2)
    priced = reader.get(url)
    assert priced.context["estimate"].cost_at_most > 0
    assert "at most $" in words(priced)
    assert not Trial.objects.exists()
    assert not Run.objects.exists()


@pytest.mark.usefixtures("named_texts")
def test_before_an_opening_the_same_is_shown_of_the_sealed_part_and_not_counted(reader, labelled, version):
    project, _ = labelled
    reader.post(address("judge_try", version))
    Run.objects.update(status="done")
    shown = reader.get(address("sealed_open", version))
    assert shown.context["estimate"].requests == len(summaries_of(project, Part.SEALED))
    assert shown_endings(shown) == {"sealed"}
    assert not SealedOpening.objects.exists()


def test_a_version_that_cannot_be_tried_says_so_instead_of_a_button(reader, labelled, version):
    project, _ = labelled
    project.label_split.delete()
    shown = reader.get(address("judge_try", version))
    assert "labels into pool, tuning and sealed first." in words(shown)
    assert "Try this version" not in words(shown)
    refused = reader.post(address("judge_try", version))
    assert refused.status_code == 422
    assert words(refused).count("labels into pool, tuning and sealed first.") == 1


def test_the_sealed_part_is_opened_after_a_question_and_counted_with_the_name(reader, labelled, version):
    _, user = labelled
    url = address("sealed_open", version)
    assert "Try it there first" in words(reader.get(url))
    assert "was not tried" in words(reader.post(url))
    assert not SealedOpening.objects.exists()
    reader.post(address("judge_try", version))
    Run.objects.update(status="done")
    assert "cannot be taken back" in words(reader.get(url))
    opened = words(reader.post(url, follow=True))
    assert "The sealed part is opened for Coherence v1" in opened
    assert "Opened 1 time . After the first" in opened
    assert f"Coherence v1 , by {user}" in opened
    of_sealed = reader.get(judge_address(version)).context["rows"][0]
    trial_page = words(
        reader.get(reverse("run", args=[version.judge.project.slug, version.trials.get().run_id]))
    )
    assert "To the judge" in trial_page
    assert "Compare with people" not in trial_page, "versions take no part in the Comparison by a trial"
    assert of_sealed.opening_run == Run.objects.latest("pk"), "no figure stands there before its run is done"
    Run.objects.update(status="done")
    assert reader.get(judge_address(version)).context["rows"][0].opening_run is None


def test_annotators_never_and_managers_always(client, labelled, version):
    project, _ = labelled
    client.force_login(make_member(project, "manager"))
    assert client.get(judge_address(version)).status_code == 200
    rater = project.raters.first()
    client.force_login(rater.user)
    assert client.get(judge_address(version)).status_code == 403


def test_more_judges_and_versions_cost_no_more_queries(labelled, version, reader):
    project, user = labelled

    def counted():
        with CaptureQueriesContext(connection) as queries:
            assert reader.get(reverse("alignment", args=[project.slug])).status_code == 200
        return len(queries)

    def another(number):
        made = make_judge(project, user, name=f"Judge {number}")
        for judged in (made, next_version(version, user, 100 + number)):
            try_with(judged, {summaries_of(project, Part.TUNING)[0]: 0.5})
            SealedOpening.objects.create(version=judged, opened_by=user, opened_at=timezone.now())

    another(1)
    before = counted()
    for number in range(2, 5):
        another(number)
    assert counted() == before
