"""The reference without this project around it: Django with nothing in between, on the same database.

Beside the reference of `bench.urls`, which pays for the same middleware as every other address does.
"""

import os

import environ
from django.conf import settings
from django.core.wsgi import get_wsgi_application

_database = dict(environ.Env.db_url_config(os.environ["DATABASE_URL"]))
_database["OPTIONS"] = {**_database.get("OPTIONS", {}), "pool": {"min_size": 1, "max_size": 20}}
settings.configure(
    SECRET_KEY="not used",
    ALLOWED_HOSTS=["*"],
    DATABASES={"default": _database},
    ROOT_URLCONF="bench.bare_urls",
    MIDDLEWARE=[],
    LOGGING_CONFIG=None,
)
application = get_wsgi_application()
