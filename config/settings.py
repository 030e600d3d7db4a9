"""One settings file for every deployment; what differs comes from the environment (env.example lists it all)."""

import os
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from agents_proxy import agents
from config import env, log_lines
from config.database_watch import PooledConnection
from config.schedule import TIMETABLE
from consent.release.manifest import policy_sources

ROOT, VAR = env.ROOT, env.VAR

# --- What this deployment is -----------------------------------------------------------------------------------------
BASE_URL = env.origin("BASE_URL", "http://localhost:8000")
_base = urlsplit(BASE_URL)
_https = _base.scheme == "https"
ISSUER = BASE_URL  # the consent app's origin, named in exports and receipts
SITE_NAME = env.text("SITE_NAME") or "Consent Runtime"
SITE_LOGO = env.picture("SITE_LOGO")  # instead of static/img/mark.svg; config/static_files.py gathers it
SITE_ACCENT = env.colour("SITE_ACCENT")  # instead of the green of static/css/tokens.css; config/checks.py looks at it
SITE_PAGES = env.folder("SITE_PAGES")  # the operator's own words, which consent/docs/public_pages.py shows
DEBUG = env.flag("DEBUG")
SECRET_KEY = env.secret("SECRET_KEY", "`./run` makes one in var/env; elsewhere set 50 random characters.")
ALLOWED_HOSTS = env.names("ALLOWED_HOSTS", f"{_base.hostname}{'' if _https else ',127.0.0.1,localhost'}")
CSRF_TRUSTED_ORIGINS = [BASE_URL]
USE_X_FORWARDED_PROTO = env.flag("BEHIND_TLS_PROXY")
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if USE_X_FORWARDED_PROTO else None
# of ours, each writing to X-Forwarded-For whom it saw; 0 believes nothing of it
TRUSTED_PROXIES = env.number("TRUSTED_PROXIES", 1 if USE_X_FORWARDED_PROTO else 0, maximum=10)

# --- Keys ------------------------------------------------------------------------------------------------------------
DATA_ENCRYPTION_KEYS = env.names("DATA_ENCRYPTION_KEYS")  # config/checks.py looks whether they work
_MADE = "`./run` makes them in var/; elsewhere `manage.py make_keys` prints a fresh set."
RECEIPT_KEYS: list[dict[str, str]] = env.secret_json("RECEIPT_KEYS", _MADE)

# the log's own; a process that has them sequences and signs (`manage.py sequence_log`, or the worker's timer)
LOG_VERIFIER_KEYS = env.names("LOG_VERIFIER_KEYS")  # the public halves, for processes that do not
LOG_KEYS: list[dict[str, str]] = [] if LOG_VERIFIER_KEYS else env.secret_json("LOG_KEYS", _MADE)
# what the signer signed last, outside the database
LOG_SIGNER_FILE = env.text("LOG_SIGNER_FILE") or str(VAR / "log-signer.json")
LOG_ORIGIN, LOG_MIRROR = env.text("LOG_ORIGIN"), env.text("LOG_MIRROR")  # a name and a folder, both may be empty
LOG_WITNESSES = env.witnesses("LOG_WITNESSES")
LOG_WITNESS_QUORUM = env.optional_number("LOG_WITNESS_QUORUM", maximum=len(LOG_WITNESSES))
RELEASE_MANIFEST = env.text("RELEASE_MANIFEST") or str(VAR / "release.note")  # what `manage.py make_release` signed
RELEASE_VERIFIER_KEY = env.text("RELEASE_VERIFIER_KEY")  # the public half of the release key
RELEASE_CHECK = env.choice("RELEASE_CHECK", ("refuse", "warn"), "refuse")

# --- Limits of the contract ------------------------------------------------------------------------------------------
MANAGEMENT_CALLS_PER_HOUR = 3600
LEAKED_TOKENS_PER_HOUR = 600
UNKNOWN_USERS_PER_HOUR = env.number("UNKNOWN_USERS_PER_HOUR", 30)
PEOPLE_SEARCHES_PER_HOUR = 600
DENIAL_COOLDOWN_SECONDS = env.number("DENIAL_COOLDOWN_SECONDS", 3600)
PENDING_REQUESTS_PER_PERSON = env.number("PENDING_REQUESTS_PER_PERSON", 5)
REQUESTS_PER_PERSON_PER_DAY = env.number("REQUESTS_PER_PERSON_PER_DAY", 20)
REQUEST_BUDGET_PER_HOUR = env.number("REQUEST_BUDGET_PER_HOUR", 1000)
INVITATIONS_PER_DAY = 20
MAIL_PAUSE_SECONDS = 3600
DISCOVERY_FLUSH_SECONDS = 5
# the log of an app's requests: written every so many seconds (0 keeps none), rows that one process holds until then
REQUEST_LOG_FLUSH_SECONDS = 1
REQUEST_LOG_WAITING = 20_000
REQUEST_LOG_DAYS = env.number("REQUEST_LOG_DAYS", 30, minimum=1, maximum=365)
# days after which records go that prove nothing: finished deliveries; discoveries and finds; calls to agents, of which
# the longest period of "Health of agents" counts a week
DELIVERIES_KEPT_DAYS = env.number("DELIVERIES_KEPT_DAYS", 90, minimum=7, maximum=3650)
DISCOVERIES_KEPT_DAYS = env.number("DISCOVERIES_KEPT_DAYS", 730, minimum=30, maximum=3650)
AGENT_CALLS_KEPT_DAYS = env.number("AGENT_CALLS_KEPT_DAYS", 365, minimum=30, maximum=3650)
# and those whose going the audit allows for (decision 0020); the database refuses less (consent/rules.py)
READS_KEPT_DAYS = env.number("READS_KEPT_DAYS", 1095, minimum=365, maximum=36500)
NOTICES_KEPT_DAYS = env.number("NOTICES_KEPT_DAYS", 730, minimum=365, maximum=36500)
STATUS_POLL_BURST = env.number("STATUS_POLL_BURST", 30)
STATUS_POLL_PER_SECOND = 2
STATUS_WAITERS = env.number("STATUS_WAITERS", 400, minimum=1)
STATUS_WAITERS_PER_APP = env.number("STATUS_WAITERS_PER_APP", 250, minimum=1)
# after SIGTERM, for calls to agents that are under way: what is held on purpose ends at once
SHUTDOWN_GRACE_SECONDS = env.number("SHUTDOWN_GRACE_SECONDS", 6, maximum=600)
# endpoints inside this network may be told only where a deployment says so, for its own tests
WEBHOOK_INTERNAL_ADDRESSES = env.flag("WEBHOOK_INTERNAL_ADDRESSES")
# from asking for an account to be erased until it is, in which that can be taken back
ERASURE_WAIT_DAYS = env.number("ERASURE_WAIT_DAYS", 7, minimum=1, maximum=60)
ANALYSIS_RETENTION_DAYS = env.number("ANALYSIS_RETENTION_DAYS", 30, minimum=1, maximum=3650)
ANALYSIS_LEASE_SECONDS = 15  # how long a worker that says nothing keeps a step; a live one renews this
ANALYSES_AT_ONCE = env.number("ANALYSES_AT_ONCE", 12, minimum=1)
# calls to profile agents: at once, and from then on per second, of one session or consent and of one address
A2A_SESSION_BURST = env.number("A2A_SESSION_BURST", 120)
A2A_SESSION_PER_SECOND = 2
A2A_ADDRESS_BURST = 10 * A2A_SESSION_BURST
A2A_ADDRESS_PER_SECOND = 20
A2A_CALLS_IN_FLIGHT = env.number("A2A_CALLS_IN_FLIGHT", 1120, minimum=1)
A2A_REQUIRE_CONSENT = env.flag("A2A_REQUIRE_CONSENT", True)
# how often an hour, 0 is off; another try of a step counts as an analysis, activations are sent to destinations, and
# a message that was not taken counts when it is sent again
A2A_BUDGETS = {
    "ANALYSES_PER_PERSON_PER_HOUR": 60,
    "ANALYSES_PER_APP_PER_HOUR": 3000,
    "ACTIVATIONS_PER_PERSON_PER_HOUR": 60,
    "ACTIVATIONS_PER_APP_PER_HOUR": 3000,
    "MESSAGES_PER_PERSON_PER_HOUR": 30,
    "MESSAGES_PER_APP_PER_HOUR": 600,
}
# what one person may keep, all revisions of all segments together; 0 is no limit
STORAGE_BYTES_PER_PERSON = env.number("STORAGE_BYTES_PER_PERSON", 64 * 1024 * 1024)
STORAGE_BYTES_UNVERIFIED = STORAGE_BYTES_PER_PERSON // 4  # until their e-mail address is verified
SEGMENTS_PER_PERSON = 2000
SEGMENTS_UNVERIFIED = SEGMENTS_PER_PERSON // 4
COPIES_BYTES_PER_PERSON = env.number("COPIES_BYTES_PER_PERSON", 256 * 1024 * 1024)
BODY_LIMIT = 64 * 1024  # bytes, developers' REST
A2A_BODY_LIMIT = 256 * 1024  # bytes: 20,000 characters, each written as two escaped surrogates at worst
OWNER_BODY_LIMIT = 16 * 1024 * 1024  # bytes, exports and segments from the owner's browser

# --- Profile agents: where each of them is; nothing of this is ever told to a caller ---------------------------------
AGENTS = {
    name: env.agent(agent.variable_prefix, agent.protocols, agent.protocol) for name, agent in agents.AGENTS.items()
}
_report_secret = env.text("AGENT_MESSAGING_REPORT_SECRET")
MESSAGING_REPORT_SECRET = env.signing_secret("AGENT_MESSAGING_REPORT_SECRET", _report_secret)
# None where this deployment has none: institutions cannot be linked then
AGGREGATOR = env.aggregator(
    url=env.text("AGGREGATOR_BASE_URL"),
    client_id=env.text("AGGREGATOR_CLIENT_ID"),
    secret=env.text("AGGREGATOR_SECRET"),
    name=SITE_NAME,
    countries=env.names("AGGREGATOR_COUNTRIES", "US"),
    days=730,
    timeout=20,
)

# --- Parts -----------------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "common",
    "accounts",
    "pkm",
    "developers",
    "consent",
    "agents_proxy",
    "portal",
    "config.apps.StaffConfig",
    "config.apps.RootConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "rest_framework",
    "drf_spectacular",
    "csp",
]
# `manage.py sample_data` plays a client with the bridge, which the server itself never needs
if find_spec("consent_bridge") and find_spec("deploy") and (ROOT / "deploy" / "sample_data").is_dir():
    INSTALLED_APPS.append("deploy.sample_data")
MIDDLEWARE = [
    "config.middleware.RequestContext",
    "config.program_addresses.ProgramAddresses",
    "config.middleware.SecurityHeaders",
    "config.tokens_in_queries.TokenFreeQuery",
    "csp.middleware.CSPMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.CompressedPages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "config.languages.PageLanguage",
    "django.middleware.common.CommonMiddleware",
    "config.middleware.CsrfBehindNoReferrer",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.interrupted.middleware.InterruptedActions",
    "config.sides.RememberSide",
    "config.pages.RefusalPages",
]
ROOT_URLCONF = "config.urls"
PROGRAM_URLCONF = "config.program_urls"  # what config/program_addresses.py resolves in, without the pages before it
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.middleware.session_tag",
                "accounts.interrupted.unconfirmed_forms.template_context",
                "consent.web.queries.pending_count",
            ],
            "builtins": ["accounts.templatetags.page_forms", "consent.templatetags.released"],
        },
    }
]

# --- Database: SQLite by default, PostgreSQL where DATABASE_URL says so ----------------------------------------------
DATABASE_LISTEN_URL = env.text("DATABASE_LISTEN_URL")  # of PostgreSQL itself, where DATABASE_URL leads to a pooler
_database = env.database("DATABASE_URL", f"sqlite:///{VAR / 'db.sqlite3'}")
if _database["ENGINE"].endswith("sqlite3"):
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
    # a file, so that the threads of a test's live server meet the same database
    _database["TEST"] = {"NAME": str(VAR / "test.sqlite3")}
else:
    _database["ENGINE"] = "config.postgresql"  # refuses at once while config.database_watch calls the database away
    _database["OPTIONS"] = {
        **_database.get("OPTIONS", {}),  # of the address, such as `sslmode`
        # psycopg doubles its pause between two attempts, up to `reconnect_timeout`; given up, the next request tries
        "pool": {
            "min_size": 1,
            "max_size": env.number("DATABASE_POOL", 20, minimum=1),
            "timeout": 2,  # config.postgresql asks again, for ten seconds in all, unless the database is away
            "reconnect_timeout": 2,
            "connection_class": PooledConnection,
        },
        # seconds, and milliseconds: a host that is gone says nothing; TCP alone would wait for a quarter of an hour.
        # `tcp_user_timeout` also ends an idle connection that has a probe without an answer by then, were it the first:
        # before it there must be room for several, or each lost packet breaks a connection.
        "connect_timeout": 3,
        "tcp_user_timeout": 11_000,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        # plans are made once a connection instead of with every read: half of what a hot read costs PostgreSQL; never
        # behind a pooler (PooledConnection), where a statement might be another client's
        "server_side_binding": True,
        "prepare_threshold": None if DATABASE_LISTEN_URL else 2,
    }
    # they outlive their transaction, and a pooler may hand the rest of it to another session
    _database["DISABLE_SERVER_SIDE_CURSORS"] = True
DATABASES = {"default": _database}
DATABASE_WATCH = True  # by the server alone; config/wsgi.py starts it
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# allauth remembers used codes there, which counts only where every process sees them
CACHES = {"default": {"BACKEND": "common.cache.SharedCache"}}

# --- Sign-in ---------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["accounts.sign_in.password_hash.CappedArgon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "accounts.sign_in.forms.CommonOrOfThisService"},
]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
# unless an address must be confirmed, sign-up cannot keep to itself who has an account; without mail nobody could
ACCOUNT_EMAIL_VERIFICATION = env.choice(
    "EMAIL_VERIFICATION", ("none", "optional", "mandatory"), "mandatory" if env.text("EMAIL_URL") else "optional"
)
ACCOUNT_REAUTHENTICATION_TIMEOUT, PASSWORD_RESET_TIMEOUT = 600, 3600  # seconds; the second of the link in the mail
ACCOUNT_REAUTHENTICATION_REQUIRED, ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True, False
ACCOUNT_SESSION_REMEMBER = None
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _https
MFA_TOTP_ISSUER = SITE_NAME
MFA_TOTP_TOLERANCE = 1  # steps; accounts/sign_in/second_factors.py takes one back, none ahead, and each once
MFA_ADAPTER = "accounts.sign_in.second_factors.SealedSecrets"
LOGIN_REDIRECT_URL = "/consent/"
LOGIN_URL = "/accounts/login/"
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_SIGNUP_REDIRECT_URL = "/vault/setup/"
ACCOUNT_EMAIL_NOTIFICATIONS = True  # of what changed; accounts/security_mail.py writes them
ACCOUNT_ADAPTER = "accounts.sign_in.adapter.Adapter"
ACCOUNT_FORMS = {
    "signup": "accounts.sign_in.forms.SignUp",
    "change_password": "accounts.sign_in.forms.ChangePassword",
    "reset_password": "accounts.sign_in.forms.ResetPassword",
    "set_password": "accounts.sign_in.forms.SetPassword",
}
MFA_FORMS = {
    "activate_totp": "accounts.sign_in.forms.TurnOnApp",
    "authenticate": "accounts.sign_in.forms.SecondStep",
    "reauthenticate": "accounts.sign_in.forms.ConfirmWithCode",
    "add_webauthn": "accounts.sign_in.passkeys.AddPasskey",
    "authenticate_webauthn": "accounts.sign_in.passkeys.SecondStepByPasskey",
    "reauthenticate_webauthn": "accounts.sign_in.passkeys.ConfirmWithPasskey",
    "login_webauthn": "accounts.sign_in.passkeys.LoginWithPasskey",
}
# allauth's own limits close an account, or the service, for everybody; accounts/sign_in/attempts.py has ours
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
# wrong passwords or codes for one account within 15 minutes, from one network or from one browser that it knows
SIGN_IN_FAILURES = env.number("SIGN_IN_FAILURES", 10)
# … and for all accounts together, from one network
SIGN_IN_FAILURES_PER_NETWORK = env.number("SIGN_IN_FAILURES_PER_NETWORK", 100)
SIGN_UPS_PER_NETWORK = env.number("SIGN_UPS_PER_NETWORK", 60)  # forms sent within an hour
PASSWORD_RESETS_PER_NETWORK = SIGN_UPS_PER_NETWORK // 2  # asked for within an hour
# to one address, of one kind, that strangers can ask for
ACCOUNT_MAILS_PER_HOUR = 3
KNOWN_BROWSER_COOKIE = "__Host-known-browser" if _https else "known-browser"

# --- Cookies and headers ---------------------------------------------------------------------------------------------
COOKIE_PREFIX = "__Host-" if _https else ""  # such a cookie is this host's own: no sibling host can set or see it
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
LANGUAGE_COOKIE_NAME, MESSAGE_STORAGE = f"{COOKIE_PREFIX}django_language", "config.middleware.Messages"
SESSION_ENGINE = "accounts.sign_in.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SECURE_SSL_REDIRECT = _https
_DAY = 24 * 3600  # a session ends 14 days after it was last written to, and 30 after the sign-in whatever happens
SESSION_COOKIE_AGE, SESSION_LONGEST, LANGUAGE_COOKIE_AGE = 14 * _DAY, 30 * _DAY, 365 * _DAY
LANGUAGE_COOKIE_HTTPONLY, LANGUAGE_COOKIE_SAMESITE = True, "Lax"
CSRF_FAILURE_VIEW = "config.pages.csrf_failure"
SECURE_HSTS_SECONDS = 31536000 if _https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _https
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
SECURE_REFERRER_POLICY = "no-referrer"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'", *policy_sources(Path(RELEASE_MANIFEST), "/static/")],  # hashes of the import map
        "worker-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
        "manifest-src": ["'self'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["service-worker"],  # static/js/messages_here.js, for one address
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = OWNER_BODY_LIMIT + 64 * 1024
FILE_UPLOAD_HANDLERS = ["common.pictures.BoundedUpload"]
DATA_UPLOAD_MAX_NUMBER_FILES = 2

# --- Words and files -------------------------------------------------------------------------------------------------
LANGUAGE_CODE, LANGUAGES = "en", [("en", "English"), ("de", "Deutsch")]
USE_TZ, TIME_ZONE = True, "UTC"
STATIC_URL, STATIC_ROOT = "/static/", VAR / "static"
LOCALE_PATHS = [ROOT / "locale"]
STATICFILES_DIRS = [ROOT / "static", ("js/formats", ROOT / "bridge-js" / "src" / "formats")]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.static_files.SiteLogo",
]
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no other site loads any of them
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.static_files.ModuleStaticFiles"},
}
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.sender("FROM_EMAIL", f"consent@{_base.hostname}")
EMAIL_BACKEND = "config.private_files.PrivateFiles"
EMAIL_FILE_PATH = VAR / "mail"
EMAIL_TIMEOUT = 10  # seconds; a mail server that says nothing would hold a worker for ever
if env.text("EMAIL_URL"):
    vars().update(env.email("EMAIL_URL"))

# --- API -------------------------------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_PARSER_CLASSES": ["common.admission.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["common.admission.parsers.ORJSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.SignedIn"],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "common.admission.parsers.JSONNegotiation",
    "EXCEPTION_HANDLER": "common.admission.exceptions.handle_exception",
    "DEFAULT_SCHEMA_CLASS": "common.operations.OperationSchema",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Consent Runtime",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "PREPROCESSING_HOOKS": ["consent.api.openapi.only_described"],
    "SORT_OPERATIONS": False,
    "POSTPROCESSING_HOOKS": [],
}

# --- Work in the background ------------------------------------------------------------------------------------------
REDIS_URL = env.redis("REDIS_URL")
CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = env.broker("CELERY_BROKER_URL")
if not CELERY_BROKER_URL:
    CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = REDIS_URL, env.REDIS_OPTIONS
if not CELERY_BROKER_URL:  # a folder of this machine
    CELERY_BROKER_URL = "spool://"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(VAR / "queue"),
        "data_folder_out": str(VAR / "queue"),
        "control_folder": str(VAR / "queue-control"),
        "polling_interval": 0.1,  # seconds
    }
    for _folder in ("queue", "queue-control"):
        Path(VAR / _folder).mkdir(parents=True, exist_ok=True)
CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = CELERY_BROKER_URL  # else Celery takes the variable as it stands
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR / "beat-schedule")
CELERY_BEAT_SCHEDULE, CELERY_BEAT_SCHEDULER = TIMETABLE, "config.beat.Scheduler"

# --- Metrics: host:port on which the processes of a machine answer Prometheus; empty is none
METRICS_ADDRESS = env.address("METRICS_ADDRESS")
METRICS_FOLDER = VAR / "metrics" / gethostname()  # two containers may have the same process number
if METRICS_ADDRESS:
    METRICS_FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_FOLDER)  # which the library reads while it is imported

# --- Traces: where OpenTelemetry's collector is; the SDK reads that and its other variables itself
TRACES_TO, TRACES_NAME = env.text("OTEL_EXPORTER_OTLP_ENDPOINT"), "consent-runtime"
if TRACES_TO and find_spec("opentelemetry.sdk") is None:
    raise ImproperlyConfigured(
        "OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages of requirements-tracing.lock are missing."
    )

# --- Logs: the path only, never a query string or a body -------------------------------------------------------------
LOGGING = log_lines.LOGGING
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # framing is refused by the policy's frame-ancestors, on every answer
    "security.W003",  # config.middleware.CsrfBehindNoReferrer is Django's own protection, at home with our policy
]
