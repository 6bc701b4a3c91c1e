"""Production settings, each in a separate process."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {
    "TOUCHSTONE_MODE": "production",
    "SECRET_KEY": "k9$Vw2" * 12,
    "ALLOWED_HOSTS": "touchstone.example.org",
}


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_deployment_check_is_clean_in_production():
    done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


def test_production_does_not_start_without_a_secret_key():
    without_key = {name: value for name, value in PRODUCTION.items() if name != "SECRET_KEY"}
    done = manage("check", **without_key)
    assert done.returncode != 0
    assert "SECRET_KEY" in done.stderr


def test_an_unknown_mode_is_refused():
    done = manage("check", **{**PRODUCTION, "TOUCHSTONE_MODE": "staging"})
    assert done.returncode != 0
    assert "expected 'production' or 'local'" in done.stderr


def test_production_is_secure_by_default():
    expected = {
        "DEBUG": False,
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "ALLOWED_HOSTS": ["touchstone.example.org"],
        "CELERY_ACCEPT_CONTENT": ["json"],
    }
    told = f"import json; print(json.dumps({{name: getattr(settings, name) for name in {list(expected)}}}))"
    done = manage("shell", "--no-imports", "-c", f"from django.conf import settings; {told}", **PRODUCTION)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
