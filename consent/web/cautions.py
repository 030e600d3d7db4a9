"""What a person should look at before deciding: each in a word or two for the folded line, and in full below it."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.formats import date_format
from django.utils.translation import gettext

from consent.requests.models import ConsentRequest
from consent.web.pressure import borrowed_name, presses
from developers.models import AppStatus
from pkm.registry.models import SensitivityTier

_GRAVITY = ("danger", "warn", "info")


@dataclass(frozen=True)
class Caution:
    """`tone` is that of a notice: danger, warn or info. `label` goes on in a line; a title begins it with a capital."""

    tone: str
    label: str
    text: str


def cautions_of(
    asked: ConsentRequest,
    *,
    first_time: bool,
    new_key: bool,
    beyond_registered: bool,
    tier: str,
    unvouched: bool,
    replaced_at: datetime | None = None,
) -> list[Caution]:
    """The gravest first. `replaced_at`: when the app made the request that it took back and that this one replaces."""
    found = [
        caution_about_wording(asked),
        _of_data(tier),
        *_of_app(asked, first_time=first_time),
        _of_key(asked, tier) if unvouched else None,
        *_of_request(asked, new_key, beyond_registered),
        _of_replaced(asked, replaced_at) if replaced_at else None,
    ]
    return sorted(filter(None, found), key=lambda caution: _GRAVITY.index(caution.tone))


def caution_about_wording(asked: ConsentRequest) -> Caution | None:
    """What the app's own words do to a hurried reader; nothing optional comes ticked then."""
    words = " ".join(filter(None, [asked.purpose, asked.binding_message, asked.app_name]))
    own = f"{asked.app_name} {asked.app.legal_name}" if asked.app.verified else ""
    pressed, name = presses(words), borrowed_name(words, own=own)
    if not (pressed or name):
        return None
    if pressed and name:
        label = gettext("pressure, and %(name)s") % {"name": name}
    else:
        label = gettext("pressure") if pressed else name
    if not asked.app.verified:
        text = gettext(
            "Nobody checked who this is. Nothing optional is ticked for you. If you did not expect this, deny."
        )
        return Caution("danger", label, text)
    text = gettext(
        "We checked who %(app)s is, but not what it says. Nothing optional is ticked for you. Take your time: denying "
        "costs you nothing."
    )
    return Caution("warn", label, text % {"app": asked.app_name})


def _of_data(tier: str) -> Caution | None:
    if tier == SensitivityTier.RESTRICTED:
        text = gettext(
            "This is among the most private things you keep here. Share it only with someone you would tell in person."
        )
        return Caution("danger", gettext("restricted data"), text)
    if tier == SensitivityTier.CONFIDENTIAL:
        text = gettext(
            "This tells who you are, where you live or how to reach you. Tick only what is needed for the purpose."
        )
        return Caution("warn", gettext("confidential data"), text)
    return None


def _of_app(asked: ConsentRequest, *, first_time: bool) -> list[Caution]:
    app = {"app": asked.app_name, "legal": asked.app.legal_name}
    found = []
    if asked.app.status != AppStatus.ACTIVE:
        text = gettext(
            "Our staff suspended %(app)s. Nothing can be shared with it now; you can deny, or leave the request until "
            "it ends."
        )
        found.append(Caution("danger", gettext("suspended by our staff"), text % app))
    if not asked.app.verified:
        text = gettext("Nobody has checked who is behind %(app)s. Approve only if you know and expect this request.")
        found.append(Caution("warn", gettext("nobody checked who this is"), text % app))
    if first_time:
        text = (
            gettext("You have never shared anything with %(app)s before. We checked that it belongs to %(legal)s.")
            if asked.app.verified
            else gettext("You have never shared anything with %(app)s before.")
        )
        found.append(Caution("info", gettext("first time it asks"), text % app))
    return found


def _of_key(asked: ConsentRequest, tier: str) -> Caution:
    is_restricted = tier == SensitivityTier.RESTRICTED
    text = gettext(
        "What you share is sealed to a key that %(app)s neither publishes on a domain of its own nor registered here. "
        "Whoever asks may be somebody else in its name."
    )
    if is_restricted:
        text += " " + gettext("So this cannot be approved.")
    label, app = gettext("nobody vouches for its key"), {"app": asked.app_name}
    return Caution("danger" if is_restricted else "warn", label, text % app)


def _of_replaced(asked: ConsentRequest, at: datetime) -> Caution:
    text = gettext(
        "%(app)s asked for the same on %(day)s and took that back. This is the newer request; nothing of the older one "
        "counts any more."
    )
    return Caution("info", gettext("replaces an older request"), text % {"app": asked.app_name, "day": date_format(at)})


def _of_request(asked: ConsentRequest, new_key: bool, beyond_registered: bool) -> list[Caution]:
    app = {"app": asked.app_name}
    found = []
    if beyond_registered:
        text = gettext(
            "This is more than %(app)s said it would ask for when it was registered here. So nothing is ticked that it "
            "does not require."
        )
        found.append(Caution("warn", gettext("wants more than it told us"), text % app))
    if new_key:
        text = gettext(
            "%(app)s uses a key that it has not used with you before. That can be a new device or server of theirs. "
            "If you did not expect it, ask them, or deny."
        )
        found.append(Caution("warn", gettext("its key is new"), text % app))
    return found
