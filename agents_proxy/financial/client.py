"""The calls to the financial aggregator (specification 4.4), server to server, each bounded in time and size.

Tokens and what the aggregator says in its failures stay here: neither reaches a log, an exception or a caller. A call
is sent once; what may be repeated is for the caller to know.
"""

import logging
from typing import Any, TypeVar

import orjson
from django.conf import settings
from pydantic import ValidationError

from agents_proxy.financial import errors, shapes
from agents_proxy.signing import origin_of
from common import addresses
from common.json_bodies import strict_json
from common.outbound.client import Answer, Client
from common.outbound.failures import ExchangeFailed, InvalidAnswer, TimedOut
from common.problems import InvalidRequest

PAGE = 250  # transactions
_LIMIT = 4 * 1024 * 1024  # bytes of an answer
_client = Client(may_reach=addresses.is_host, keeps=True)
_log = logging.getLogger(__name__)
_Shape = TypeVar("_Shape", bound=shapes.Shape)
# of its hosted page, as the description of /link/token/create lists them
_LANGUAGES = frozenset(
    ["da", "de", "en", "es", "et", "fr", "hi", "it", "lt", "lv", "nl", "no", "pl", "pt", "ro", "sv", "vi"]
)

# the aggregator's `error_code`, or its `error_type` where every code of that type means the same
_ERRORS: dict[str, type[errors.AggregatorProblem]] = {
    "TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION": errors.ChangedMeanwhile,
    "PRODUCT_NOT_READY": errors.NotReady,
    "ITEM_LOGIN_REQUIRED": errors.LoginRequired,
    "ITEM_LOCKED": errors.LoginRequired,
    "ACCESS_NOT_GRANTED": errors.LoginRequired,
    "PENDING_EXPIRATION": errors.LoginRequired,
    "ITEM_NOT_FOUND": errors.ItemRevoked,
    "USER_PERMISSION_REVOKED": errors.ItemRevoked,
    "USER_ACCOUNT_REVOKED": errors.ItemRevoked,
    "RATE_LIMIT_EXCEEDED": errors.AggregatorBusy,
    "INSTITUTION_ERROR": errors.AggregatorProblem,
    "API_ERROR": errors.AggregatorProblem,
}


def is_configured() -> bool:
    return settings.AGGREGATOR is not None


def origin() -> str:
    """Where the aggregator is: what people are named for."""
    return origin_of(str(_settings()["url"]))


def is_encrypted() -> bool:
    """Whether the aggregator is called over TLS, as everywhere but at a stand-in on this machine."""
    return str(_settings()["url"]).startswith("https://")


def create_link_token(
    *, person: str, language: str, redirect_url: str, webhook: str, identity: bool, seconds: int, access_token: str = ""
) -> shapes.LinkToken:
    """A page of the aggregator's own, for one person and so many seconds, that leads back to `redirect_url`.

    With an `access_token` the person signs in there again: products and webhook stay those of the first link. Without
    `webhook` the aggregator tells nothing by itself.
    """
    to = _settings()
    body: dict[str, Any] = {
        "client_name": to["name"],
        "language": language if language in _LANGUAGES else "en",
        "country_codes": to["countries"],
        "user": {"client_user_id": person},
        "hosted_link": {"completion_redirect_uri": redirect_url, "url_lifetime_seconds": seconds},
    }
    if access_token:
        body["access_token"] = access_token
    else:
        body |= {"products": ["transactions"], "transactions": {"days_requested": to["days"]}}
        body |= {"webhook": webhook} if webhook else {}
    if identity:
        body["additional_consented_products"] = ["identity"]
    return _call("/link/token/create", body, shapes.LinkToken)


def link_state(link_token: str) -> shapes.LinkState:
    """What came of a visit to that page: how a hosted page hands over the public token."""
    return _call("/link/token/get", {"link_token": link_token}, shapes.LinkState)


def exchange(public_token: str) -> shapes.Exchanged:
    """The lasting access for a public token, which is good for once."""
    return _call("/item/public_token/exchange", {"public_token": public_token}, shapes.Exchanged)


def accounts(access_token: str) -> shapes.Accounts:
    return _call("/accounts/get", {"access_token": access_token}, shapes.Accounts)


def transactions_page(access_token: str, cursor: str) -> shapes.Page:
    """What changed since `cursor`; everything, where it is empty."""
    body: dict[str, Any] = {"access_token": access_token, "count": PAGE}
    return _call("/transactions/sync", {**body, "cursor": cursor} if cursor else body, shapes.Page)


def identity(access_token: str) -> shapes.Identity:
    """Who the institution says its customer is. Only ever called under a consent to `identity`."""
    return _call("/identity/get", {"access_token": access_token}, shapes.Identity)


def verification_key(key_id: str) -> shapes.VerificationKey:
    """The key of this ID that signs webhooks."""
    return _call("/webhook_verification_key/get", {"key_id": key_id}, shapes.VerificationKey)


def remove_item(access_token: str) -> None:
    """End the access. One that had ended already counts as ended."""
    try:
        _call("/item/remove", {"access_token": access_token}, shapes.Done)
    except errors.ItemRevoked:
        return


def problem_named(*names: str) -> type[errors.AggregatorProblem] | None:
    """What the first of the aggregator's error codes or types that is of use here means; None for others."""
    return next((_ERRORS[name] for name in names if name in _ERRORS), None)


def _settings() -> dict[str, Any]:
    if settings.AGGREGATOR is None:
        raise errors.AggregatorNotConfigured()
    configured: dict[str, Any] = settings.AGGREGATOR
    return configured


def _call(path: str, body: dict[str, Any], shape: type[_Shape]) -> _Shape:
    to = _settings()
    written = orjson.dumps({"client_id": to["client_id"], "secret": to["secret"], **body})
    headers = {"Accept": "application/json"}
    try:
        answer = _client.post(to["url"] + path, written, headers=headers, seconds=to["timeout"], limit=_LIMIT)
    except TimedOut:
        raise errors.AggregatorTimeout from None
    except InvalidAnswer:
        raise errors.AggregatorRefused from None
    except ExchangeFailed:
        raise errors.AggregatorProblem from None
    return _read(path, answer, shape)


def _read(path: str, answer: Answer, shape: type[_Shape]) -> _Shape:
    try:
        parsed = strict_json(answer.body)
    except InvalidRequest:
        parsed = None
    if answer.status != 200:
        raise _refusal(path, answer.status, parsed) from None
    try:
        return shape.model_validate(parsed)
    except ValidationError as error:
        wrong = sorted({".".join(map(str, failure["loc"]))[:80] for failure in error.errors(include_input=False)})
        _log.error("the aggregator's answer to %s has another shape: %s", path, ", ".join(wrong[:10]))
    raise errors.AggregatorRefused


def _refusal(path: str, status: int, parsed: Any) -> errors.AggregatorProblem:
    body = parsed if isinstance(parsed, dict) else {}
    code, kind = body.get("error_code"), body.get("error_type")
    # these two are constants of the aggregator; its messages are left out, since they may name what was sent
    named = [text for text in (kind, code) if isinstance(text, str) and text.isascii() and len(text) < 80]
    _log.warning("the aggregator refused %s: %d %s", path, status, " ".join(named))
    known = problem_named(*reversed(named))
    if known is not None:
        return known()
    if status == 429:
        return errors.AggregatorBusy()
    return errors.AggregatorProblem() if status >= 500 else errors.AggregatorRefused()
