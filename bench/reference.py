"""The smallest view that there can be: one indexed SELECT, and its answer."""

from django.db import connection
from django.http import HttpRequest, HttpResponse


def reference(request: HttpRequest, user_id: str) -> HttpResponse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT public_id FROM users WHERE public_id = %s", [user_id])
        (found,) = cursor.fetchone()
    body = b'{"user_id":"%b"}' % found.encode()
    return HttpResponse(body, content_type="application/json", headers={"Content-Length": str(len(body))})
