"""What the buttons of the analyses pages ask for, in words."""

from collections.abc import Callable

from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.authentication import person_of
from accounts.interrupted.page_actions import Field, Kwargs, PageAction, Say, Values, Words, to_page
from agents_proxy.analyses import queries as analysis_queries
from agents_proxy.analyses.errors import UnknownAnalysis
from agents_proxy.analyses.models import Run
from agents_proxy.states import UNFINISHED_RUNS


def _analysis(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words:
    return Words(gettext("You asked to start an analysis with these details."), gettext("Start the analysis"))


def _of_run(say: Callable[[Run], Words | None]) -> Say:
    def words(request: HttpRequest, kwargs: Kwargs, values: Values) -> Words | None:
        try:
            return say(analysis_queries.own_run(person_of(request), kwargs["analysis_id"]))
        except UnknownAnalysis:
            return None

    return words


def _cancel(run: Run) -> Words | None:
    if run.status not in UNFINISHED_RUNS:
        return None
    return Words(gettext("You asked to stop the analysis."), gettext("Stop the analysis"))


def _retry(run: Run) -> Words:
    return Words(gettext("You asked to have an agent asked again."), gettext("Ask again"))


def _delete(run: Run) -> Words:
    asked = gettext("You asked to delete an analysis, with all that the agents said.")
    return Words(asked, gettext("Delete it"), danger=True)


START = PageAction(
    page=to_page("profile:home"),
    words=_analysis,
    fields=(
        Field("fullName", _("Full name"), "text", 200),
        Field("email", _("E-mail"), "text", 254),
        Field("countryCode", _("Country code"), "text", 5),
        Field("phoneNumber", _("Phone number"), "text", 15),
        Field("agreed", _("I agree to this for my own details"), "check"),
    ),
    shows_itself=True,
)
CANCEL = PageAction(page=to_page("profile:run", "analysis_id"), words=_of_run(_cancel))
RETRY = PageAction(page=to_page("profile:run", "analysis_id"), words=_of_run(_retry))
DELETE = PageAction(page=to_page("profile:delete", "analysis_id"), words=_of_run(_delete), shows_itself=True)
