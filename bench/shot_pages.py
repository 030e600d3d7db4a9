"""The pictures of `./run shots`: every page of the register, then what it cannot know, the states of some of them."""

import re
from typing import NamedTuple

from bench import shot_steps as steps
from bench.shot_stage import Scene
from bench.shot_steps import Prepare, Shot
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
    State(_REQUEST, "unknown", {"request_id": "req_nobody"}, status=404),
    State(_REQUEST, "sheet-locked", whole=False),
    State(_REQUEST, "unverified-sheet-locked", _UNVERIFIED, whole=False),
    State(_REQUEST, "unlocked", prepare=steps.unlock),
    State(_REQUEST, "sheet", prepare=steps.open_again, whole=False),
    State(_REQUEST, "unverified-sheet", _UNVERIFIED, prepare=steps.open_again, whole=False),
    State(_REQUEST, "unverified", _UNVERIFIED, prepare=steps.unfold),
    *(State(_REQUEST, name, {"request_id": name}, prepare=steps.unlock) for name in (
        "narrow", "renewal", "restricted",
    )),
    *(State(_REQUEST, name, {"request_id": name}) for name in ("approved", "denied")),
    State("consent/history/", "verified", prepare=steps.verify),
    State("vault/", "unlocked", prepare=steps.unlock),
    State("vault/data/<str:domain>/", "unlocked", prepare=steps.unlock),
    State("vault/import/", "unlocked", prepare=steps.unlock, query="analysis={analysis_id}"),
    State("profile/", "progress", prepare=steps.start_analysis),
    State("profile/", "wrong", prepare=steps.wrong_form),
    State("profile/", "asked", prepare=steps.be_asked),
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
