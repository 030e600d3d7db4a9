"""Templates under four eyes."""

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from common.problems import InvalidRequest
from consent.requests import templates as request_templates
from consent.requests.models import ScopeTemplate
from tests import factories
from tests.admin.staff_actions import act, messages
from tests.factories.consent_requests import FOOD
from tests.staff import at_the_admin

FORM = {
    "template_id": "lunch", "name": "Lunch", "scope": FOOD, "purpose": "Suggest lunch places near you",
    "max_access_duration_0": 1, "max_access_duration_1": 3600, "max_reads": 5,
}  # fmt: skip


@pytest.fixture
def colleague(db):
    """Another member of staff, and their browser."""
    return at_the_admin(factories.StaffFactory())


def propose(page, **changes):
    return page.post(reverse("admin:consent_scopetemplate_add"), FORM | changes, follow=True)


def standing():
    rows = ScopeTemplate.objects.order_by("template_id", "version")
    return list(rows.values_list("template_id", "version", "active"))


def test_proposal_changes_nothing_until_somebody_else_approves(page, staff, colleague):
    assert messages(propose(page)) == ["The template “lunch v1” was added successfully."]
    made = ScopeTemplate.objects.get()
    assert (made.version, made.proposed_by, made.approved_by, made.active) == (1, staff, None, False)
    assert (made.scope, made.max_access_duration, made.max_reads) == (FOOD, 3600, 5)

    refused = messages(act(page, "consent", "scopetemplate", "approve", made))
    assert refused == ["lunch v1: Somebody else than who proposed it has to approve it."]
    assert standing() == [("lunch", 1, False)]

    assert messages(act(colleague, "consent", "scopetemplate", "approve", made)) == ["1 template was approved."]
    made.refresh_from_db()
    assert (made.active, made.approved_by_id, made.approved_at is not None) == (
        True,
        int(colleague.session["_auth_user_id"]),
        True,
    )
    assert LogEntry.objects.filter(object_id=str(made.pk)).count() == 2


def test_approving_a_version_ends_the_one_before(page, colleague):
    for _ in range(3):
        propose(page)
    first, second, third = ScopeTemplate.objects.order_by("version")
    act(colleague, "consent", "scopetemplate", "approve", first)
    act(colleague, "consent", "scopetemplate", "approve", third)
    assert standing() == [("lunch", 1, False), ("lunch", 2, False), ("lunch", 3, True)]

    late = messages(act(colleague, "consent", "scopetemplate", "approve", second, third))
    assert late == ["lunch v2: A newer version was approved already.", "lunch v3: It was approved already."]
    assert standing() == [("lunch", 1, False), ("lunch", 2, False), ("lunch", 3, True)]


def test_withdrawn_template_is_active_no_more(page, colleague):
    propose(page)
    made = ScopeTemplate.objects.get()
    act(colleague, "consent", "scopetemplate", "approve", made)
    assert messages(act(page, "consent", "scopetemplate", "withdraw", made)) == ["1 template was withdrawn."]
    assert messages(act(page, "consent", "scopetemplate", "withdraw", made)) == ["0 templates were withdrawn."]
    assert standing() == [("lunch", 1, False)]


def test_the_action_itself_keeps_four_eyes(db):
    made = factories.ScopeTemplateFactory()
    with pytest.raises(InvalidRequest):
        request_templates.approve_template(template=made, by=made.proposed_by)
    assert standing() == [(made.template_id, 1, False)]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"template_id": "No spaces"}, "template_id"),
        ({"name": "two\u2028lines"}, "name"),
        ({"purpose": ""}, "purpose"),
        ({"purpose": "Lunch"}, "purpose"),
        ({"purpose": "a\u202eb"}, "purpose"),
        ({"scope": "attr.no.such.*"}, "scope"),
        ({"max_access_duration_0": 4, "max_access_duration_1": 60}, "max_access_duration"),
        ({"max_access_duration_0": 366, "max_access_duration_1": 86400}, "max_access_duration"),
        ({"max_reads": 0}, "max_reads"),
    ],
)
def test_template_that_may_not_be_is_refused(page, change, field):
    answer = propose(page, **change)
    assert list(answer.context["adminform"].form.errors) == [field]
    assert not ScopeTemplate.objects.exists()
