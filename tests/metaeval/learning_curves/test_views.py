"""The pages of learning curves: form with preview, figures, files, actions."""

import csv
import io
from pathlib import Path

import pytest
from django.urls import reverse

from scoring.models import CurveModel, LearningCurve, Run, Training
from tests.annotation.rating.rating_steps import text_of
from tests.metaeval.learning_curves.curve_projects import make_curve, make_curve_project, use_curve_trainer

pytestmark = pytest.mark.django_db

HTMX = {"headers": {"hx-request": "true"}}


def address(name, project, *ids):
    return reverse(name, args=[project.slug, *ids])


class TestForm:
    FORM = {
        "method": "sharing",
        "name": "Mine",
        "shares": "25, 100",
        "seeds": "2",
        "param_steps": "2",
        "param_dimension": "attribution",
        "param_epochs": "2",
    }

    @pytest.fixture(autouse=True)
    def _sharing(self, monkeypatch, settings, tmp_path: Path) -> None:
        use_curve_trainer(monkeypatch, settings, tmp_path)

    @pytest.fixture
    def project(self):
        return make_curve_project()

    def test_offers_no_parameter_that_the_trainings_vary(self, project, researcher):
        text = text_of(researcher.get(address("learning_curve_new", project) + "?method=sharing"))
        assert 'value="10, 25, 50, 100"' in text
        assert "param_steps" in text
        assert "param_training_share" not in text
        assert "param_seed" not in text

    def test_preview_counts_what_each_share_gives(self, project, researcher):
        text = text_of(researcher.post(address("learning_curve_new", project), self.FORM, **HTMX))
        assert "<b>4 trainings</b>" in text
        assert '<th scope="row">25%</th> <td class="number">2; 2</td>' in text
        assert "3, of which 3 have rated summaries" in text
        assert "Intervals need ten test articles" in text
        assert not LearningCurve.objects.exists()

    def test_starts_all_trainings(self, project, researcher):
        response = researcher.post(address("learning_curve_new", project), {**self.FORM, "action": "start"})
        curve = LearningCurve.objects.get()
        assert response.url == address("learning_curve", project, curve.pk)
        assert Training.objects.filter(curve_model__curve=curve).count() == 4

    @pytest.mark.parametrize(
        ("change", "field", "words"),
        [
            ({"shares": "25, x"}, "shares", "Found 'x'"),
            ({"seeds": "11"}, "seeds", "less than or equal to 10"),
            ({"name": ""}, "name", "required"),
            ({"param_dimension": "grammar"}, None, "25% of the articles, seed 0: No summary"),
        ],
    )
    def test_names_what_is_wrong(self, project, researcher, change, field, words):
        form = {**self.FORM, **change, "action": "start"}
        response = researcher.post(address("learning_curve_new", project), form)
        assert response.status_code == 422
        errors = response.context["form"].errors.get(field or "__all__", [])
        assert words in " ".join(errors)
        assert not LearningCurve.objects.exists()

    def test_shows_progress_until_all_is_done(self, project, researcher):
        curve = make_curve(project)
        text = text_of(researcher.get(address("learning_curve", project, curve.pk)))
        assert f'hx-get="{address("learning_curve_models", project, curve.pk)}"' in text
        assert "<b>0</b> of 4 models trained" in text
        assert "Figures appear here when the first model is trained" in text
        researcher.post(address("learning_curve_cancel", project, curve.pk))
        text = text_of(researcher.get(address("learning_curve_models", project, curve.pk)))
        assert "0 of 4 models done, 4 stopped" in text
        assert "hx-get" not in text
        page = researcher.post(address("learning_curve_resume", project, curve.pk), follow=True)
        assert "4 models resumed." in text_of(page)

    def test_trainings_of_a_curve_are_listed_on_its_page_alone(self, project, researcher):
        curve = make_curve(project)
        text = text_of(researcher.get(address("trainings", project)))
        assert address("learning_curve", project, curve.pk) in text
        first = CurveModel.objects.first().training
        assert address("training", project, first.pk) not in text
        assert address("training", project, first.pk) in text_of(
            researcher.get(address("learning_curve", project, curve.pk))
        )
        assert curve.name in text_of(researcher.get(address("training", project, first.pk)))

    def test_deleting_asks_first(self, project, researcher):
        curve = make_curve(project)
        here = address("learning_curve_delete", project, curve.pk)
        text = text_of(researcher.get(here))
        assert "deleted with checkpoints and models, for everybody in this project." in text
        assert "Cancel it first" in text
        researcher.post(here)
        assert LearningCurve.objects.exists()
        researcher.post(address("learning_curve_cancel", project, curve.pk))
        assert researcher.post(here).url == address("trainings", project)
        assert not Training.objects.exists()


class TestFigures:
    def test_page_shows_chart_tables_and_break_even(self, project, curve, researcher):
        text = text_of(researcher.get(address("learning_curve", project, curve.pk)))
        assert "Compared with Poor: better from 100 answers on (50%)." in text
        assert "<desc>10%: 0." in text
        assert "90 summaries of 30 test articles" in text
        assert "K − 1 of a share&#x27;s K models are drawn with replacement" in text
        assert "style=" not in text

    @pytest.mark.parametrize(
        ("name", "fields"),
        [
            ("learning_curve_table", ["name", "dimension", "share"]),
            ("differences", ["dimension", "share", "examples", "other"]),
            ("models", ["dimension", "share", "seed"]),
        ],
    )
    def test_tables_are_files(self, project, curve, researcher, name, fields):
        here = (
            address(name, project, curve.pk, "csv")
            if name == "learning_curve_table"
            else address("learning_curve_csv", project, curve.pk, name)
        )
        rows = list(csv.DictReader(io.StringIO(researcher.get(here).content.decode())))
        assert list(rows[0])[: len(fields)] == fields
        assert here in text_of(researcher.get(address("learning_curve", project, curve.pk)))

    def test_latex_and_chart(self, project, curve, researcher):
        latex = researcher.get(address("learning_curve_table", project, curve.pk, "tex")).content.decode()
        assert r"10\% (20) & $" in latex
        svg = researcher.get(address("learning_curve_figure", project, curve.pk, "curve-coherence", "svg"))
        assert b"Training answers" in svg.content

    def test_unknown_tables_and_curves_are_not_found(self, project, curve, researcher):
        assert researcher.get(address("learning_curve_csv", project, curve.pk, "none")).status_code == 404
        assert researcher.get(address("learning_curve", project, curve.pk + 1)).status_code == 404

    def test_a_run_that_ends_is_news(self, project, curve, researcher):
        here = address("learning_curve", project, curve.pk)
        project.refresh_from_db()
        assert researcher.get(f"{here}?revision={project.revision}", **HTMX).status_code == 204
        Run.objects.filter(setup__curve_models__share=0.1).update(status="running")
        project.bump_revision()
        text = text_of(researcher.get(f"{here}?revision={project.revision - 1}", **HTMX))
        assert "<desc>50%: 0." in text


def test_the_api_gives_the_same_figures(project, curve, researcher):
    listed = researcher.get(f"/api/projects/{project.slug}/learning-curves/").json()
    [found] = listed["results"]
    assert (found["name"], [each["share"] for each in found["models"]]) == (
        "Growing",
        [0.1, 0.1, 0.5, 0.5, 1, 1],
    )
    here = f"/api/projects/{project.slug}/learning-curves/{curve.pk}/"
    rows = researcher.get(here).json()["results"]
    page = researcher.get(address("learning_curve", project, curve.pk)).context["page"]
    assert [row["value"] for row in rows] == [row["value"] for row in page.figures[0].rows()]
    other = researcher.get(f"{here}?coefficient=kendall_b").json()["results"]
    assert {row["coefficient"] for row in other} == {"kendall_b"}
    refused = researcher.get(f"{here}?coefficient=none")
    assert refused.status_code == 400
