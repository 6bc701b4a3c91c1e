"""Settings from the environment. docs/operators.md lists every variable.

Production is the default. It has no default secrets and stops with a clear error if one is missing or short.
`script/up` and `script/test` write var/local.env, which holds this machine's local mode and random key. It
is not read if the environment has a mode or a key, nor by a web server that `script/up` did not start.
"""

import os
from collections import ChainMap
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.utils.translation import gettext_noop

BASE_DIR = Path(__file__).resolve().parent.parent

MAY_BE_FILES = (
    "SECRET_KEY",
    "ENDPOINT_KEYS_SECRET",
    "DATABASE_URL",
    "BROKER_URL",
    "EMAIL_URL",
    "OIDC_CLIENT_SECRET",
)


def read_files() -> dict[str, str]:
    """Return the variables that are read from files, which NAME_FILE names instead of NAME."""
    found = {}
    for name in MAY_BE_FILES:
        path = os.environ.get(f"{name}_FILE")
        if not path:
            continue
        if name in os.environ:
            raise environ.ImproperlyConfigured(f"{name}_FILE: {name} is set, too. Unset one of them.")
        try:
            found[name] = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise environ.ImproperlyConfigured(
                f"{name}_FILE: {error}. Set it to a text file that this user can read."
            ) from error
    return found


env = environ.Env()
# What the files hold stays out of the environment, which other programs inherit.
env.ENVIRON = ChainMap(read_files(), os.environ)
if not {"TOUCHSTONE_MODE", "SECRET_KEY"} & env.ENVIRON.keys():
    env.read_env(BASE_DIR / "var" / "local.env")
VAR_DIR = Path(env.str("VAR_DIR", default=str(BASE_DIR / "var")))  # the embedded defaults write here
try:
    VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
except OSError as error:
    raise environ.ImproperlyConfigured(
        f"VAR_DIR: {error}. Set it to a folder that can be written."
    ) from error

MODE = env.str("TOUCHSTONE_MODE", default="production")
if MODE not in ("production", "local"):
    raise environ.ImproperlyConfigured(f"TOUCHSTONE_MODE: found {MODE!r}, expected 'production' or 'local'")
LOCAL = MODE == "local"

DEBUG = env.bool("DEBUG", default=False)
if DEBUG and not LOCAL:
    raise environ.ImproperlyConfigured(
        "DEBUG: it shows code and settings to everybody, so it needs TOUCHSTONE_MODE=local"
    )


def secret(name: str, **options: str) -> str:
    """Return a secret of the environment, which production refuses if it can be guessed."""
    value = env.str(name, **options)
    weak = len(value) < 50 or len(set(value)) < 5 or value.startswith("django-insecure-")
    if value and weak and not LOCAL:
        raise environ.ImproperlyConfigured(
            f"{name}: production needs at least 50 random characters. Make them with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(50))'"
        )
    return value


SECRET_KEY = secret("SECRET_KEY")
ENDPOINT_KEYS_SECRET = secret("ENDPOINT_KEYS_SECRET", default="")  # empty: SECRET_KEY encrypts them
METRICS_TOKEN = secret("METRICS_TOKEN", default="")  # empty: /metrics answers 404
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"] if LOCAL else [])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",  # for the command clearsessions
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "django_htmx",
    "django_otp",
    "django_otp.plugins.otp_static",
    "django_otp.plugins.otp_totp",
    "drf_spectacular",
    "rest_framework",
    "template_partials",
    "annotation",
    "scoring",
    "metaeval",
]

MIDDLEWARE = [
    "annotation.web.health.HealthMiddleware",
    "annotation.web.request_ids.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "annotation.interface_language.middleware.InterfaceLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "annotation.web.body_limits.BodyLimitMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "annotation.web.hostile_input.HostileInputMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "annotation.rating.desk_middleware.DeskMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "annotation.people.two_factor_middleware.TwoFactorMiddleware",
    "annotation.audit.middleware.ActorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "annotation.web.middleware.PrivateResponseMiddleware",
    "annotation.web.middleware.WrongMethodMiddleware",
    "annotation.web.middleware.DomainErrorMiddleware",
    "annotation.web.middleware.KeptInBrowserMiddleware",
    "axes.middleware.AxesMiddleware",
]

if METRICS_TOKEN:
    # Behind the health checks, which are not counted.
    MIDDLEWARE.insert(1, "scoring.metrics.metrics_middleware.MetricsMiddleware")

ROOT_URLCONF = "touchstone.urls"
WSGI_APPLICATION = "touchstone.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "annotation.web.navigation.navigation",
            ],
            "libraries": {"rechecks": "metaeval.rechecks.template_tags"},
        },
    }
]

DATABASES = {"default": env.db_url("DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'touchstone.sqlite3'}")}
DATABASES["default"]["CONN_MAX_AGE"] = 60  # seconds
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["ENGINE"] = "annotation.database.sqlite_fair_writes"
    # IMMEDIATE takes the write lock when a transaction begins, so that two writers wait for each other
    # instead of failing at the first write; FULL lets an acknowledged rating survive a power cut. Each
    # connection, so each thread, may fill its cache of 16 MiB.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 30,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16384;",
    }
else:
    DATABASES["default"]["ENGINE"] = "annotation.database.postgresql_patience"
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["PATIENCE_S"] = env.float("DATABASE_PATIENCE_S", default=0)  # 0: no limit
    DATABASES["default"]["OPTIONS"] = {
        # After so many times a statement's plan is kept, where its cursor allows that.
        "prepare_threshold": 5,
        # A host that has vanished is noticed after about 20 seconds, also while it is only waited for.
        "connect_timeout": 5,
        "tcp_user_timeout": 20_000,  # milliseconds
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 2,
        **DATABASES["default"].get("OPTIONS", {}),
    }
BACKUP_DIR = Path(env.str("BACKUP_DIR")) if env.str("BACKUP_DIR", default="") else None
if BACKUP_DIR is not None:
    if not DATABASES["default"]["ENGINE"].endswith("sqlite_fair_writes"):
        raise environ.ImproperlyConfigured(
            "BACKUP_DIR: only SQLite is copied daily. Unset it, and back PostgreSQL up with pg_dump."
        )
    try:
        BACKUP_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise environ.ImproperlyConfigured(
            f"BACKUP_DIR: {error}. Set it to a folder that can be written."
        ) from error
    if not os.access(BACKUP_DIR, os.W_OK | os.X_OK):
        raise environ.ImproperlyConfigured(
            f"BACKUP_DIR: {BACKUP_DIR} cannot be written by this user. Set it to a folder that can be."
        )
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60  # seconds
TWO_FACTOR = env.str("TWO_FACTOR", default="offered")
if TWO_FACTOR not in ("offered", "managers"):
    raise environ.ImproperlyConfigured(f"TWO_FACTOR: found {TWO_FACTOR!r}, expected 'offered' or 'managers'")
OTP_TOTP_ISSUER = "Touchstone"  # what apps call the account's place
# Single sign-on with OpenID Connect, through mozilla-django-oidc.
OIDC_ISSUER = env.str("OIDC_ISSUER", default="")  # empty: passwords only
OIDC_NAME = env.str("OIDC_NAME", default=gettext_noop("single sign-on"))
OIDC_RP_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_RP_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_RP_SIGN_ALGO = env.str("OIDC_SIGN_ALGO", default="RS256")
OIDC_RP_SCOPES = "openid email profile"
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10  # seconds
OIDC_AUTHENTICATION_CALLBACK_URL = "oidc_return"
if OIDC_ISSUER:
    if not (OIDC_RP_CLIENT_ID and OIDC_RP_CLIENT_SECRET):
        raise environ.ImproperlyConfigured("OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_CLIENT_SECRET")
    AUTHENTICATION_BACKENDS.append("annotation.people.single_sign_on.SingleSignOnBackend")

SESSION_ENGINE = "annotation.sessions"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"

# Sign-in is throttled so that a stranger cannot lock out a colleague; sign_in_limits.py has all limits.
AXES_HANDLER = "annotation.people.sign_in_limits.SignInLimits"
AXES_FAILURE_LIMIT = 5  # by name and address together, or by name and known browser
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = "annotation.people.sign_in_limits.lockout_parameters"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # else whoever goes on trying keeps the owner out
AXES_CLIENT_IP_CALLABLE = "annotation.people.client_address.client_address"
AXES_LOCKOUT_CALLABLE = "annotation.people.account_views.sign_in_refused"
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ADMIN = False

LANGUAGE_CODE = "en"
LANGUAGES = [  # of the interface, and their English names; texts may be in any language
    ("en", "English"),
    ("de", "German"),
    ("es", "Spanish"),
    ("ru", "Russian"),
    ("tr", "Turkish"),
    ("vi", "Vietnamese"),
    ("ar", "Arabic"),
]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")

STATIC_URL = "static/"
STATIC_ROOT = None if LOCAL else BASE_DIR / "staticfiles"  # local mode serves them from their source folders
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = LOCAL
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if LOCAL
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
MEDIA_ROOT = Path(env.str("UPLOAD_DIR", default=str(VAR_DIR / "uploads")))  # read by workers, never served

DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # bytes of a form without its files
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=512 * 1024 * 1024)
FILE_UPLOAD_HANDLERS = [
    "annotation.imports.upload_limit.UploadLimit",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "annotation.web.error_pages.form_refused"
# Plain http is for local mode only.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = not LOCAL
SECURE_HSTS_SECONDS = 0 if LOCAL else env.int("HSTS_SECONDS", default=31_536_000)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not LOCAL
BEHIND_HTTPS_PROXY = env.bool("BEHIND_HTTPS_PROXY", default=False)
if BEHIND_HTTPS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        # Forms may lead to the provider, whose sign-in page has to be at its issuer's origin.
        "form-action": [SELF, *(["/".join(OIDC_ISSUER.split("/")[:3])] if OIDC_ISSUER else [])],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.people.api_authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["annotation.web.write_limit.WriteLimit"],
    "DEFAULT_THROTTLE_RATES": {"writes": "300/min"},
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,  # refuses OPTIONS, like every method but GET
    "EXCEPTION_HANDLER": "annotation.web.api_errors.domain_error_response",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Touchstone",
    "DESCRIPTION": "Projects, runs, scores, human labels, agreement and meta-evaluation to read, and rating.",
    "VERSION": "0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "ENUM_NAME_OVERRIDES": {"RunStatus": "scoring.models.Run.Status"},
}

# Each process counts its requests that change something through the API. Nothing else is cached here.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    }
}

EMAIL_URL = env.str("EMAIL_URL", default="")  # empty: managers copy links instead
if EMAIL_URL:
    vars().update(env.email_url("EMAIL_URL"))
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="touchstone@localhost")

CELERY_BROKER_URL = env.str("BROKER_URL", default=f"sqlite:///{VAR_DIR / 'broker.sqlite3'}")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker as long as that is away
# Whoever sends a message must not wait for a broker that hangs. Workers hear from Redis every second.
CELERY_BROKER_CONNECTION_TIMEOUT = 2  # seconds
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,  # seconds
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
}
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_ACCEPT_CONTENT = ["json"]  # whatever else reaches the broker is not unpickled
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # keeps no file of when its one task is due
# A message is only a wake-up; the sweep finds work whose message was lost with a killed process.
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "scoring.tasks.sweep", "schedule": 10.0, "options": {"expires": 10}},
}
# Where workers may send prompts and keys; * means any public address, loopback this machine.
LLM_ENDPOINTS = env.list(
    "LLM_ENDPOINTS", default=["*", "loopback"] if LOCAL else ["https://api.openai.com/v1"]
)
# Where webhooks may lead besides public addresses; loopback means this machine.
WEBHOOK_ADDRESSES = env.list("WEBHOOK_ADDRESSES", default=["loopback"] if LOCAL else [])
CLAIM_LEASE_S = env.int("CLAIM_LEASE_S", default=60)  # seconds until a killed worker's batch is free again

LOG_FORMAT = env.str("LOG_FORMAT", default="line")
if LOG_FORMAT not in ("line", "json"):
    raise environ.ImproperlyConfigured(f"LOG_FORMAT: found {LOG_FORMAT!r}, expected 'line' or 'json'")
CELERY_WORKER_HIJACK_ROOT_LOGGER = LOG_FORMAT == "line"  # Celery's own lines would replace JSON
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
        "json": {"()": "annotation.web.request_ids.JsonLines"},
    },
    "filters": {"strangers": {"()": "annotation.web.hostile_input.ShortLog"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["strangers"]}
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
