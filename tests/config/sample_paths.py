"""A path for each address of `every_address`, with things that exist in place of its parts."""

import re
from typing import Any

from tests import factories
from tests.factories import give_vault


def samples(person: Any, app: Any) -> dict[str, str]:
    """What stands for each part of an address that is not fixed: things of `person`, made for this."""
    give_vault(person)
    grant = factories.ExportFactory(grant__request__user=person, grant__request__app=app).grant
    run = factories.RunFactory(user=person)
    factories.MemberFactory(app=app, user=person)
    token = factories.TokenFactory(app=app)
    return {
        "user_id": person.public_id,
        "request_id": factories.ConsentRequestFactory(user=person, app=app).request_id,
        "grant_id": grant.grant_id,
        "receipt_id": factories.ReceiptFactory(request=grant.request).receipt_id,
        "level": "0",
        "place": "000.p/1",
        "entry_hash": "A" * 43,
        "app_id": app.app_id,
        "prefix": factories.ManagementTokenFactory(user=person, prefix=token.prefix).prefix,
        "endpoint_pk": str(factories.WebhookEndpointFactory(app=app, url="https://127.0.0.1/hook").pk),
        "delivery_pk": "1",
        "endpoint_id": "1",
        "delivery_id": "1",
        "analysis_id": run.analysis_id,
        "consent_id": factories.ProcessingConsentFactory(user=person).consent_id,
        "destination_id": factories.DestinationFactory(app=app).destination_id,
        "activation_id": "act_unknown",
        "wrapper_id": "wrp_unknown",
        "domain": "lifestyle",
        "segment_id": "food",
        "document": "integrating",
        "scope": "attr.lifestyle.*",
        "agent": "core",
        "object_id": "1",
        "content_type_id": "1",
        "app_label": "consent",
        "url": "nothing",
        "key": "unknown",
        "uidb36": "1",
        "pk": "1",
        "digest": factories.LogoFactory().digest,
        "handle": factories.ListedPersonFactory(user=person).handle,
        "number_pk": str(factories.PhoneNumberFactory(user=person).pk),
        "item_id": "itm_unknown",
        "link_id": "lnk_unknown",
        "form": "json",
        "invitation_pk": str(factories.AppInvitationFactory(app=app).pk),
        "secret": "inv_unknown",
    }


def path_of(address: str, parts: dict[str, str]) -> str:
    """A path that the address matches."""
    filled = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: parts[found[1]], re.sub(r"\(\?P(<\w+>)[^()]*\)", r"\1", address))
    return "/" + re.sub(r"[\^$\\]", "", filled)
