"""The addresses of linked institutions with what the OpenAPI document says of them; `documented` marks the views."""

from typing import Any

from agents_proxy import answers
from agents_proxy import descriptions as told
from agents_proxy.descriptions import own_address, path_member, removal
from agents_proxy.financial import api as financial
from agents_proxy.financial import errors as financial_errors

_ITEM = path_member("item_id", "As the list of institutions has it.", {"type": "string", "minLength": 1})
_FINANCIAL = (financial_errors.AggregatorNotConfigured, financial_errors.FinancialConsentRequired)
_AGGREGATOR = (
    financial_errors.AggregatorNotConfigured,
    financial_errors.AggregatorProblem,
    financial_errors.AggregatorTimeout,
    financial_errors.AggregatorBusy,
    financial_errors.AggregatorRefused,
    financial_errors.LoginRequired,
    financial_errors.NotReady,
)

INSTITUTIONS: dict[Any, dict[str, Any]] = {
    financial.Links: {
        "post": own_address(
            name="linkInstitution",
            tag=told.FINANCIAL,
            summary="Open a visit to the aggregator's page",
            description="The person signs in to their institution there.",
            answers={201: answers.FinancialLink},
            refusals=[*_AGGREGATOR, financial_errors.ItemRevoked, financial_errors.FinancialConsentRequired],
            takes_body=True,
        )
    },
    financial.Items: {
        "get": own_address(
            name="listInstitutions",
            tag=told.FINANCIAL,
            summary="Linked institutions",
            description="Newest first, each with its latest refresh.",
            answers={200: answers.FinancialItems},
            refusals=_FINANCIAL,
        )
    },
    financial.OneItem: {
        "get": own_address(
            name="getInstitution",
            tag=told.FINANCIAL,
            summary="One linked institution",
            description="With its latest refresh.",
            parameters=[_ITEM],
            answers={200: answers.FinancialItem},
            refusals=[*_FINANCIAL, financial_errors.UnknownItem],
        ),
        "delete": removal(
            own_address,
            name="removeInstitution",
            tag=told.FINANCIAL,
            summary="Remove an institution",
            description="Its access token is given back and everything of it deleted.",
            parameters=[_ITEM],
            refusals=[*_AGGREGATOR, financial_errors.UnknownItem],
        ),
    },
    financial.Refreshes: {
        "post": own_address(
            name="refreshInstitution",
            tag=told.FINANCIAL,
            summary="Have an institution's purchases read anew",
            description="One that is under way is the answer to another.",
            parameters=[_ITEM],
            answers={202: answers.FinancialRefresh},
            refusals=[*_FINANCIAL, financial_errors.UnknownItem],
            takes_body=True,
        )
    },
    financial.Identity: {
        "post": own_address(
            name="readFinancialIdentity",
            tag=told.FINANCIAL,
            summary="Who the institution says that one is",
            description="Needs a consent to `identity`, and is kept nowhere.",
            parameters=[_ITEM],
            answers={200: answers.FinancialIdentity},
            refusals=[
                *_AGGREGATOR,
                financial_errors.ItemRevoked,
                financial_errors.FinancialConsentRequired,
                financial_errors.UnknownItem,
            ],
            takes_body=True,
        )
    },
    financial.Signals: {
        "get": own_address(
            name="getFinancialSignals",
            tag=told.FINANCIAL,
            summary="What one's purchases say",
            description="As it goes into the brand agent's prompt.",
            answers={200: answers.FinancialSignals},
            refusals=_FINANCIAL,
        )
    },
}
