"""django-oauth-toolkit on PostgreSQL, with one address: introspection. Runs in an environment of its own.

`python toolkit.py TOKENS`, with DATABASE_URL, makes the tables and tokens and prints {"caller": token, "tokens": […]};
`toolkit:application` serves. The caller is a resource server with a token of its own for the scope `introspection`,
which the package reads faster than a client's hashed secret.
"""

import json
import os
import sys
from datetime import timedelta
from secrets import token_urlsafe
from urllib.parse import urlsplit

from django.conf import settings

_at = urlsplit(os.environ["DATABASE_URL"])
if not settings.configured:  # as where this file is also the table of addresses of `__main__`
    settings.configure(
        SECRET_KEY="not used",
        ALLOWED_HOSTS=["*"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": _at.path[1:],
                "USER": _at.username or "",
                "PASSWORD": _at.password or "",
                "HOST": _at.hostname or "",
                "PORT": _at.port or "",
                "OPTIONS": {"pool": {"min_size": 1, "max_size": 20}},
            }
        },
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider"],
        MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # which says how long an answer is
        ROOT_URLCONF="toolkit",
        OAUTH2_PROVIDER={"SCOPES": {"read": "Read", "introspection": "Look at tokens"}},
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        LOGGING_CONFIG=None,
    )

from django.core.wsgi import get_wsgi_application  # noqa: E402  # after the settings

application = get_wsgi_application()

from django.urls import path  # noqa: E402
from oauth2_provider.views import IntrospectTokenView  # noqa: E402

urlpatterns = [path("introspect/", IntrospectTokenView.as_view())]


def main() -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone
    from oauth2_provider.models import AccessToken, Application

    call_command("migrate", verbosity=0)
    user = User.objects.create(username="bench")
    app = Application.objects.create(
        name="bench", client_type="confidential", authorization_grant_type="client-credentials", user=user
    )
    until = timezone.now() + timedelta(days=1)

    def token(scope: str) -> str:
        made = token_urlsafe(32)
        AccessToken.objects.create(user=user, application=app, token=made, expires=until, scope=scope)
        return made

    result = {"caller": token("introspection"), "tokens": [token("read") for _ in range(int(sys.argv[1]))]}
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main()
