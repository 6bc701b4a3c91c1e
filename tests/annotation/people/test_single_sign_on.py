"""Signing in with OpenID Connect, at a provider that listens on this machine."""

import time
from urllib.parse import parse_qs, urlparse

import josepy
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import AuditEntry, SignOnIdentity
from annotation.people.invitations import invite
from tests.annotation.people.oidc_provider import CLIENT, SECRET, running_provider
from tests.annotation.rating.rating_steps import text_of
from tests.factories import PASSWORD, make_project, make_user

pytestmark = pytest.mark.django_db

FAILED = "Single sign-on failed"


@pytest.fixture(scope="module")
def server():
    with running_provider() as running:
        yield running


@pytest.fixture
def provider(server, settings):
    server.person, server.forged, server.signing_key = {"sub": "person-1"}, {}, None
    settings.OIDC_ISSUER, settings.OIDC_NAME = server.issuer, "Lab login"
    settings.OIDC_RP_CLIENT_ID, settings.OIDC_RP_CLIENT_SECRET = CLIENT, SECRET
    settings.AUTHENTICATION_BACKENDS = [
        *settings.AUTHENTICATION_BACKENDS,
        "annotation.people.single_sign_on.SingleSignOnBackend",
    ]
    return server


def sign_on(client, provider, then=""):
    """Go to the provider and come back."""
    leaving = client.post(f"/sign-in/oidc/?next={then}")
    assert leaving.url.startswith(f"{provider.issuer}/authorize?"), leaving.url
    return client.get(provider.sign_in(leaving.url), follow=True)


def test_an_invited_person_joins_with_a_new_account_and_comes_back_to_it(provider):
    provider.person |= {"preferred_username": "Ada L.", "email": "ada@example.org", "email_verified": True}
    make_user("Ada-L.")
    _, token = invite(make_project(name="Pilot"), "annotator", ["en"])
    client = Client()
    page = text_of(client.get(f"/sign-in/?next=/invitations/{token}/"))
    assert "Sign in with Lab login" in page
    invited = sign_on(client, provider, then=f"/invitations/{token}/")
    assert "Join Pilot" in text_of(invited)
    user = User.objects.get(email="ada@example.org")
    assert (user.username, user.has_usable_password()) == ("Ada-L.-2", False)
    assert invited.context["user"] == user
    assert AuditEntry.objects.get(action="sign_on_connected").actor == user
    provider.person |= {"email": "new@example.org"}
    again = sign_on(Client(), provider)
    assert again.context["user"] == user
    assert SignOnIdentity.objects.count() == 1


def test_an_address_selects_no_account_and_an_unverified_one_is_not_kept(provider):
    ada = make_user("ada")
    User.objects.filter(pk=ada.pk).update(email="ada@example.org")
    provider.person |= {"sub": "eve", "email": "ada@example.org"}
    user = sign_on(Client(), provider).context["user"]
    assert (user.username, user.email) == ("ada-2", "")


def test_somebody_with_a_password_connects_their_account(provider):
    ada, client = make_user("ada"), Client()
    client.force_login(ada)
    assert "Connect Lab login" in text_of(client.get("/account/"))
    assert "Your account is connected" in text_of(sign_on(client, provider))
    assert "Connected." in text_of(client.get("/account/"))
    assert sign_on(Client(), provider).context["user"] == ada
    eve = Client()
    eve.force_login(make_user("eve"))
    refused = sign_on(eve, provider)
    assert refused.status_code == 403
    assert "belongs to another account than eve" in text_of(refused)
    assert SignOnIdentity.objects.get().user == ada


def test_a_closed_account_stays_closed(provider):
    user = sign_on(Client(), provider).context["user"]
    signed_in = Client()
    sign_on(signed_in, provider)
    User.objects.filter(pk=user.pk).update(is_active=False)
    assert signed_in.get("/account/").status_code == 302
    assert FAILED in text_of(sign_on(Client(), provider))


@pytest.mark.parametrize(
    "forged",
    [
        {"iss": "https://elsewhere.example"},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"exp": time.time() - 3600},
        {"nonce": "replayed"},
        {"sub": ""},
        {"sub": "somebody-else"},  # than the userinfo endpoint says
    ],
)
def test_a_token_that_is_not_for_this_sign_in_is_refused(provider, forged):
    provider.forged = forged
    assert FAILED in text_of(sign_on(Client(), provider))
    assert not User.objects.exists()


def test_a_forged_signature_state_or_code_is_refused(provider, settings):
    provider.signing_key = josepy.JWKRSA(key=rsa.generate_private_key(public_exponent=65537, key_size=2048))
    assert FAILED in text_of(sign_on(Client(), provider))
    provider.signing_key = None
    client = Client()
    back = provider.sign_in(client.post("/sign-in/oidc/").url)
    assert FAILED in text_of(Client().get(back, follow=True))  # another browser
    assert FAILED in text_of(client.get(f"{back}x", follow=True))  # another state
    assert client.get(back, follow=True).context["user"].is_authenticated
    assert FAILED in text_of(Client().get(back, follow=True))  # a second time
    code = parse_qs(urlparse(back).query)["code"][0]
    form = {"username": "ada", "password": PASSWORD}
    assert Client().post(f"/sign-in/?code={code}&state=any", form).status_code == 200
    settings.OIDC_RP_CLIENT_SECRET = "wrong"
    assert FAILED in text_of(sign_on(Client(), provider))
    assert User.objects.count() == 1


def test_a_provider_that_is_down_or_refuses_leaves_passwords_alone(provider, settings):
    ada, client = make_user("ada"), Client()
    settings.OIDC_ISSUER = "http://127.0.0.1:9"  # nothing listens there
    assert FAILED in text_of(client.post("/sign-in/oidc/", follow=True))
    assert client.post("/sign-in/", {"username": "ada", "password": PASSWORD}).status_code == 302
    kept = client.get("/sign-in/oidc/return/?error=access_denied", follow=True)
    assert FAILED in text_of(kept)
    assert kept.context["user"] == ada


def test_only_this_site_can_start_a_sign_in_and_only_with_a_provider(client, provider, settings):
    assert client.get("/sign-in/oidc/").status_code == 405
    assert Client(enforce_csrf_checks=True).post("/sign-in/oidc/").status_code == 403
    settings.OIDC_ISSUER = ""
    assert "Lab login" not in text_of(client.get("/sign-in/"))
    for refused in (client.post("/sign-in/oidc/"), client.get("/sign-in/oidc/return/")):
        assert refused.status_code == 404
