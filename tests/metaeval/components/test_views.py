"""The component page, a tool for developers."""

import pytest
from django.test import Client, override_settings

from tests.factories import make_user

pytestmark = pytest.mark.django_db


def test_the_component_page_exists_only_in_local_mode(client: Client):
    client.force_login(make_user())
    for is_local, status in ((True, 200), (False, 404)):
        with override_settings(LOCAL=is_local):
            assert client.get("/components/").status_code == status
