"""What two members, or a member and a program, do to one endpoint at once."""

import pytest

from common.problems import NotFound
from developers.models import WebhookEndpoint
from developers.webhooks import actions
from tests.factories import MemberFactory, WebhookEndpointFactory


def test_who_changes_the_types_keeps_the_address_that_somebody_changed_a_moment_before(db: None) -> None:
    by = MemberFactory().user
    endpoint = WebhookEndpointFactory()
    seen_before = WebhookEndpoint.objects.get(pk=endpoint.pk)
    actions.change_endpoint(endpoint=endpoint, url="https://new.example/hook", types=[], by=by)

    kept = actions.update_endpoint(endpoint=seen_before, by=by, url=None, types=["consent.denied"], enabled=None)

    assert (kept.url, kept.types) == ("https://new.example/hook", ["consent.denied"])


def test_what_was_deleted_a_moment_before_is_not_there(db: None) -> None:
    by = MemberFactory().user
    endpoint = WebhookEndpointFactory()
    assert actions.delete_endpoint(endpoint=WebhookEndpoint.objects.get(pk=endpoint.pk), by=by)

    assert not actions.delete_endpoint(endpoint=endpoint, by=by)
    with pytest.raises(NotFound):
        actions.renew_secret(endpoint=endpoint, by=by)
    with pytest.raises(NotFound):
        actions.change_endpoint(endpoint=endpoint, url="https://new.example/hook", types=[], by=by)
