"""Who is answered what, at every address there is, and what is true of every answer."""

import re
from collections import Counter
from itertools import groupby

import pytest

from tests.access.following import Followed, faults_of_page
from tests.access.invariants import EMAIL_LABEL, email_labels, faults, in_short, misnamed, traces, undocumented
from tests.access.routes import every_route
from tests.access.sending import Answer
from tests.access.walk import Walk, all_well, every_address, parts, welcome
from tests.access.world import ABSENT, CANARY
from tests.addresses import ADDRESSES, TOKENS, Address, Caller, pages
from tests.config.wanted_headers import lacking

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_READERS = (Caller.ANONYMOUS, Caller.OWNER, Caller.STAFF_2FA)


def test_every_route_is_in_the_register_and_nothing_else() -> None:
    assert {address.route for address in ADDRESSES} == set(every_route())


def test_no_address_is_there_twice() -> None:
    assert [name for name, count in Counter(address.name for address in ADDRESSES).items() if count > 1] == []


@every_address
def test_every_caller_is_answered_as_the_register_says(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        seen: set[int] = set()
        for caller in _callers(address):
            answer, written = walk.ask_and_note(address, caller)
            wrong = faults(walk, address, caller, answer) + traces(address, written, answer)
            wrong += misnamed(answer)
            if answer.status not in seen:
                wrong += undocumented(address, answer)
                seen.add(answer.status)
            if in_short(answer) != address.answers[caller]:
                wrong.append(f"{in_short(answer)}, where {address.answers[caller]} is registered")
            if wrong:
                found[f"{address.name} as {caller.value}"] = wrong

    all_well(found)


def _callers(address: Address) -> list[Caller]:
    """Everybody; where no token opens anything, a token of each kind stands for all."""
    means_nothing = all(address.answers[token] == address.answers[Caller.ANONYMOUS] for token in TOKENS)
    tokens = (Caller.APP, Caller.TEST_APP, Caller.MANAGER) if means_nothing else TOKENS
    return [caller for caller in Caller if caller not in TOKENS or caller in tokens]


# staff's pages about one record differ in their fields alone, and in none of their links
_LEFT_OUT = re.compile(r"admin/\w+/\w+/(add/|<path:object_id>/)")


@pytest.mark.parametrize("addresses", parts((page for page in pages() if not _LEFT_OUT.match(page.route)), most=3))
def test_links_of_pages(addresses: list[Address], walk: Walk, followed: Followed) -> None:
    found: dict[str, list[str]] = {}
    for address in addresses:
        for reader in _READERS:
            page = walk.path(address)
            answer = followed.at(page, reader)
            if answer.status == 200 and answer.media_type == "text/html":
                faults = faults_of_page(followed, page, answer, reader)
                found |= {f"{page} as {reader.value}": faults} if faults else {}

    all_well(found)


def test_what_the_walk_looks_for_is_found_where_it_may_be(walk: Walk) -> None:
    """Or the search for it would prove nothing."""
    by_name = {address.name: address for address in ADDRESSES}
    people = walk.ask(by_name["GET /admin/accounts/user/"], Caller.STAFF_2FA).body
    own = walk.ask(by_name["GET /accounts/email/"], Caller.OWNER).body
    sign_up = walk.ask(by_name["GET /accounts/signup/"], Caller.ANONYMOUS)

    assert CANARY.encode() in people
    assert EMAIL_LABEL in list(email_labels(sign_up))
    assert walk.world.owner.email.encode() in people
    assert walk.world.owner.email.encode() in own
    assert len(walk.secrets) >= 15


def _route(address: Address) -> str:
    return address.route


def _owned(address: Address) -> list[str]:
    """The parts of a route that name something of somebody's."""
    return [name for name in re.findall(r"<(?:\w+:)?(\w+)>", address.route) if name in _OWNED]


_OWNED = {
    "activation_id", "analysis_id", "app_id", "consent_id", "delivery_id", "delivery_pk", "destination_id",
    "endpoint_id", "endpoint_pk", "grant_id", "invitation_pk", "item_id", "link_id", "member_id", "number_pk", "pk",
    "prefix", "receipt_id", "request_id", "user_id", "wrapper_id",
}  # fmt: skip


def _outsider(address: Address) -> Caller:
    """Who may call this address as person A or app A may, and has no part in what it names."""
    if address.route.startswith("api/v1/manage/"):
        return Caller.OTHER_MANAGER
    if address.answers[Caller.ANONYMOUS] != address.answers[Caller.OWNER]:
        return Caller.STRANGER
    return Caller.OTHER_TEST_APP if address.answers[Caller.APP] == "403" else Caller.OTHER_APP


@pytest.mark.parametrize("addresses", parts(address for address in ADDRESSES if _owned(address)))
def test_what_is_anothers_and_what_is_not_there_are_the_same_bytes(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        caller = _outsider(address)
        if address.answers[caller][0] == "2":
            continue  # an app may look at anybody
        for name in _owned(address):
            there = walk.ids(address)[name]
            absent = str(int(there) + 1) if there.isdecimal() else f"{there[:4]}{ABSENT}"
            theirs = _lines_of(walk.ask(address, caller), there)
            nobodys = _lines_of(walk.ask(address, caller, walk.path(address, **{name: absent})), absent)
            if theirs != nobodys:
                found[f"{address.name}, {name}"] = [
                    f"{one} | {other}" for one, other in zip(theirs, nobodys, strict=False) if one != other
                ]

    all_well(found)


_INSIDE_AN_APP = [address for address in ADDRESSES if "app_id" in _owned(address) and len(_owned(address)) > 1]


@pytest.mark.parametrize("addresses", parts(_INSIDE_AN_APP))
def test_what_is_anothers_is_not_there_in_ones_own_app_either(addresses: list[Address], walk: Walk) -> None:
    """Whoever manages an app of their own names it, and beside it what is of another."""
    found = {}
    for address in addresses:
        world, caller = walk.world, _outsider(address)
        own = world.strangers_test_app_id if "/sandbox/" in address.route else world.strangers_app_id
        answer, written = walk.ask_and_note(address, caller, path=walk.path(address, app_id=own))
        wrong = faults(walk, address, caller, answer) + traces(address, written, answer)
        refused = {"404", address.answers[welcome(address)]} & {
            "404",
            "400",
        }  # 400: what the register sends fits nobody
        if wrong or in_short(answer) not in refused:
            found[address.name] = [in_short(answer), *wrong]

    all_well(found)


def _lines_of(answer: Answer, name: str) -> list[str]:
    """All that the caller gets, but for what is new with every answer and for the ID, which they gave themselves."""
    trace = answer.headers["X-Request-Id"]
    headers = [line.replace(trace, "TRACE").replace(name, "ID") for line in answer.lines]
    # one less each time, and a second less where one passed meanwhile
    headers = [re.sub(r'("management-calls";r=)\d+(;t=)\d+', r"\1LEFT\2SECONDS", line) for line in headers]
    headers = [re.sub(r"(Set-Cookie: +\w+=|Content-Length: ).*", r"\1", line) for line in headers]
    text = re.sub(r'name="page_of" value="[^"]*"', "PAGE", answer.body.decode())
    text = re.sub(r"\b[A-Za-z0-9]{64}\b", "CSRF", text.replace(trace, "TRACE").replace(name, "ID"))
    return [str(answer.status), *headers, *text.splitlines()]


_ROUTES = [next(several) for _, several in groupby(sorted(ADDRESSES, key=_route), key=_route)]
_ELSEWHERE = ("admin/", "accounts/")  # Django's and allauth's views take PUT for POST, and look at no other


@pytest.mark.parametrize("addresses", parts(_ROUTES))
def test_a_method_that_is_not_registered_is_refused(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        registered = {one.method for one in ADDRESSES if one.route == address.route}
        tried = ("GET", "POST") if address.route.startswith(_ELSEWHERE) else METHODS
        for method in tried if address.room != "admin" else ():
            if method in registered:
                continue
            caller = welcome(address)
            answer = walk.ask(address, caller, method=method, raw=b"")
            wrong = faults(walk, address, caller, answer)
            is_there = answer.status != 404 or not address.route.startswith(_ELSEWHERE)
            if is_there and (answer.status != 405 or not answer.headers.get("Allow")):
                wrong.append(f"{in_short(answer)}, where 405 with Allow is wanted")
            if wrong:
                found[f"{method} /{address.route} as {caller.value}"] = wrong

    all_well(found)


@pytest.mark.parametrize("addresses", parts(address for address in _ROUTES if not address.route.startswith(_ELSEWHERE)))
def test_what_no_address_is_for_has_its_headers_too(addresses: list[Address], walk: Walk) -> None:
    found = {}
    for address in addresses:
        for method in ("HEAD", "OPTIONS", "TRACE") if address.speaks_json else ("OPTIONS", "TRACE"):
            answer = walk.ask(address, welcome(address), method=method, raw=b"")
            wrong = lacking(f"/{address.route}", answer.status, answer.headers, https=False)
            if answer.status >= 500 or (method == "TRACE" and answer.status < 400):
                wrong.append(in_short(answer))
            if wrong:
                found[f"{method} /{address.route}"] = wrong

    all_well(found)
