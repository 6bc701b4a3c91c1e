"""Keys of endpoints: stored encrypted, and used only by workers that send requests to that address."""

import pytest
from django.core import serializers

from annotation.errors import DomainError, NotAllowed
from scoring.contract.evaluator import EvaluatorError
from scoring.contract.requests import Address
from scoring.endpoints.keys import key_for, remove_key, set_key
from scoring.llm.addresses import NO_KEY
from scoring.models import Endpoint
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db

KEY = "sk-secret-0123456789"
HERE = "https://llm.example.org/v1"


def address(base_url=HERE):
    return Address(base_url, "m", "chat", "SOME_API_KEY")


@pytest.fixture
def manager():
    return make_member(make_project(), "manager")


@pytest.fixture
def endpoint(manager):
    return Endpoint.objects.create(project=manager.memberships.get().project, base_url=HERE)


@pytest.fixture
def stored(endpoint, manager):
    set_key(endpoint, f" {KEY}\n", manager)
    return endpoint


def test_stored_endpoint_does_not_show_the_key(stored):
    assert stored.key_set_at is not None
    assert KEY not in serializers.serialize("json", [stored])
    assert KEY not in repr(stored)


def test_the_audit_log_names_the_address_and_not_the_key(stored, manager):
    remove_key(stored, manager)
    entries = stored.project.audit_entries.filter(action__startswith="key_")
    assert list(entries.values_list("action", "object")) == [("key_removed", HERE), ("key_stored", HERE)]
    assert KEY not in serializers.serialize("json", entries)


def test_same_key_is_encrypted_differently_each_time(stored, manager):
    before = stored.encrypted_key
    set_key(stored, KEY, manager)
    assert stored.encrypted_key != before


@pytest.mark.parametrize("base_url", [HERE, f"{HERE}/"])
def test_key_is_used_for_the_address_it_was_entered_for(stored, base_url):
    assert key_for(stored.project_id, address(base_url)) == KEY


@pytest.mark.parametrize(
    "base_url",
    ["https://llm.example.org", "https://llm.example.org.elsewhere.org/v1", "http://llm.example.org/v1"],
)
def test_key_is_not_used_for_another_address(stored, monkeypatch, base_url):
    monkeypatch.setenv("SOME_API_KEY", "workers-own")
    assert key_for(stored.project_id, address(base_url)) == "workers-own"


def test_key_is_not_used_for_another_project(stored, monkeypatch):
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    with pytest.raises(EvaluatorError, match=r"no key for https://llm.*SOME_API_KEY is not set") as refused:
        key_for(make_project().pk, address())
    assert refused.value.permanent


def test_removed_key_is_gone(stored, manager, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "workers-own")
    remove_key(stored, manager)
    stored.refresh_from_db()
    assert (stored.encrypted_key, stored.key_set_at) == ("", None)
    assert key_for(stored.project_id, address()) == "workers-own"


@pytest.mark.parametrize("setting", ["SECRET_KEY", "ENDPOINT_KEYS_SECRET"])
def test_worker_says_what_to_do_after_a_secret_has_changed(stored, settings, monkeypatch, setting):
    monkeypatch.setenv("SOME_API_KEY", "workers-own")
    setattr(settings, setting, "x" * 50)
    with pytest.raises(EvaluatorError, match=r"cannot be decrypted.*Enter it again") as refused:
        key_for(stored.project_id, address())
    assert refused.value.permanent


def test_changed_secret_key_is_harmless_with_a_separate_secret_for_keys(endpoint, manager, settings):
    settings.ENDPOINT_KEYS_SECRET = "y" * 50
    set_key(endpoint, KEY, manager)
    settings.SECRET_KEY = "x" * 50
    assert key_for(endpoint.project_id, address()) == KEY


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "clé", "k" * 2001])
def test_key_that_no_header_can_carry_is_refused_without_quoting_it(endpoint, manager, key):
    with pytest.raises(DomainError, match="ASCII letters") as refused:
        set_key(endpoint, key, manager)
    assert not key.strip() or key not in str(refused.value)
    endpoint.refresh_from_db()
    assert endpoint.encrypted_key == ""


def test_workers_key_that_no_header_can_carry_is_refused_without_quoting_it(endpoint, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-secret\n")
    with pytest.raises(EvaluatorError, match="SOME_API_KEY holds no valid key") as refused:
        key_for(endpoint.project_id, address())
    assert "sk-secret" not in str(refused.value)


def test_researchers_cannot_set_or_remove_keys(stored):
    researcher = make_member(stored.project, "researcher")
    with pytest.raises(NotAllowed):
        set_key(stored, "another", researcher)
    with pytest.raises(NotAllowed):
        remove_key(stored, researcher)
    assert key_for(stored.project_id, address()) == KEY


def test_local_endpoint_needs_no_key(monkeypatch):
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    project = make_project()
    assert key_for(project.pk, address("http://127.0.0.1:8000/v1")) == NO_KEY
    monkeypatch.setenv("SOME_API_KEY", "workers-own")
    assert key_for(project.pk, address("http://127.0.0.1:8000/v1")) == "workers-own"
