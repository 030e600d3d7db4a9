"""What an application says, and what of it cannot be true (pure)."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from common.problems import FieldError, InvalidRequest
from common.text import is_plain
from developers.apps.domains import domain_of

_LOCAL = re.compile(r"http://(localhost|127\.0\.0\.1)(:[1-9]\d{0,4})?/?\Z")
MOST_SCOPES, MOST_ADDRESSES = 12, 10
_LINES = {"name": 80, "legal_name": 160, "jurisdiction": 80, "storage_place": 160, "retention": 160}
_TEXTS = ("use_case", "recipients")
LONGEST_TEXT, LONGEST_REASON = 2000, 280


@dataclass(frozen=True)
class ApplicationFacts:
    """What an applicant says. `scope_reasons` is scope → why; addresses are as `origin_of` and browsers write them."""

    name: str
    legal_name: str
    website: str
    privacy_policy: str
    contact_email: str
    use_case: str = ""
    jurisdiction: str = ""
    recipients: str = ""
    storage_place: str = ""
    retention: str = ""
    logo_digest: str = ""
    scope_reasons: dict[str, str] = field(default_factory=dict)
    origins: list[str] = field(default_factory=list)
    return_addresses: list[str] = field(default_factory=list)


def check_facts(facts: ApplicationFacts) -> None:
    """Raises `InvalidRequest` with every member that does not fit: people are shown these words and links."""
    wrong = [*_wrong_lines(facts), *_wrong_links(facts), *_wrong_scopes(facts), *_wrong_addresses(facts)]
    if wrong:
        raise InvalidRequest(" ".join(f"{one['field']}: {one['message']}" for one in wrong), errors=wrong)


def origin_of(written: str) -> str | None:
    """An https origin as a browser sends it (lower case, no default port, no path); None where it is none."""
    try:
        parts = urlsplit(written.strip())
        port = parts.port
        host = domain_of(f"https://{parts.netloc}")
    except ValueError:
        return None
    if parts.scheme.lower() != "https" or not host or "@" in parts.netloc:
        return None
    if parts.path not in ("", "/") or "?" in written or "#" in written:
        return None
    return f"https://{host}" if port in (None, 443) else f"https://{host}:{port}"


def tried_origin_of(written: str) -> str | None:
    """The same, or an origin on this machine over http, as a test app may have one."""
    local = _LOCAL.match(written.strip().lower())
    return local[0].rstrip("/") if local else origin_of(written)


def is_return_address(written: str, origins: list[str]) -> bool:
    """Whether this is an address on one of the origins, which a browser would read as it is written."""
    rests = [written.removeprefix(origin) for origin in origins if written.startswith(origin)]
    return (
        len(written) <= 2000
        and written.isascii()
        and written.isprintable()
        and any(rest[:1] in ("", "/", "?") and not set(rest) & set("#\\ \"'<>") for rest in rests)
    )


def _error(name: str, message: str) -> FieldError:
    return {"field": name, "code": "invalid", "message": message}


def _wrong_lines(facts: ApplicationFacts) -> list[FieldError]:
    wrong = []
    for name, longest in _LINES.items():
        text = getattr(facts, name)
        optional = name not in ("name", "legal_name")
        if not (optional and not text) and (not is_plain(text) or len(text) > longest):
            wrong.append(_error(name, f"{name} must be one line of plain text, 1 to {longest} characters."))
    for name in _TEXTS:
        lines = getattr(facts, name).splitlines()
        if len(getattr(facts, name)) > LONGEST_TEXT or not all(is_plain(line) for line in lines if line.strip()):
            wrong.append(_error(name, f"{name} must be plain text of at most {LONGEST_TEXT} characters."))
    return wrong


def _wrong_links(facts: ApplicationFacts) -> list[FieldError]:
    return [
        _error(name, f"{name} must be an https link.")
        for name in ("website", "privacy_policy")
        if not getattr(facts, name).startswith("https://") or not domain_of(getattr(facts, name))
    ]


def _wrong_scopes(facts: ApplicationFacts) -> list[FieldError]:
    if len(facts.scope_reasons) > MOST_SCOPES:
        return [_error("scope_reasons", f"An app asks for at most {MOST_SCOPES} kinds of data.")]
    unclear = [why for why in facts.scope_reasons.values() if not is_plain(why) or len(why) > LONGEST_REASON]
    return [_error("scope_reasons", "Say in one line why each kind of data is needed.")] if unclear else []


def _wrong_addresses(facts: ApplicationFacts) -> list[FieldError]:
    wrong = []
    if len(facts.origins) > MOST_ADDRESSES or any(origin_of(origin) != origin for origin in facts.origins):
        wrong.append(
            _error("origins", f"origins are at most {MOST_ADDRESSES} https origins, such as https://a.example.")
        )
    strange = [one for one in facts.return_addresses if not is_return_address(one, facts.origins)]
    if strange or len(facts.return_addresses) > MOST_ADDRESSES:
        wrong.append(_error("return_addresses", "return_addresses lie on one of the origins, without a fragment."))
    return wrong
