"""What one address answers each caller: the row of the table, and the kinds of address that answer alike."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.access.callers import PEOPLE, Caller
from tests.access.world import World

Answers = dict[Caller, str]
Body = Callable[[World], Any]


@dataclass(frozen=True)
class Row:
    """One address and method. `names` is the part of the path that names something of person A's, if any."""

    route: str
    method: str
    answers: Answers
    body: Body | None = None
    form: bool = False
    query: Callable[[World], str] | None = None
    names: str = ""


def everybody(status: str) -> Answers:
    return dict.fromkeys(Caller, status)


def _people(owner: str, others: str, strangers: str) -> Answers:
    """Pages and owner addresses: a token lets nobody in there, so its holder is answered what a stranger is."""
    told = dict.fromkeys(Caller, strangers)
    told.update(dict.fromkeys(PEOPLE, others))
    return {**told, Caller.OWNER: owner}


def page(owner: str = "200", others: str = "200", strangers: str = "302 sign-in") -> Answers:
    """A page of the consent app; its session alone opens it."""
    return _people(owner, others, strangers)


def act(owner: str = "302", others: str = "404", strangers: str = "302 sign-in") -> Answers:
    """What a form on a page does. Another person's thing is not there; whoever is signed out signs in first."""
    return _people(owner, others, strangers)


def own(owner: str = "200", others: str = "404", strangers: str = "401") -> Answers:
    """An owner address in JSON."""
    return _people(owner, others, strangers)


def program(*needs: str, app: str = "200", other: str = "404", test: str | None = None) -> Answers:
    """A developers' address: the token decides, then the permission. No session opens it."""
    told = dict.fromkeys(Caller, "401")
    told.update({Caller.APP: app, Caller.OTHER_APP: other, Caller.SUSPENDED: "403"})
    told.update(dict.fromkeys((Caller.TEST_APP, Caller.OTHER_TEST_APP), other if test is None else test))
    for permission in (Caller.DISCOVER, Caller.REQUEST, Caller.READ):
        told[permission] = app if permission.name.lower() in needs else "403"
    return told


def sandbox(app: str = "200", other: str = "404") -> Answers:
    """A sandbox person's address, or that of all of them: the token of a test app opens it, of a live one never."""
    told = dict.fromkeys(Caller, "401")
    live = (Caller.APP, Caller.OTHER_APP, Caller.SUSPENDED, Caller.DISCOVER, Caller.REQUEST, Caller.READ)
    return {**told, **dict.fromkeys(live, "403"), Caller.TEST_APP: app, Caller.OTHER_TEST_APP: other}


def manage(owner: str = "200", others: str = "404", *, reads: bool = False) -> Answers:
    """A management address: the personal token decides, then its permission, then what its person is to the app."""
    read_alone = owner if reads else "403"
    told = {Caller.MANAGER: owner, Caller.MANAGER_READ: read_alone, Caller.OTHER_MANAGER: others}
    return {**dict.fromkeys(Caller, "401"), **told}


def with_a_factor(answers: Answers, answer: str) -> Answers:
    """What differs for whoever has an authenticator app and showed it just now."""
    return {**answers, Caller.STAFF_2FA: answer}


def staff(answer: str) -> Answers:
    """The admin: the second factor decides. Everybody else is led to its sign-in, which says what is missing."""
    told = dict.fromkeys(Caller, "302 sign-in")
    return {**told, Caller.STAFF_2FA: answer}


def signed_out_only(status: str = "200") -> Answers:
    """The pages of signing in and up: whoever is signed in goes on."""
    told = dict.fromkeys(Caller, status)
    return {**told, **dict.fromkeys(PEOPLE, "302")}


def agent(owner: str, others: str = "403", strangers: str = "403") -> Answers:
    """An agent's address: a consent to the purpose decides; a developer token means nothing there."""
    return _people(owner, others, strangers)


def nothing(world: World) -> dict[str, Any]:
    return {}
