"""Pages of evaluators with a model: weights, many parameters, time estimates."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from scoring.models import Probe, Run
from scoring.runs.planning import plan_run
from scoring.runs.probing import PATIENCE_S, TOLD_FOR, work_on_probe
from scoring.runs.worker import work_on_run
from scoring.workers.presence import sign
from tests.annotation.rating.rating_steps import signed_in, text_of
from tests.factories import make_article, make_member, make_project, make_rater, make_summary
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db

HTMX = {"headers": {"hx-request": "true"}}
SIMILARITY = {"evaluator": "similarity", "param_model": "small", "param_against": "article"}
BERTSCORE = {"evaluator": "bertscore", "param_model": "small", "param_layer": "1"}


@pytest.fixture(autouse=True)
def weights_dir(monkeypatch, tmp_path):
    (tmp_path / "small").symlink_to(tiny_model("bert"), target_is_directory=True)
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def project():
    project = make_project()
    for number in range(20):
        make_summary(project, article=make_article(project, text=f"The cat number {number} sat on the mat."))
    return project


@pytest.fixture
def here(project):
    return reverse("run_new", args=[project.slug])


@pytest.fixture
def researcher(project):
    return signed_in(make_member(project, "researcher"))


def card_of(page: str, name: str) -> str:
    """Return the text of one evaluator in the list of evaluators."""
    return page.partition(f'?evaluator={name}"')[2].partition("</li>")[0]


def with_defaults_of(form: dict[str, str], page) -> dict[str, str]:
    """Return the form as a browser sends it, with the page's values for fields left alone."""
    shown = {field.html_name: field.value() for field in page.context["form"]}
    chosen = {name: value for name, value in shown.items() if value not in (None, False, "")}
    return {**chosen, **form}


class TestChoice:
    def test_list_says_whether_each_models_weights_are_installed(self, here, researcher, weights_dir):
        page = text_of(researcher.get(here))
        assert "weights not installed" in card_of(page, "similarity")
        assert "choose weights" in card_of(page, "xnli_mt5")
        assert "weights" not in card_of(page, "rouge")
        folder = weights_dir / "sentence-transformers" / "all-MiniLM-L6-v2"
        folder.parent.mkdir()
        folder.symlink_to(tiny_model("bert"), target_is_directory=True)
        page = text_of(researcher.get(here))
        assert "✓ weights installed" in card_of(page, "similarity")
        assert "weights not installed" in card_of(page, "bartscore")

    def test_page_links_to_each_family(self, here, researcher):
        page = text_of(researcher.get(here))
        for number in range(1, 3):
            assert f'href="#family-{number}"' in page
            assert f'id="family-{number}"' in page

    def test_evaluators_that_cannot_run_come_last_with_a_reason(self, here, researcher):
        can, _, cannot = text_of(researcher.get(here)).partition("Cannot run here yet")
        assert "?evaluator=rouge" in can
        assert "missing: human labels to learn from" in card_of(cannot, "majority")
        assert "weights not installed" in card_of(cannot, "bartscore")

    def test_needs_that_depend_on_parameters_are_short(self, here, researcher):
        card = card_of(text_of(researcher.get(here)), "bartscore")
        assert "<span>Needs the article; or references</span>" in card
        assert "<span>Yuan, Neubig and Liu 2021</span>" in card


class TestForm:
    def test_form_offers_installed_weights_by_name(self, here, researcher, weights_dir):
        (weights_dir / "baselines.tsv").write_text("LAYER,P,R,F\n")
        (weights_dir / "pickled").mkdir()
        (weights_dir / "pickled" / "pytorch_model.bin").write_bytes(b"")
        page = text_of(researcher.get(f"{here}?evaluator=bertscore"))
        assert '<option value="small"></option><option value="baselines.tsv"></option>' in page
        assert "pickled" not in page.partition("<datalist")[2].partition("</datalist>")[0]
        assert 'list="weights-here"' in page
        assert "Empty: FacebookAI/roberta-large." in page
        assert "<datalist" not in text_of(researcher.get(f"{here}?evaluator=rouge"))

    def test_names_in_the_description_are_shown_as_code(self, here, researcher):
        page = text_of(researcher.get(f"{here}?evaluator=unieval"))
        assert "<code>overall</code> is the mean of all dimensions." in page

    def test_empty_model_field_uses_the_authors_model(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=similarity")
        response = researcher.post(
            here, with_defaults_of({"evaluator": "similarity", "action": "preview"}, page)
        )
        assert response.status_code == 422
        [message] = response.context["form"].errors["param_model"]
        assert "manage.py weights fetch sentence-transformers/all-MiniLM-L6-v2" in message

    @pytest.mark.parametrize(
        ("model", "message"),
        [
            ("owner/name", "manage.py weights fetch owner/name"),
            ("smal", "Found 'smal', expected the id of a downloaded model"),
            ("/etc", "Found '/etc', expected the id of a downloaded model"),
        ],
    )
    def test_missing_model_is_an_error_beside_its_field_only(self, here, researcher, model, message):
        page = researcher.get(f"{here}?evaluator=bertscore")
        form = with_defaults_of({"evaluator": "bertscore", "param_model": model, "action": "start"}, page)
        response = researcher.post(here, form)
        assert list(response.context["form"].errors) == ["param_model"]
        assert message in response.context["form"].errors["param_model"][0]
        preview = text_of(researcher.post(here, form, **HTMX))
        assert '<a href="#id_param_model">Model</a>' in preview
        assert not Run.objects.exists()

    def test_missing_layer_is_an_error_beside_its_field(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=bertscore")
        form = with_defaults_of({**BERTSCORE, "param_layer": "-1"}, page)
        response = researcher.post(here, form)
        assert list(response.context["form"].errors) == ["param_layer"]
        assert response.context["form"].errors["param_layer"][0].startswith("Found -1, expected a layer")

    def test_further_parameters_are_folded_unless_one_has_an_error(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=bertscore")
        folded = text_of(page).partition("<details>")[2]
        assert 'name="param_precision"' in folded
        assert 'name="param_layer"' not in folded
        response = researcher.post(here, with_defaults_of({**BERTSCORE, "param_precision": "float8"}, page))
        assert response.status_code == 422
        opened = text_of(response).partition("<details open>")[2]
        assert "Select a valid choice" in opened

    def test_preview_names_the_model_and_its_size(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=similarity")
        preview = text_of(researcher.post(here, with_defaults_of(SIMILARITY, page), **HTMX))
        assert '✓ weights installed</span> <span class="mono">small</span>' in preview

    def test_preview_warns_of_what_a_published_model_was_trained_on(
        self, here, researcher, project, weights_dir
    ):
        (weights_dir / "MingZhong").mkdir()
        (weights_dir / "MingZhong" / "unieval-sum").symlink_to(tiny_model("t5"), target_is_directory=True)
        project.articles.update(dataset="cnn_dailymail")
        page = researcher.get(f"{here}?evaluator=unieval")
        form = with_defaults_of({"evaluator": "unieval"}, page)
        assert "MingZhong/unieval-sum was trained on CNN/DailyMail" in text_of(
            researcher.post(here, form, **HTMX)
        )
        project.articles.update(dataset="touchstone-demo")
        assert "was trained on" not in text_of(researcher.post(here, form, **HTMX))


class TestFailedRun:
    def test_page_says_that_the_model_is_of_the_wrong_kind(self, project, researcher, weights_dir):
        (weights_dir / "bart").symlink_to(tiny_model("bart"), target_is_directory=True)
        run = plan_run(project, "similarity", {"model": "bart", "against": "article"})
        work_on_run(run.pk)
        page = text_of(researcher.get(reverse("run", args=[project.slug, run.pk])))
        assert "is of the kind bart, an encoder with a decoder" in page


class TestEstimate:
    @pytest.fixture
    def form(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=similarity")
        return with_defaults_of({**SIMILARITY, "action": "probe"}, page)

    def probe_page(self, client, probe):
        return client.get(reverse("run_probe", args=[probe.project.slug, probe.pk]), **HTMX)

    def test_page_polls_until_the_worker_has_answered(self, here, researcher, form):
        preview = text_of(researcher.post(here, form, **HTMX))
        probe = Probe.objects.get()
        address = reverse("run_probe", args=[probe.project.slug, probe.pk])
        assert "<html" not in preview
        assert "<b>20</b> summaries" in preview
        assert f'hx-get="{address}" hx-trigger="every 1s"' in preview
        assert "Trying it on 16 summaries" in text_of(self.probe_page(researcher, probe))
        work_on_probe(probe.pk)
        answer = text_of(self.probe_page(researcher, probe))
        assert "<b>About " in answer
        assert "hx-trigger" not in answer
        assert not Run.objects.exists()

    def test_later_preview_shows_the_estimate_of_the_same_run_only(self, here, researcher, form):
        researcher.post(here, form, **HTMX)
        preview = {**form, "action": "preview"}
        assert "Trying it on 16 summaries" in text_of(researcher.post(here, preview, **HTMX))
        work_on_probe(Probe.objects.get().pk)
        assert "<b>About " in text_of(researcher.post(here, preview, **HTMX))
        other = {**preview, "param_long_article": "parts_mean"}
        assert 'id="probe"' not in text_of(researcher.post(here, other, **HTMX))
        Probe.objects.update(created_at=timezone.now() - TOLD_FOR)
        assert 'id="probe"' not in text_of(researcher.post(here, preview, **HTMX))

    def test_estimate_works_without_javascript(self, here, researcher, form):
        response = researcher.post(here, form)
        assert response.status_code == 200
        assert "Trying it on 16 summaries" in text_of(response)
        assert "<html" in text_of(response)

    def test_failed_estimate_shows_its_reason(self, here, researcher):
        page = researcher.get(f"{here}?evaluator=bertscore")
        form = with_defaults_of({**BERTSCORE, "param_layer": "40", "action": "probe"}, page)
        researcher.post(here, {**form, "param_against": "article"}, **HTMX)
        probe = Probe.objects.get()
        work_on_probe(probe.pk)
        answer = text_of(self.probe_page(researcher, probe))
        assert "The estimate failed." in answer
        assert "there is no 40" in answer

    def test_page_reports_a_missing_worker_and_stops_polling(self, here, researcher, form):
        researcher.post(here, form, **HTMX)
        Probe.objects.update(created_at=timezone.now() - timedelta(seconds=PATIENCE_S + 1))
        answer = text_of(self.probe_page(researcher, Probe.objects.get()))
        assert "No worker for this evaluator is running" in answer
        assert "hx-trigger" not in answer
        sign("worker@here", ["cpu"])
        assert "all are busy" in text_of(self.probe_page(researcher, Probe.objects.get()))

    def test_only_members_who_may_start_runs_see_the_estimate(self, here, project, researcher, form):
        researcher.post(here, form, **HTMX)
        probe = Probe.objects.get()
        assert self.probe_page(signed_in(make_rater(project).user), probe).status_code == 403
        elsewhere = make_project()
        stranger = signed_in(make_member(elsewhere, "manager"))
        assert self.probe_page(stranger, probe).status_code == 404
        assert stranger.get(reverse("run_probe", args=[elsewhere.slug, probe.pk])).status_code == 404

    def test_invalid_model_is_refused_without_a_probe(self, here, researcher, form):
        response = researcher.post(here, {**form, "param_model": "smal"}, **HTMX)
        assert "expected the id of a downloaded model" in text_of(response)
        assert not Probe.objects.exists()
