"""A receipt as linked data (JSON-LD 1.1), in terms of the W3C Data Privacy Vocabulary 2.x.

The same claims as in the signed form, for tools that read the vocabulary; it carries no signature, so whoever wants
proof keeps the JWS. The context stands in the document: reading it takes no network. What the vocabulary has no term
for (the digest, the key, where the entry stands) is named under the issuer.
"""

from datetime import UTC, datetime
from typing import Any

from common.clock import rfc3339
from consent.event_types import EventType

JSON_LD = "application/ld+json"
_STATUS = {  # where consent stands after each event
    EventType.APPROVED: "dpv:ConsentGiven",
    EventType.DENIED: "dpv:ConsentRefused",
    EventType.EXPIRED: "dpv:ConsentExpired",
    EventType.REVOKED: "dpv:ConsentWithdrawn",  # by the person; by anybody else it is revoked
    EventType.RELEASED: "dpv:ConsentRevoked",
    EventType.TERMINATED: "dpv:ConsentRevoked",
    EventType.CANCELLED: "dpv:ConsentInvalidated",
    EventType.EXHAUSTED: "dpv:ConsentExpired",
    EventType.SUPERSEDED: "dpv:ConsentInvalidated",
}
_RIGHTS = {  # of Regulation (EU) 2016/679
    "withdraw_consent": "eu-gdpr:A7-3",
    "access": "eu-gdpr:A15",
    "erasure": "eu-gdpr:A17",
    "portability": "eu-gdpr:A20",
    "complaint": "eu-gdpr:A77",
}
_BASES = {"consent": "dpv:Consent"}


def as_jsonld(claims: dict[str, Any]) -> dict[str, Any]:
    """The claims of a receipt, of any version of the schema: a member that is not there is left out."""
    issuer = claims["iss"]
    return {
        "@context": _context(issuer),
        "@id": f"{issuer}/api/v1/receipts/{claims['receipt_id']}",
        "@type": "dpv:ConsentReceipt",
        "dct:identifier": claims["receipt_id"],
        "dct:hasVersion": claims["schema_version"],
        "dct:publisher": {"@id": issuer},
        "dct:issued": _time(rfc3339(datetime.fromtimestamp(claims["iat"], UTC))),
        "dct:isPartOf": {"@type": "dpv:ConsentRecord", "dct:identifier": claims["record_id"]},
        **_parties(claims),
        **_processing(claims),
        **_consent(claims),
        **_proof(claims),
    }


def _context(issuer: str) -> dict[str, Any]:
    return {
        "@version": 1.1,
        "dpv": "https://w3id.org/dpv#",
        "eu-gdpr": "https://w3id.org/dpv/legal/eu/gdpr#",
        "dct": "http://purl.org/dc/terms/",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "own": f"{issuer}/docs/glossary#",
    }


def _time(text: str) -> dict[str, str]:
    return {"@type": "xsd:dateTime", "@value": text}


def _parties(claims: dict[str, Any]) -> dict[str, Any]:
    controller = claims["pii_controller"]
    parties: dict[str, Any] = {
        "dpv:hasDataSubject": {"@type": "dpv:DataSubject", "dct:identifier": claims["pii_principal_id"]},
        "dpv:hasDataController": {
            "@type": "dpv:DataController",
            "dct:identifier": controller["app_id"],
            "dpv:hasName": controller["name"],
            "dpv:hasContact": controller["contact"],
            "dpv:hasNotice": {"@type": "dpv:PrivacyNotice", "dct:source": controller["privacy_policy"]},
        },
    }
    if "recipients" in claims:
        parties["dpv:hasRecipient"] = {"@type": "dpv:Recipient", "dct:description": claims["recipients"]}
    return parties


def _processing(claims: dict[str, Any]) -> dict[str, Any]:
    about: dict[str, Any] = {
        "dpv:hasPurpose": {"@type": "dpv:Purpose", "dct:description": claims["purpose"]},
        "dpv:hasPersonalData": [{"@type": "dpv:PersonalData", "dct:identifier": path} for path in claims["pii_types"]],
        "dpv:hasSensitivityLevel": {"@type": "dpv:SensitivityLevel", "dct:identifier": claims["sensitivity"]},
    }
    if storage := claims.get("storage"):
        condition: dict[str, Any] = {"@type": "dpv:StorageCondition"}
        if "location" in storage:
            condition["dpv:hasLocation"] = storage["location"]
        if "retention" in storage:
            condition["dpv:hasDuration"] = storage["retention"]
        about["dpv:hasStorageCondition"] = condition
    if "jurisdiction" in claims:
        about["dpv:hasJurisdiction"] = claims["jurisdiction"]
    return about


def _consent(claims: dict[str, Any]) -> dict[str, Any]:
    event, retention = claims["event"], claims["retention"]
    consent: dict[str, Any] = {
        "dpv:hasConsentStatus": {"@id": _STATUS[EventType(event["type"])]},
        "own:event": event["type"],
        "own:state": event["state"],
        "dpv:isIndicatedAtTime": _time(event["time"]),
        "dpv:hasDuration": {"@type": "xsd:integer", "@value": str(retention["access_duration"])},
        "dpv:hasConsentControl": {"@type": "dpv:WithdrawConsent", "dpv:isExercisedAt": claims["withdrawal_method"]},
        "dpv:hasLegalBasis": {"@id": _BASES[claims["lawful_basis"]]},
        "dpv:hasRight": [{"@id": _RIGHTS[right]} for right in claims["rights"]],
        "dpv:hasNotice": {
            "@type": "dpv:ConsentNotice",
            "dct:hasVersion": claims["notice"]["version"],
            "dct:language": claims["notice"]["language"],
        },
    }
    if retention["expires_at"] is not None:
        consent["dct:valid"] = _time(retention["expires_at"])
    return consent


def _proof(claims: dict[str, Any]) -> dict[str, Any]:
    """What ties it to the request, the key and the entry, as in the signed form."""
    named = ("request_digest", "connector_fingerprint", "approval_sha256")
    entry = {f"own:{name}": value for name, value in claims["audit"].items()}
    return {**{f"own:{name}": claims[name] for name in named if name in claims}, "own:audit": entry}
