"""Somebody with a browser's cookies at a real server: pages and forms over HTTP."""

import html
import re
from typing import Any

import requests

from tests.factories.accounts import PASSWORD
from tests.totp import codes

_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


def secret_shown(page: str) -> str:
    """The secret on the page that sets an authenticator app up."""
    found = re.search(r'id="authenticator_secret">([A-Z2-7]{32})<', page)
    assert found, page
    return found[1]


class Visitor:
    """One browser. `page` asks for a page, `submit` sends the form of one."""

    def __init__(self, site: str) -> None:
        self.site = site
        self.http = requests.Session()
        self.http.trust_env = False

    def page(self, path: str, **options: Any) -> requests.Response:
        return self.http.get(self.site + path, timeout=60, **options)

    def submit(self, path: str, fields: dict[str, Any], *, follow: bool = True) -> requests.Response:
        """With the token that the page at `path` holds; hidden fields are the caller's to name."""
        found = _TOKEN.search(self.page(path).text)
        assert found, f"no form at {path}"
        return self.send(path, {"csrfmiddlewaretoken": html.unescape(found[1]), **fields}, follow=follow)

    def send(self, path: str, fields: dict[str, Any], *, follow: bool = True) -> requests.Response:
        headers = {"Origin": self.site}
        return self.http.post(self.site + path, fields, headers=headers, timeout=60, allow_redirects=follow)

    def sign_in(self, email: str, password: str = PASSWORD, *, secret: str = "") -> requests.Response:
        """The page after the password, or after the code where there is an authenticator app."""
        answer = self.submit("/accounts/login/", {"login": email, "password": password})
        for code in codes(secret):
            answer = self.submit("/accounts/2fa/authenticate/", {"code": code})
            if not answer.url.endswith("/2fa/authenticate/"):
                break
        return answer

    def set_up_totp(self) -> str:
        """An authenticator app for who is signed in; its secret."""
        shown = self.page("/accounts/2fa/totp/activate/").text
        secret, token = secret_shown(shown), _TOKEN.search(shown)
        assert token
        for code in codes(secret):
            fields = {"csrfmiddlewaretoken": token[1], "code": code}
            answer = self.send("/accounts/2fa/totp/activate/", fields)
            if answer.url.endswith("/recovery-codes/"):
                return secret
        raise AssertionError("no code was taken")

    def is_signed_in(self) -> bool:
        return self.page("/vault/keys").status_code == 200
