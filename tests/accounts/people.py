"""People at browsers, each somewhere in the world, at real servers behind a proxy of ours."""

import re

import requests

from tests.factories.accounts import PASSWORD

WRONG = "not-the-password-of-tests"
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class Browser:
    """Keeps cookies. `there` is the address that the proxy saw; what the caller claims before it may be forged."""

    def __init__(self, there: str, *, claims: str = "") -> None:
        self.session = requests.Session()
        forwarded = f"{claims}, {there}" if claims else there
        self.session.headers.update({"X-Forwarded-For": forwarded, "Accept": "text/html"})

    def submit(self, site: str, path: str, fields: dict[str, str]) -> requests.Response:
        """Fill in the form at `path` and send it; the answer itself, not where it leads."""
        page = self.session.get(f"{site}{path}")
        token = _TOKEN.search(page.text)
        assert token is not None, f"{path}: {page.status_code}"
        form = {"csrfmiddlewaretoken": token[1], **fields}
        return self.session.post(f"{site}{path}", form, headers={"Referer": f"{site}{path}"}, allow_redirects=False)

    def sign_in(self, site: str, email: str, password: str = PASSWORD) -> requests.Response:
        """302 where it worked, 200 where the password is wrong, 429 where it was not even looked at."""
        return self.submit(site, "/accounts/login/", {"login": email, "password": password})

    def sign_out(self) -> None:
        """Forget the session and nothing else."""
        for cookie in list(self.session.cookies):
            if cookie.name.endswith("sessionid"):
                self.session.cookies.clear(cookie.domain, cookie.path, cookie.name)
