"""A picture of every page, on phone and desk, light and dark, under var/shots/.

    ./run shots [words …]      only pictures whose name holds one of the words, `vault` or `390-light`

Runs a service of its own with a database of its own. The pages are those of `tests/addresses.py`; `STATES`
adds the states that a page has besides. Two runs give the same pictures: the clock of the scene begins at one moment,
and what is made at random or takes its time is written over with what never changes. Where the worker decides the
order, as of looks among the events of a history, two runs may differ still.
"""

import contextlib
import re
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, BrowserContext, Error, Page, Request, TimeoutError

from bench import shot_steps as steps
from bench import staging
from bench.shot_clock import BEGINS
from bench.shot_stage import Scene, stage
from bench.shot_steps import Prepare, Shot, wrong_form
from deploy.local.place import VAR
from tests.addresses import ADDRESSES, Caller, pages, path_of

_READERS = {Caller.ANONYMOUS: "nobody", Caller.OWNER: "owner", Caller.STAFF_2FA: "staff"}
_AT = {address.route: address for address in ADDRESSES if address.method == "GET"}


class State(NamedTuple):
    """How else a page of the register looks: with other things named, to somebody else, or once something is done.

    `names` are, for the parts of the route, those of `Scene.names`, or words that nothing has.
    """

    route: str
    name: str
    names: dict[str, str] = {}
    who: str = ""
    prepare: Prepare | None = None
    query: str = ""
    whole: bool = True
    status: int = 200


_TOO_LONG = "api/docs/"  # on a phone, for one picture
_REQUEST, _APP, _SIGN_UP = "consent/requests/<str:request_id>/", "developers/apps/<str:app_id>/", "accounts/signup/"
_UNVERIFIED, _LIVE, _EMPTY = {"request_id": "unverified"}, {"app_id": "app"}, {"app_id": "empty_app"}
_APPLICATION, _INVITATION = "developers/applications/<int:pk>/", "developers/invitations/<str:secret>/"
_REPORTS, _APPS = "admin/consent/appreport/", "admin/developers/app/"

STATES = [  # what is to be seen of a locked vault stands before what unlocks it
    State(_SIGN_UP + "passkey/", "create", prepare=steps.give_address),
    State(_SIGN_UP, "recovery", who="guest-1", prepare=steps.sign_up),
    State(_SIGN_UP, "first", who="guest-2", prepare=steps.confirm_code),
    State(_SIGN_UP, "preview", who="guest-3", prepare=steps.enter_first),
    State(_SIGN_UP, "code", who="guest-4", prepare=steps.ask_code),
    State("vault/setup/", "", who="newcomer"),
    *(State(f"{page}/", "empty", who="newcomer") for page in (
        "consent", "consent/inbox", "consent/apps", "consent/pause", "consent/history", "profile",
        "profile/consent/given", "account/public-profile", "developers", "developers/management-tokens",
    )),
    State("connect/<str:connection_id>/", "signed-in", who="owner"),
    State(_REQUEST, "unknown", {"request_id": "req_nobody"}, status=404),
    State(_REQUEST, "sheet-locked", whole=False),
    State(_REQUEST, "unverified-sheet-locked", _UNVERIFIED, whole=False),
    State(_REQUEST, "unlocked", prepare=steps.unlock),
    State(_REQUEST, "sheet", prepare=steps.open_again, whole=False),
    State(_REQUEST, "unverified-sheet", _UNVERIFIED, prepare=steps.open_again, whole=False),
    State(_REQUEST, "unverified", _UNVERIFIED, prepare=steps.unfold),
    *(State(_REQUEST, name, {"request_id": name}, prepare=steps.unlock) for name in (
        "less", "narrow", "renewal", "restricted",
    )),
    *(State(_REQUEST, name, {"request_id": name}) for name in ("approved", "denied")),
    State("consent/history/", "verified", prepare=steps.verify),
    State("vault/", "unlocked", prepare=steps.unlock),
    State("vault/data/<str:domain>/", "unlocked", prepare=steps.unlock),
    State("vault/import/", "unlocked", prepare=steps.unlock, query="analysis={analysis_id}"),
    State("profile/", "progress", prepare=steps.start_analysis),
    State("profile/", "wrong", prepare=steps.wrong_form),
    State("profile/", "asked", prepare=steps.reach_question),
    State("profile/", "result", prepare=steps.finish_analysis),
    State("profile/", "readings", prepare=steps.see_readings),
    State("profile/look-up/", "found", prepare=steps.look_up),
    State("profile/consent/", "several", query="purposes=profile,enrichment,messaging"),
    State("profile/consent/", "unfit", query="purposes=everything", status=400),
    State(_APP, "live", _LIVE),
    State(f"{_APP}settings/", "live", _LIVE),
    State(f"{_APP}try/", "live", _LIVE),
    State(f"{_APP}try/", "asking", query="operation=requestConsent"),
    State(f"{_APP}try/", "answered", prepare=steps.call_operation, query="operation=getUserScopes"),
    State(f"{_APP}try/", "receipt", query="operation=getReceipt"),
    *(State(f"{_APP}{page}", "empty", _EMPTY, "newcomer") for page in (
        "", "tokens/", "sandbox/", "webhooks/", "log/", "keys/",
    )),
    State(f"{_APP}tokens/", "made", _EMPTY, "newcomer", steps.make_token),
    State(_APPLICATION, "sent-back", {"pk": "sent_back"}),
    State(_INVITATION, "own", who="newcomer"),
    State(_INVITATION, "ended", {"secret": "inv_nobody"}, status=404),
    State("admin/pkm/scopeentry/", "withdraw", prepare=steps.ask_staff("withdraw"), query="q=attr.technology.use"),
    State(_APPS, "suspend", prepare=steps.ask_staff("suspend", "Nordbank Security")),
    State(_REPORTS, "move", prepare=steps.ask_staff("take_in_hand")),
]  # fmt: skip


def every_shot(scene: Scene) -> list[Shot]:
    """A page of the admin about a record of which the scene has none is left out."""
    from consent.docs.pages import NAMES

    as_they_come = [State(page.route, "", query=page.query, whole=page.route != _TOO_LONG) for page in pages()]
    documents = [State("docs/<str:document>/", name, {"document": name}) for name in NAMES]
    return list(filter(None, (_shot(scene, state) for state in [*as_they_come, *documents, *STATES])))


def _shot(scene: Scene, state: State) -> Shot | None:
    address = _AT[state.route]
    who = state.who or _READERS[address.seen_by or Caller.ANONYMOUS]
    if address.room == "developers" and who == "owner":
        who = "developer"
    names = scene.names_at(state.route) | {part: scene.names.get(name, name) for part, name in state.names.items()}
    path = path_of(state.route, names) + (f"?{state.query.format(**names)}" if state.query else "")
    name = "-".join(filter(None, [*re.findall(r"\w+", re.sub(r"<\w+:", "", state.route)), state.name])) or "home"
    return None if "/None/" in path else Shot(name, path, who, state.prepare, state.whole, state.status)


SIZES = {"390": (390, 844), "1280": (1280, 900)}
THEMES = ("light", "dark")
LOOKED_AT = BEGINS + timedelta(minutes=90)  # by the browser's clock, so that everything in the scene is an hour old
# Words of random letters keep their first part, the ports and minutes of a run are written as those of another.
SAME = r"""() => {
  const letters = "4f7kq2mz5nt8vb3xw6hr9jc", documents = /^\/(api\/)?docs/.test(location.pathname);
  const same = (text) => text
    .replace(/(?<=(localhost|\.1):)\d+/g, "8000")
    .replace(/\b\d{1,2}(:\d\d)?(?= [ap]\.m\.)/g, "9:30")
    .replace(/(?<!\d)(\d\d:)\d\d(:\d\d)?(?!\d)/g, (all, hour, second) => `${hour}30${second ? ":15" : ""}`)
    .replace(/(?<=group |"(durationMs|response_time_ms)": )\d+|\d+(?=\s(seconds?|minutes?) ago)/g, "7")
    .replace(documents ? /(?!)/ : /\d[\d.,]*(?=\s(ms|s)\b)/g, "12")
    .replace(/(?<![\w-])(?!\d{4}-\d\d-)[\w-]{8,}(?![\w@-])/g, (word) => {
      const first = /^([a-z]+_)*/.exec(word)[0], rest = word.slice(first.length);
      const made = [...rest].map((_, at) => letters[at % letters.length]).join("");
      return !documents && /\d.*[a-zA-Z]|[a-zA-Z].*\d|[a-z].*[A-Z].*[A-Z]/.test(rest) ? first + made : word;
    });
  for (const cell of document.querySelectorAll("[data-label=Milliseconds]")) cell.textContent = "12";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) if (same(node.data) !== node.data) node.data = same(node.data);
  for (const field of document.querySelectorAll("input[type=text], textarea")) field.value = same(field.value);
}"""


def main() -> int:
    folder, words = VAR / "shots", sys.argv[1:]
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        scene = stack.enter_context(stage())
        shots, wrong, taken = every_shot(scene), list[str](), 0  # asks the database, which Playwright forbids
        browser = stack.enter_context(staging.chromium())
        for screen in [Screen(size, theme, folder) for size in SIZES for theme in THEMES]:
            wanted = [shot for shot in shots if not words or any(word in screen.picture(shot).name for word in words)]
            wrong += look(browser, scene, wanted, screen)
            taken += len(wanted)
    print(f"{taken} pictures in {folder}")
    print("\n".join(wrong) or "Every page answered as it should, and no page was wider than its screen.")
    return 1 if wrong else 0


class Screen(NamedTuple):
    """What it is looked at on, and where the pictures go."""

    size: str
    theme: str
    folder: Path

    def picture(self, shot: Shot) -> Path:
        return self.folder / f"{shot.name}-{self.size}-{self.theme}.png"


def look(browser: Browser, scene: Scene, shots: list[Shot], screen: Screen) -> list[str]:
    """Take the pictures of one screen and theme; what was wrong on the way."""
    width, height = SIZES[screen.size]
    wrong, contexts = [], dict[str, BrowserContext]()
    for shot in shots:
        if shot.who not in contexts:
            context = browser.new_context(
                base_url=scene.address, viewport={"width": width, "height": height}, locale="en-GB",
                timezone_id="Europe/Berlin", color_scheme=screen.theme, reduced_motion="reduce",
                service_workers="block",
                device_scale_factor=2 if width < 500 else 1,
            )  # fmt: skip
            context.set_default_timeout(15_000)
            context.clock.set_fixed_time(LOOKED_AT)
            contexts[shot.who] = context
            if shot.who in scene.sample:
                sign_in(context, scene.sample[shot.who])
        found = take(contexts[shot.who], scene, shot, screen)
        wrong += [f"{screen.picture(shot).stem}: {line}" for line in found]
    for context in contexts.values():
        context.close()
    return wrong


def sign_in(context: BrowserContext, person: dict[str, str]) -> None:
    from tests.system.browser.people import enter_code  # needs the settings, which the stage makes

    page = context.new_page()
    staging.sign_in(page, person)
    if "totp_secret" in person:
        try:
            enter_code(page, person["totp_secret"])
        except AssertionError:  # a code is taken once, and another screen may have been quick
            page.wait_for_timeout(1000 * (30 - time.time() % 30))
            enter_code(page, person["totp_secret"])
    page.close()


def settle(page: Page, under_way: set[Request]) -> list[str]:
    """Wait for an idle network; what never ended. Of a long page on a busy machine Playwright may miss that all did."""
    try:
        page.wait_for_load_state("networkidle", timeout=10_000)
    except TimeoutError:
        return [f"did not end: {request.url}" for request in under_way]
    return []


def take(context: BrowserContext, scene: Scene, shot: Shot, screen: Screen) -> list[str]:
    """One picture, of the whole page; what was wrong with it."""
    page, complaints = context.new_page(), list[str]()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    under_way = set[Request]()
    page.on("request", lambda request: under_way.add(request))
    page.on("requestfinished", lambda request: under_way.discard(request))
    page.on("requestfailed", lambda request: under_way.discard(request))
    try:
        answer = page.goto(shot.path)
        complaints += settle(page, under_way)
        if shot.prepare is not None:
            shot.prepare(page, scene)
            complaints += settle(page, under_way)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        page.evaluate(SAME)
        page.screenshot(
            path=screen.picture(shot), full_page=shot.whole,
            mask=[page.locator("img[src*='sharing-id']"), page.locator("#recovery-code")], mask_color="#808080",
        )  # fmt: skip
        status = answer.status if answer else 0
        if status != shot.status:
            complaints.append(f"answered {status}")
        elif status != 200 or shot.prepare is wrong_form:
            complaints = [line for line in complaints if "the server responded with a status of 4" not in line]
        if wide > 0:
            complaints.append(f"{wide} pixels wider than the screen")
    except Error as error:  # the other pictures are wanted all the same
        complaints.append(f"no picture: {error}")
    page.close()
    return complaints
