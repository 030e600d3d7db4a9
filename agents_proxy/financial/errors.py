"""The refusals around linked institutions. What the aggregator itself said stays here."""

from agents_proxy.errors import AgreementRequired
from common.problems import Problem


class AggregatorNotConfigured(Problem):
    """This deployment has no financial aggregator."""

    code = "aggregator_not_configured"
    status = 503
    title = "Institutions cannot be linked here"


class FinancialConsentRequired(AgreementRequired):
    """There is no live consent to `financial`, or to `identity`; `consent_url` says where to give it."""

    title = "You have to agree to this first"


class UnknownItem(Problem):
    """There is no such linked institution, or it is somebody else's, or it was removed."""

    code = "unknown_item"
    status = 404
    title = "No such linked institution"


class UnknownLink(Problem):
    """There is no such visit to the aggregator's page, or it is somebody else's, or it is over."""

    code = "unknown_link"
    status = 404
    title = "No such linking"


class AggregatorProblem(Problem):
    """The aggregator was asked and gave nothing that can be used."""

    code = "aggregator_unavailable"
    status = 502
    title = "The aggregator cannot be used now"


class AggregatorTimeout(AggregatorProblem):
    """The aggregator did not answer completely in time."""

    code = "aggregator_timeout"
    status = 504
    title = "The aggregator took too long"


class AggregatorBusy(AggregatorProblem):
    """The aggregator takes no more calls for the moment."""

    code = "aggregator_busy"
    status = 503
    title = "The aggregator is busy"


class AggregatorRefused(AggregatorProblem):
    """The aggregator refuses this deployment's call, or answers in a shape that nobody agreed on."""

    code = "aggregator_refused"
    title = "The aggregator refused"


class LoginRequired(AggregatorProblem):
    """The institution wants the person to sign in there again: link it anew."""

    code = "item_login_required"
    status = 409
    title = "Sign in at your institution again"


class ItemRevoked(AggregatorProblem):
    """The institution or the person ended the access; what was kept here is gone."""

    code = "item_revoked"
    status = 409
    title = "The institution ended the access"


class NotReady(AggregatorProblem):
    """The institution's transactions are still being fetched."""

    code = "not_ready"
    status = 409
    title = "Not ready yet"


class ChangedMeanwhile(AggregatorProblem):
    """Transactions changed while their pages were read; reading starts again where this refresh began."""

    code = "changed_meanwhile"
    status = 409
    title = "The transactions changed meanwhile"
