"""The end of a trip's profiles: an analysis's brand affinity reaches the CRM, under a consent that names it."""

import time
from typing import Any

import requests

from deploy.local.visitor import Refused, Visitor

NAME = "Neighbourhood CRM"
_PATIENCE = 20  # seconds until it arrived
_SECONDS = 10
_MOST_KEPT = 5  # CRMs of this name, of the twenty destinations that an app may have


def activate(visitor: Visitor, analysis_id: str, *, server: str, crm: str, developer: dict[str, str]) -> str:
    """Send it, and look at the CRM for what arrived.

    `server` and `crm` are addresses; `developer` is the sample's, whose management token makes the destination. Where
    it is there already its secret is renewed, for the CRM to learn: nobody is told a secret twice.
    """
    destination = _destination(server, f"{crm}/activations", developer)
    _sent("POST", f"{crm}/secrets", data={"secret": destination["secret"]}, allow_redirects=False)
    name = destination["destination_id"]
    visitor.call("POST", "/api/a2a/consents", {"purposes": ["activation"], "destinations": [name], "agreed": True})
    where = visitor.call("POST", f"/api/a2a/analyses/{analysis_id}/activations", {"destinationId": name})["statusUrl"]
    _await_delivery(visitor, where)
    arrived = [one for one in _sent("GET", f"{crm}/arrived").json()["arrived"] if _is_of(one, analysis_id)]
    if not arrived:
        raise Refused("the CRM shows nothing of what was delivered")
    got = len(arrived[0]["said"]["data"]["profile"])
    return f"{NAME}, which a consent names, got {got} brand-affinity fields, signed, and shows them"


def _destination(server: str, url: str, developer: dict[str, str]) -> dict[str, Any]:
    """The app's destination at this address, with its secret."""
    managed = f"{server}/api/v1/manage/apps/{developer['app_id']}/destinations"
    headers = {"Authorization": f"Bearer {developer['management_token']}"}
    known = _sent("GET", managed, headers=headers).json()["items"]
    same = next((one for one in known if one["url"] == url), None)
    for old in [one for one in known if one["name"] == NAME and one is not same][_MOST_KEPT - 1 :]:
        _sent("DELETE", f"{managed}/{old['destination_id']}", headers=headers)  # of trips on ports of their own
    if same is None:
        answer = _sent("POST", managed, headers=headers, json={"name": NAME, "url": url})
    else:
        _sent("PATCH", f"{managed}/{same['destination_id']}", headers=headers, json={"enabled": True})
        answer = _sent("POST", f"{managed}/{same['destination_id']}/rotate-secret", headers=headers)
    made: dict[str, Any] = answer.json()
    return made


def _await_delivery(visitor: Visitor, where: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        status = visitor.call("GET", where)["status"]
        if status == "delivered":
            return
        if status == "failed":
            raise Refused("the CRM did not take it")
        time.sleep(0.1)
    raise Refused("nothing reached the CRM")


def _is_of(arrival: dict[str, Any], analysis_id: str) -> bool:
    body = arrival["said"]
    return isinstance(body, dict) and body.get("data", {}).get("analysisId") == analysis_id


def _sent(method: str, url: str, **what: Any) -> requests.Response:
    try:
        with requests.Session() as session:
            session.trust_env = False  # neither a proxy nor a .netrc
            answer = session.request(method, url, timeout=_SECONDS, **what)
    except requests.RequestException as error:
        raise Refused(f"{url} does not answer: {type(error).__name__}") from None
    if answer.status_code >= 400:
        raise Refused(f"{method} {url} answered {answer.status_code}: {answer.text[:300]}")
    return answer
