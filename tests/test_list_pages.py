"""The statements of pages that list rows: no more for many rows than for few.

LISTS has these pages; one that is in neither LISTS nor OTHERS fails the test.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext

from tests.addresses import ARGUMENTS, address_of
from tests.campaigns import Campaign, make_campaign
from tests.kept_snapshots import kept_snapshots
from tests.many_rows import MoreRows
from tests.scoring.training.counted_projects import make_trained_model
from tests.test_access_matrix import ROWS

pytestmark = pytest.mark.django_db

FEW, MANY = 2, 12
SHORTEST_ROW = 10  # characters
LISTS = {
    "home": "projects",
    "account": "API tokens and sessions",
    "rate_languages": "languages of a rater",
    "round_review": "summaries of a gold round",
    "history": "ratings of a rater",
    "own_messages": "messages",
    "progress": "languages, datasets, systems",
    "summaries": "summaries",
    "summary": "ratings, references and flags of a summary",
    "gold_set": "gold summaries, and rounds that gold changes affect",
    "flags": "flags",
    "imports": "imports",
    "import_job": "invalid rows",
    "import_errors": "invalid rows",
    "exports": "languages, datasets, systems",
    "export_file": "ratings",
    "guidelines_settings": "languages, versions, raters who confirm",
    "contradictions": "ratings and raters",
    "audit_log": "entries",
    "audit_log_csv": "entries",
    "people": "members and raters",
    "invitations": "invitations",
    "rater_messages": "messages",
    "messages_to_all": "languages of raters",
    "rater_qualification": "languages, rounds, suspensions",
    "runs": "runs",
    "run": "reasons for missing scores",
    "run_scores": "scores",
    "dimensions": "dimensions",
    "endpoints": "endpoints",
    "endpoint": "models",
    "webhooks": "webhooks",
    "webhook": "deliveries",
    "agreement": "languages and groups of raters",
    "adjudication": "disputed summaries",
    "adjudication_csv": "disputed summaries",
    "adjudicate": "answers of raters",
    "raters": "raters",
    "rater": "other raters, rounds, checks",
    "comparison": "setups",
    "comparison_summaries": "summaries",
    "answers": "systems and languages",
    "systems": "systems",
    "systems_table": "systems and setups",
    "evaluator_card": "languages and systems",
    "disagreements": "summaries",
    "priority_csv": "summaries",
    "preregistrations": "preregistrations",
    "preregistrations_csv": "preregistrations",
    "rechecks_of_setup": "rechecks",
    "rechecks": "setups that ask a model",
    "judges": "judges",
    "judge": "versions",
    "judge_version": "trials and openings",
    "sealed_open": "versions that were tried",
    "experiments": "experiments",
    "experiment": "members",
    "experiment_members": "members",
    "experiment_compare": "setups",
    "experiment_csv": "systems of each member",
    "trainings": "trainings and registered models",
    "training": "points of a training",
    "learning_curve_models": "models",
    "learning_curve": "models",
    "api_projects": "projects",
    "api_project": "languages, datasets, systems",
    "api_invitations": "invitations",
    "api_labels": "rated summaries",
    "api_export": "ratings",
    "api_audit_log": "entries",
    "api_runs": "runs",
    "api_run": "reasons for missing scores",
    "api_scores": "scores",
    "api_webhooks": "webhooks",
    "api_webhook_deliveries": "deliveries",
    "api_experiments": "experiments and their members",
    "api_learning_curves": "learning curves and their models",
    "api_judges": "judges and their versions",
    "api_rechecks": "rechecks",
    "api_comparison": "setups",
    "api_preregistrations": "preregistrations",
}
"""Name of the address -> what it lists."""
OTHERS = """
favicon sign_in sign_in_code admin_sign_in oidc_return invitation
two_factor password_forgotten password_reset api_schema
project_new questionnaire_new set_up set_up_preview project_settings priority project_archive project_archived
project_delete
campaign_close results_publish api_exports
rate rate_item api_rating api_import api_guidelines rating_stop check_review history_rating guidelines
gold_answers gold_remove summary_withdraw rating_void import_rejects import_columns import_undo
guidelines_draft guidelines_publish guidelines_discard guidelines_version
member_remove rater_languages rater_suspend rater_remove rater_reinstate rater_without
run_new run_probe run_delete dimension dimension_remove endpoint_key_remove endpoint_model_check
endpoint_model_remove endpoint_remove webhook_delete judge_new judge_version_new judge_try
experiment_new experiment_delete training_new training_delete training_figure
model model_archive model_register model_delete
learning_curve_new learning_curve_delete summary_scores disagreement
preregistration_new preregistration_withdraw
"""
"""Forms and pages of one thing."""
RESULTS = """
agreement_table agreement_figure api_agreement planning planning_table
timeline timeline_figure
across_projects across_projects_table across_projects_figure api_across_projects
comparison_table comparison_figure comparison_methods significance_csv levels_csv systems_csv
answers_table evaluator_card_table evaluator_card_figure api_evaluator_card disagreements_csv
api_judge experiment_table experiment_figure
learning_curve_table learning_curve_csv learning_curve_figure api_learning_curve
"""
"""Files, charts and figures from the snapshot that a page of LISTS shows too."""
AS = {
    "rate_languages": "trainee",
    "round_review": "trainee",
    "history": "annotator",
    "own_messages": "annotator",
    "export_file": "manager",
}
"""Address -> who asks, unless it is the manager."""
ABOUT_TRAINEE = {"rater", "rater_qualification"}


class Pages:
    """A campaign whose lists grow."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.more = MoreRows(campaign)
        self.clients: dict[str, Client] = {}
        self.snapshots: dict[int, object] = {}

    def ask(self, name: str) -> tuple[str, list[str]]:
        """Return the page and its statements, without their values."""
        role = AS.get(name, "manager")
        if role not in self.clients:
            self.clients[role] = Client()
            self.clients[role].force_login(self.campaign.users[role])
        ids = self.campaign.ids_for(name)
        if name in ABOUT_TRAINEE:
            ids = {**ids, "rater_id": self.more.trainee.pk}
        with kept_snapshots(self.snapshots), rolled_back(), CaptureQueriesContext(connection) as found:
            response = self.clients[role].get(address_of(name, ids))
            content = b"".join(response.streaming_content) if response.streaming else response.content
        assert response.status_code == 200, name
        return content.decode(), [without_values(each["sql"]) for each in found]

    def read_what_is_kept(self) -> None:
        """Let the process read the snapshot and the texts of which it keeps figures."""
        self.ask("comparison")
        self.ask("evaluator_card")


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def without_values(sql: str) -> str:
    return re.sub(r"(\d+|'[^']*'|%s)(, (\d+|'[^']*'|%s))*", "?", " ".join(sql.split()))


@pytest.fixture
def pages(tmp_path, monkeypatch) -> Iterator[Pages]:
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "weights"))
    with override_settings(MEDIA_ROOT=tmp_path / "uploads", VAR_DIR=tmp_path / "var"):
        campaign = make_campaign("own")
        make_trained_model(str(campaign.ids["model_name"]))
        yield Pages(campaign)


def test_every_page_is_known():
    """One that shows rows belongs into LISTS, with rows of its kind in `MoreRows`."""
    read = {row.name for row in ROWS if row.method == "GET"}
    known = [*LISTS, *OTHERS.split(), *RESULTS.split()]
    assert (read - set(known), set(known) - read) == (set(), set())
    assert len(known) == len(set(known))
    assert AS.keys() | ABOUT_TRAINEE <= LISTS.keys() <= ARGUMENTS.keys()


def test_no_list_takes_more_statements_for_more_rows(pages):
    """Snapshots are kept, as by a server, because the scores of each setup are read by a statement."""
    pages.more.add(range(FEW))
    pages.read_what_is_kept()
    few = {name: pages.ask(name) for name in LISTS}
    pages.more.add(range(FEW, MANY))
    pages.read_what_is_kept()
    growing, same = [], []
    for name, (page, statements) in few.items():
        longer, more = pages.ask(name)
        if len(more) != len(statements):
            growing.append(f"{name}: {len(statements)} statements for {FEW} rows, {len(more)} for {MANY}")
            further = Counter(more) - Counter(statements)
            growing += [f"  {times} more: {sql[:300]}" for sql, times in further.most_common(5)]
        if len(longer) < len(page) + SHORTEST_ROW * (MANY - FEW):
            same.append(name)
    assert not growing, "\n".join(growing)
    assert not same, f"These pages did not get {MANY - FEW} rows more: {', '.join(same)}"
