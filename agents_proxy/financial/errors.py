"""The refusals around linked institutions. What the aggregator itself said stays here."""

from agents_proxy.errors import AgreementRequired
from common.problems import Kind, Problem

# fmt: off
AggregatorNotConfigured = Kind("aggregator_not_configured", 503, "Institutions cannot be linked here",
    "This deployment has no financial aggregator.")
UnknownItem = Kind("unknown_item", 404, "No such linked institution",
    "There is no such linked institution, or it is somebody else's, or it was removed.")
UnknownLink = Kind("unknown_link", 404, "No such linking",
    "There is no such visit to the aggregator's page, or it is somebody else's, or it is over.")
# fmt: on


class FinancialConsentRequired(AgreementRequired):
    """There is no live consent to `financial`, or to `identity`; `consent_url` says where to give it."""

    title = "You have to agree to this first"


class AggregatorProblem(Problem):
    """The aggregator was asked and gave nothing that can be used."""

    code, status, title = "aggregator_unavailable", 502, "The aggregator cannot be used now"


class AggregatorTimeout(AggregatorProblem):
    """The aggregator did not answer completely in time."""

    code, status, title = "aggregator_timeout", 504, "The aggregator took too long"


class AggregatorBusy(AggregatorProblem):
    """The aggregator takes no more calls for the moment."""

    code, status, title = "aggregator_busy", 503, "The aggregator is busy"


class AggregatorRefused(AggregatorProblem):
    """The aggregator refuses this deployment's call, or answers in a shape that nobody agreed on."""

    code, title = "aggregator_refused", "The aggregator refused"


class LoginRequired(AggregatorProblem):
    """The institution wants the person to sign in there again: link it anew."""

    code, status, title = "item_login_required", 409, "Sign in at your institution again"


class ItemRevoked(AggregatorProblem):
    """The institution or the person ended the access; what was kept here is gone."""

    code, status, title = "item_revoked", 409, "The institution ended the access"


class NotReady(AggregatorProblem):
    """The institution's transactions are still being fetched."""

    code, status, title = "not_ready", 409, "Not ready yet"


class ChangedMeanwhile(AggregatorProblem):
    """Transactions changed while their pages were read; reading starts again where this refresh began."""

    code, status, title = "changed_meanwhile", 409, "The transactions changed meanwhile"
