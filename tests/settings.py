"""The settings of a test run: the deployment's own, with secrets made for this run and a state folder of its own.

The environment is set before `config` is read, and what the caller's environment says about databases stays.
"""

import atexit
import os
import shutil
import tempfile
from urllib.parse import urlsplit

from tests.fresh import fresh_secrets

_var = tempfile.mkdtemp(prefix="consent-tests-")
atexit.register(shutil.rmtree, _var, ignore_errors=True)
# the state folder of the process that began this run, where the others find what one of them made for all
RUN_VAR = os.environ.setdefault("CONSENT_TESTS_VAR", _var)
for _name in (
    "BASE_URL",
    "ALLOWED_HOSTS",
    "DEBUG",
    "EMAIL_URL",
    "RECEIPT_KEYS_FILE",
    "LOG_KEYS_FILE",
    "LOG_WITNESSES",
    "LOG_MIRROR",
    "RELEASE_MANIFEST",
    "RELEASE_VERIFIER_KEY",
):
    os.environ.pop(_name, None)
# the servers that tests start make a release of their own (tests/served_site.py); here nothing is collected
os.environ.update(
    fresh_secrets(), CONSENT_VAR=_var, RELEASE_CHECK="warn", LOG_LEVEL=os.environ.get("LOG_LEVEL", "WARNING")
)

# each process of a run has a database of Redis as it has one of its own otherwise: the workers of the tests of another
# would take what it queues
if os.environ.get("REDIS_URL"):
    _of_run = urlsplit(os.environ.setdefault("CONSENT_TESTS_REDIS", os.environ["REDIS_URL"]))
    _number = int(_of_run.path[1:] or 0) + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    os.environ["REDIS_URL"] = _of_run._replace(path=f"/{_number % 16}").geturl()  # Redis has 16, unless told

from config.settings import *  # noqa: E402, F403  # every setting, as deployments have it
from config.settings import STATIC_ROOT, STORAGES  # noqa: E402

# Cheap on purpose: a test signs many people in. What a deployment uses is pinned by a test of its own.
PASSWORD_HASHERS = ["tests.password_hash.QuickArgon2"]
# Hashed names need `collectstatic`; the browser tests run the real server, which has them.
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "config.static_files.AddressesOnce"}}
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
DISCOVERY_FLUSH_SECONDS = 0  # a timer would write beside a test's own transaction
REQUEST_LOG_FLUSH_SECONDS = 0  # the same; tests of the log switch it on
DATABASE_WATCH = False  # it would look at a database that the run is about to remove
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
