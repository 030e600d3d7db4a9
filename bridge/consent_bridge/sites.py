"""Looking at a site as a browser would, and comparing all code that its pages run with a release's manifest."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

import requests
from urllib3.exceptions import HTTPError

from consent_bridge.errors import BadAnswer, Unreachable, one_line
from consent_bridge.pages import Loaded, PageCode, read_page
from consent_bridge.releases import Manifest, PageKind, Policy, read_policy
from consent_bridge.transport import CONNECT_TIMEOUT, READ_TIMEOUT, Answer, anonymous, checked_base_url

# where a look begins; it goes on along the links of each page
FIRST_PAGES = ("/", "/accounts/login/", "/accounts/signup/", "/consent/", "/vault/", "/vault/setup/", "/developers/")
MOST_PAGES = 200
_MAX_BYTES = 8 * 1024 * 1024
_MOST_REDIRECTS = 5
_WORKER, _WORKER_ASSET = "/service-worker.js", "js/service_worker.js"  # it may answer for every page
_HASHED = re.compile(r"\.[0-9a-f]{12}\.(?:js|css)\Z")
# what a browser sends with a click on a link; a server that tells a checker from a browser by more is not found out
_BROWSER = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.5",
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Sec-Fetch-Dest": "document",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Site": "same-origin",
}


@dataclass(frozen=True)
class Finding:
    """Something that is not the release's, and where."""

    where: str
    what: str


@dataclass
class Look:
    """What one look at a site met. `findings` is empty where all code is the release's."""

    pages: list[str] = field(default_factory=list)
    files: dict[str, str | None] = field(default_factory=dict)  # address → hash of what was served; None where nothing
    findings: list[Finding] = field(default_factory=list)


class Site:
    """One site, looked at signed out, or with the cookies of a session."""

    def __init__(self, url: str, cookies: dict[str, str] | None = None) -> None:
        self.origin = checked_base_url(url)
        self._session = requests.Session()
        self._session.auth = anonymous
        self._session.headers.update(_BROWSER)
        self._session.cookies.update(cookies or {})

    def look(self, manifest: Manifest, most_pages: int = MOST_PAGES) -> Look:
        """Fetch pages from the first ones along their links, and every file that they run or could import."""
        look, waiting, seen = Look(), list(FIRST_PAGES), set(FIRST_PAGES)
        while waiting and len(look.pages) < most_pages:
            path = waiting.pop(0)
            landed, response = self._page(path)
            if landed != path and landed in seen and landed in look.pages:
                continue
            seen.add(landed)
            look.pages.append(landed)
            if not response.headers.get("Content-Type", "").startswith("text/html"):
                continue
            code = read_page(response.body.decode("utf-8", "replace"))
            look.findings += self._of_page(landed, response, code, manifest, look)
            new = [
                link for link in map(self._path, code.links, [landed] * len(code.links)) if link and link not in seen
            ]
            waiting += dict.fromkeys(new)
            seen.update(new)
        for name in manifest.assets:
            if _HASHED.search(name):
                look.findings += self._of_file(manifest.static_url + name, manifest, look)
        look.findings += self._of_worker(manifest)
        look.findings = list(dict.fromkeys(look.findings))
        return look

    def _of_worker(self, manifest: Manifest) -> Iterator[Finding]:
        response = self._get(_WORKER)
        served = hashlib.sha256(response.body).hexdigest()
        if response.status == 200 and served != manifest.assets.get(_WORKER_ASSET):
            yield Finding(_WORKER, "the service worker is not the release's")

    def _of_page(
        self, path: str, response: Answer, code: PageCode, manifest: Manifest, look: Look
    ) -> Iterator[Finding]:
        kind = manifest.kind_of(path)
        for what in _policy_differences(response.headers.get("Content-Security-Policy"), kind.policy):
            yield Finding(path, what)
        for source in code.inline:
            if source not in kind.policy.get("script-src", frozenset()):
                yield Finding(path, "an inline script that is not the release's")
        for what in code.odd:
            yield Finding(path, what)
        for loaded in code.loaded:
            yield from self._of_loaded(path, loaded, kind, manifest, look)

    def _of_loaded(
        self, page: str, loaded: Loaded, kind: PageKind, manifest: Manifest, look: Look
    ) -> Iterator[Finding]:
        what = "a script" if loaded.is_script else "a style sheet"
        url = urljoin(f"{self.origin}{page}", loaded.url)
        if not url.startswith(f"{self.origin}/"):
            yield Finding(page, f"{what} from elsewhere, {one_line(url, 200)}")
            return
        address = url.removeprefix(self.origin)
        wanted = manifest.digest_of(address)
        if wanted is None:
            yield Finding(page, f"{what} that the release does not have, {one_line(address, 200)}")
            return
        if kind.integrity and loaded.integrity != f"sha256-{base64.b64encode(bytes.fromhex(wanted)).decode()}":
            yield Finding(page, f"{what} without the hash that the release has of it, {address}")
        yield from self._of_file(address, manifest, look)

    def _of_file(self, address: str, manifest: Manifest, look: Look) -> Iterator[Finding]:
        if address in look.files:
            return
        response = self._get(address)
        served = hashlib.sha256(response.body).hexdigest() if response.status == 200 else None
        look.files[address] = served
        if served is None:
            yield Finding(address, f"the file is not served (status {response.status})")
        elif served != manifest.digest_of(address):
            yield Finding(address, "the file is not the release's")

    def _page(self, path: str) -> tuple[str, Answer]:
        """The page, and the path at which it was found after redirects inside of this site."""
        for _ in range(_MOST_REDIRECTS):
            response = self._get(path)
            leads = response.headers.get("Location", "").partition("?")[0] if 300 <= response.status < 400 else ""
            onward = self._path(leads, path) if leads else None
            if onward is None:
                return path, response
            path = onward
        return path, response

    def _path(self, link: str, page: str) -> str | None:
        """The path of a link inside of this site; None for another site, and for what asks a question."""
        try:
            url = urljoin(f"{self.origin}{page}", link)
            parts = urlsplit(url)
        except ValueError:
            return None
        return parts.path if url.startswith(f"{self.origin}/") and not parts.query else None

    def _get(self, path: str) -> Answer:
        try:
            with self._session.get(
                f"{self.origin}{path}", timeout=(CONNECT_TIMEOUT, READ_TIMEOUT), allow_redirects=False, stream=True
            ) as response:
                body = bytearray()
                for chunk in response.iter_content(64 * 1024):
                    body += chunk
                    if len(body) > _MAX_BYTES:
                        raise BadAnswer(f"{path} is larger than {_MAX_BYTES} bytes")
                return Answer(response.status_code, response.headers, bytes(body))
        except (requests.RequestException, HTTPError, OSError) as error:
            raise Unreachable(f"GET {path} failed: {type(error).__name__}") from error


def _policy_differences(served: str | None, wanted: Policy) -> Iterator[str]:
    if served is None:
        yield "no policy (Content-Security-Policy)"
        return
    found = read_policy(served)
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            directive = " ".join(sorted(found[name])) if name in found else "missing"
            yield f"another policy than the release's: {name} is {one_line(directive, 200)}"
