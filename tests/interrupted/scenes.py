"""For every address that takes a POST from a page: what must be there for it, what is sent, and how to see it done."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from allauth.account.models import EmailAddress
from django.utils.timezone import now

from accounts.models import User
from agents_proxy.analyses import actions as analysis_actions
from agents_proxy.analyses.models import Run
from agents_proxy.financial.models import Item, RefreshRun
from agents_proxy.messaging import phone_numbers
from agents_proxy.messaging.models import PhoneNumber
from agents_proxy.processing_consent.models import ProcessingConsent
from consent.decisions import actions as decision_actions
from consent.decisions.models import AppReport, BlockedApp
from consent.grants.models import Grant
from consent.requests.models import ConsentRequest
from consent.sandbox.models import SandboxPerson
from developers.members.models import AppInvitation, AppMember
from developers.models import App
from developers.tokens.models import DeveloperToken, ManagementToken
from pkm.registry.models import HiddenScope
from pkm.vault.models import KeyWrapper, VaultKey
from tests.agents_proxy.agent_server import Agents, speaking
from tests.agents_proxy.institutions import linked
from tests.agents_proxy.phone_owners import TO
from tests.agents_proxy.proxy_calls import configure
from tests.agents_proxy.runs import SUBMITTED, finished, started
from tests.factories import (
    AppInvitationFactory,
    BlockedAppFactory,
    ConsentRequestFactory,
    DiscoveryFactory,
    GrantFactory,
    ManagementTokenFactory,
    MemberFactory,
    PhoneNumberFactory,
    ProcessingConsentFactory,
    SandboxPersonFactory,
    TestAppFactory,
    TokenFactory,
    give_vault,
)
from tests.fakes.aggregator import aggregating
from tests.fakes.crm import running_crm


@dataclass
class Stage:
    """What a scene may use; what it opens is closed after the test."""

    person: User
    settings: Any
    after: ExitStack


@dataclass
class Scene:
    """`page` holds the button; `typed` is what the person enters, ticks and presses; `says` is shown while it waits."""

    path: str
    page: str
    says: str
    done: Callable[[], Any]
    typed: dict[str, str] = field(default_factory=dict)
    shows: str = ""  # of what was typed, what is on the page again


Make = Callable[[Stage], Scene]


def deny(stage: Stage) -> Scene:
    asked = ConsentRequestFactory(user=stage.person)
    here = f"/consent/requests/{asked.request_id}/"

    def done() -> bool:
        row = ConsentRequest.objects.get(pk=asked.pk)
        return (row.status, row.decision_note) == ("denied", "Not before the trip")

    typed = {"reason": "Not before the trip"}
    says = f"You asked to deny the request of {asked.app_name}."
    return Scene(f"{here}deny/", here, says, done, typed, "Not before the trip")


def grant_move(move: str, becomes: str, before: str = "active", **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        made = GrantFactory(request__user=stage.person, status=before)
        says = f"You asked to {move} sharing with {made.app.name}."

        def done() -> bool:
            return Grant.objects.get(pk=made.pk).status == becomes

        return Scene(f"/consent/grants/{made.grant_id}/{move}/", "/consent/grants/", says, done, typed)

    return make


def keep(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person, request__refresh_policy="continuous")

    def done() -> bool:
        return not Grant.objects.get(pk=made.pk).kept_current

    says = f"You asked to leave what {made.app.name} reads as it is."
    return Scene(f"/consent/grants/{made.grant_id}/keep/", "/consent/grants/", says, done, {"kept": "no"})


def block(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"

    def done() -> bool:
        return BlockedApp.objects.exists() and Grant.objects.get(pk=made.pk).status == "revoked"

    says = f"You asked to block {made.app.name} and to stop everything that it can read."
    return Scene(f"{here}block/", here, says, done, {"stop": "yes"})


def stop_everything(stage: Stage) -> Scene:
    made = GrantFactory(request__user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    says = f"You asked to stop everything that {made.app.name} can read."
    return Scene(f"{here}stop/", here, says, lambda: Grant.objects.get(pk=made.pk).status == "revoked")


def unblock(stage: Stage) -> Scene:
    made = BlockedAppFactory(user=stage.person)
    here = f"/consent/apps/{made.app.app_id}/"
    DiscoveryFactory(user=stage.person, app=made.app)
    says = f"You asked to let {made.app.name} ask you again."
    return Scene(f"{here}unblock/", "/consent/grants/", says, lambda: not BlockedApp.objects.exists())


def report(stage: Stage) -> Scene:
    asked = ConsentRequestFactory(user=stage.person)
    here = f"/consent/apps/{asked.app.app_id}/"
    text = "It pretends to be my bank.\nTwice."
    return Scene(
        f"{here}report/", here, f"You asked to report {asked.app.name} to our staff.",
        lambda: [words.replace("\r", "") for words in AppReport.objects.values_list("text", flat=True)] == [text],
        {"text": text}, "It pretends to be my bank.\nTwice.",
    )  # fmt: skip


def verify_history(stage: Stage) -> Scene:
    decision_actions.deny(request_id=ConsentRequestFactory(user=stage.person).request_id, by=stage.person)
    return Scene(
        "/consent/history/verify/", "/consent/history/", "You asked to have your history checked.", lambda: True
    )


def discovery(stage: Stage) -> Scene:
    give_vault(stage.person)
    typed = {"scope": "attr.lifestyle.food.*", "hide": "1"}
    says = "You asked to hide from apps that you could share: Food and drink."
    return Scene("/vault/discovery/", "/vault/data/lifestyle/", says, HiddenScope.objects.exists, typed)


def setup_done(stage: Stage) -> Scene:
    give_vault(stage.person)

    def done() -> bool:
        return VaultKey.objects.get(user=stage.person).pre_onboarding_completed

    return Scene("/vault/setup/done/", "/vault/setup/preview/", "You asked to end the set-up of your data.", done)


def remove_wrapper(stage: Stage) -> Scene:
    give_vault(stage.person, passphrase="gravel lantern otter plum 7")
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    path = f"/account/security/wrappers/{wrapper.wrapper_id}/remove/"

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is not None

    return Scene(path, "/account/security/", "You asked to remove a way to unlock your data: Passphrase.", done)


def restore_wrapper(stage: Stage) -> Scene:
    from pkm.vault.actions import remove_wrapper as remove

    scene = remove_wrapper(stage)
    wrapper = KeyWrapper.objects.get(kind="passphrase")
    remove(by=stage.person, wrapper_id=wrapper.wrapper_id)
    path = scene.path.replace("/remove/", "/restore/")

    def done() -> bool:
        return KeyWrapper.objects.get(pk=wrapper.pk).removed_at is None

    return Scene(path, "/account/security/", "You asked to put back a way to unlock your data: Passphrase.", done)


# --- the profile ------------------------------------------------------------------------------------------------------


def _agents(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    stage.settings.AGENTS = {**stage.settings.AGENTS, **agents.settings()}
    return agents


def analysis(stage: Stage) -> Scene:
    says = "You asked to start an analysis with these details."
    return Scene("/profile/", "/profile/", says, Run.objects.exists, {**SUBMITTED, "agreed": "on"}, "Ana Sá")


def cancel(stage: Stage) -> Scene:
    run = started(stage.person)
    here = f"/profile/{run.analysis_id}/"

    def done() -> bool:
        return Run.objects.get(pk=run.pk).status == "cancelled"

    return Scene(f"{here}cancel/", here, "You asked to stop the analysis.", done)


def retry(stage: Stage) -> Scene:
    agents = _agents(stage)
    agents.says = {"brand": "no profile at all", "core": {"likes": ["tea"]}}
    run = finished(stage.person)
    asked_before = len(agents.asked)
    here = f"/profile/{run.analysis_id}/"

    def done() -> bool:
        again = Run.objects.get(pk=run.pk)
        return len(agents.asked) > asked_before or again.status in ("queued", "running")

    return Scene(f"{here}retry/brand/", here, "You asked to have an agent asked again.", done)


def delete_run(stage: Stage) -> Scene:
    run = started(stage.person)
    analysis_actions.cancel_analysis(by=stage.person, analysis_id=run.analysis_id)
    here = f"/profile/{run.analysis_id}/delete/"
    return Scene(here, here, "You asked to delete an analysis", lambda: not Run.objects.filter(pk=run.pk).exists())


def activate(stage: Stage) -> Scene:
    _agents(stage).says = {"brand": {"likes": ["Muji"]}}
    crm = stage.after.enter_context(running_crm(stage.settings))
    here = f"/profile/{finished(stage.person).analysis_id}/"
    says = "You asked to send your brand affinity to 127.0.0.1"
    return Scene(f"{here}activate/", here, says, lambda: len(crm.got) == 1, {"agreed": "yes"})


def agree(stage: Stage) -> Scene:
    here = "/profile/consent/?purposes=profile"
    says = "You said that you agree to what is written below."
    return Scene(here, here, says, ProcessingConsent.objects.exists, {"decision": "agree"})


def withdraw(stage: Stage) -> Scene:
    made = ProcessingConsentFactory(user=stage.person, purposes=["profile"])

    def done() -> bool:
        return ProcessingConsent.objects.get(pk=made.pk).withdrawn_at is not None

    path, says = f"/profile/consent/{made.consent_id}/withdraw/", "You asked to withdraw what you agreed to:"
    return Scene(path, "/profile/consent/given/", says, done)


def _carrier(stage: Stage) -> Agents:
    agents = stage.after.enter_context(speaking())
    configure(stage.settings, "messaging", url=f"{agents.address}/messaging")
    return agents


def number(stage: Stage) -> Scene:
    carrier = _carrier(stage)
    says = "You asked for a code to this phone number."
    here = "/profile/numbers/"
    return Scene(here, here, says, lambda: len(carrier.asked) == 1, {"to": "+49 151 12345678"}, "+49 151 12345678")


def code(stage: Stage) -> Scene:
    from tests.agents_proxy.test_messaging import code_of

    carrier = _carrier(stage)
    here = f"/profile/numbers/{phone_numbers.send_code(by=stage.person, number=TO)}/code/"

    def done() -> bool:
        return PhoneNumber.objects.get().verified_at is not None

    return Scene(here, here, "You entered the code for +49 … 78.", done, {"code": code_of(carrier)}, code_of(carrier))


def forget(stage: Stage) -> Scene:
    made = PhoneNumberFactory(user=stage.person)
    path = f"/profile/numbers/{made.pk}/forget/"
    says = "You asked to remove the phone number"
    return Scene(path, "/profile/numbers/", says, lambda: not PhoneNumber.objects.exists())


def link(stage: Stage) -> Scene:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()

    def done() -> bool:
        return ProcessingConsent.objects.filter(user=stage.person).exists()

    here, says = "/profile/financial/", "You asked to link an institution."
    return Scene(f"{here}link/", here, says, done, {"agreed": "yes"})


def _item(stage: Stage) -> Item:
    bank = stage.after.enter_context(aggregating())
    stage.settings.AGGREGATOR = bank.settings()
    return linked(stage.person, bank)


def refresh(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/refresh/"
    says = "You asked to read again from Your institution."
    return Scene(path, "/profile/financial/", says, RefreshRun.objects.exists)


def remove_item(stage: Stage) -> Scene:
    path = f"/profile/financial/{_item(stage).item_id}/remove/"
    says = "You asked to remove Your institution, with all that was read."
    return Scene(path, path, says, lambda: Item.objects.get().status == "removed")


# --- the developer portal ---------------------------------------------------------------------------------------------


def make_test_app(stage: Stage) -> Scene:
    def done() -> bool:
        return App.objects.filter(name="Lunch Finder", members__user=stage.person).exists()

    says, typed = "You asked to make a test app.", {"name": "Lunch Finder"}
    return Scene("/developers/apps/", "/developers/", says, done, typed, "Lunch Finder")


def _own_app(stage: Stage) -> App:
    app: App = MemberFactory(user=stage.person, app=TestAppFactory(name="Lunch Finder")).app
    return app


def mint_token(stage: Stage) -> Scene:
    app = _own_app(stage)
    here = f"/developers/apps/{app.app_id}/tokens/"

    def done() -> bool:
        return DeveloperToken.objects.filter(app=app, label="backend", header_only=True).exists()

    typed = {"label": "backend", "header_only": "on"}
    return Scene(here, here, "You asked to make a token for Lunch Finder.", done, typed, "backend")


def rotate_token(stage: Stage) -> Scene:
    token = TokenFactory(app=_own_app(stage), label="backend")
    here = f"/developers/apps/{token.app.app_id}/tokens/{token.prefix}/rotate/"

    def done() -> bool:
        return DeveloperToken.objects.count() == 2

    return Scene(here, here, "You asked to rotate the token “backend”.", done, {"overlap": "3600"})


def revoke_token(stage: Stage) -> Scene:
    token = TokenFactory(app=_own_app(stage), label="backend")
    here = f"/developers/apps/{token.app.app_id}/tokens/{token.prefix}/revoke/"

    def done() -> bool:
        return DeveloperToken.objects.get().revoked_at is not None

    return Scene(here, here, "You asked to revoke the token “backend”.", done)


def mint_management_token(stage: Stage) -> Scene:
    here, says = "/developers/management-tokens/", "You asked to make a management token."
    return Scene(here, here, says, ManagementToken.objects.exists, {"label": "ci"}, "ci")


def revoke_management_token(stage: Stage) -> Scene:
    token = ManagementTokenFactory(user=stage.person, label="ci")
    here = f"/developers/management-tokens/{token.prefix}/revoke/"

    def done() -> bool:
        return ManagementToken.objects.get().revoked_at is not None

    return Scene(here, here, "You asked to revoke the management token “ci”.", done)


def rename_app(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/settings/"

    def done() -> bool:
        return App.objects.filter(name="Supper Finder").exists()

    return Scene(here, here, "You asked to rename Lunch Finder.", done, {"name": "Supper Finder"}, "Supper Finder")


def close_app(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/settings/close/"
    says, typed = "You asked to close Lunch Finder for good.", {"name": "Lunch Finder"}
    return Scene(here, here, says, lambda: App.objects.get().status == "closed", typed, "Lunch Finder")


def make_sandbox_person(stage: Stage) -> Scene:
    here = f"/developers/apps/{_own_app(stage).app_id}/sandbox/"

    def done() -> bool:
        return SandboxPerson.objects.filter(label="Says yes").exists()

    says = "You asked to make a sandbox person for Lunch Finder."
    return Scene(f"{here}new/", here, says, done, {"label": "Says yes"}, "Says yes")


def _played(stage: Stage) -> tuple[SandboxPerson, str]:
    played = SandboxPersonFactory(app=_own_app(stage), user__display_name="Ada")
    return played, f"/developers/apps/{played.app.app_id}/sandbox/{played.user.public_id}/"


def move_clock(stage: Stage) -> Scene:
    played, here = _played(stage)
    asked = ConsentRequestFactory(user=played.user, app=played.app)

    def done() -> bool:
        asked.refresh_from_db()
        return asked.status == "expired"

    days = {"seconds": str(30 * 86400)}
    return Scene(f"{here}clock/", here, "You asked to move the clock of Ada.", done, days)


def delete_sandbox_person(stage: Stage) -> Scene:
    _, here = _played(stage)
    says = "You asked to delete the sandbox person Ada."
    return Scene(f"{here}delete/", here, says, lambda: not SandboxPerson.objects.exists())


def _team(stage: Stage, role: str = "owner") -> tuple[AppMember, AppMember, str]:
    """The person's membership, an owner beside them, and the page of their team."""
    own = MemberFactory(app=TestAppFactory(name="Lunch Finder"), user=stage.person, role=role)
    return own, MemberFactory(app=own.app), f"/developers/apps/{own.app.app_id}/members/"


def invite(stage: Stage) -> Scene:
    page = _team(stage)[2]
    says, typed = "You asked to invite somebody to the team of Lunch Finder.", {"email": "new@example.org"}
    done = AppInvitation.objects.filter(email="new@example.org").exists
    return Scene(f"{page}invite/", page, says, done, {**typed, "role": "member"}, "new@example.org")


def of_invitation(act: str, says: str, field_name: str) -> Make:
    def make(stage: Stage) -> Scene:
        own, _, page = _team(stage)
        at = None if act == "withdraw" else now()
        made = AppInvitationFactory(app=own.app, email="new@example.org", invited_by=own.user, mailed_at=at)

        def done() -> bool:
            value = getattr(AppInvitation.objects.get(pk=made.pk), field_name)
            return (value is None) == (act == "send")

        return Scene(f"/developers/apps/{own.app.app_id}/invitations/{made.pk}/{act}/", page, says, done)

    return make


def of_member(act: str, says: str, becomes: str, **typed: str) -> Make:
    def make(stage: Stage) -> Scene:
        _, other, page = _team(stage)
        AppMember.objects.filter(pk=other.pk).update(role="owner" if act != "transfer" else "member")

        def done() -> bool:
            found = AppMember.objects.filter(pk=other.pk).first()
            return (found.role if found else "") == becomes

        asked = says % {"who": other.user.email}
        return Scene(f"{page}{other.user.public_id}/{act}/", page, asked, done, typed)

    return make


def leave_team(stage: Stage) -> Scene:
    own, _, page = _team(stage)

    def done() -> bool:
        return not AppMember.objects.filter(pk=own.pk).exists()

    return Scene(f"{page}leave/", page, "You asked to leave the team of Lunch Finder.", done)


def agree_to_tests(stage: Stage) -> Scene:
    own, _, page = _team(stage)

    def done() -> bool:
        return AppMember.objects.get(pk=own.pk).agreed_to_tests_at is not None

    says = "You asked to let Lunch Finder ask you, as a test."
    return Scene(f"{page}tests/", page, says, done, {"agreed": "yes"})


def accept_invitation(stage: Stage) -> Scene:
    EmailAddress.objects.update_or_create(
        user=stage.person, email=stage.person.email, defaults={"verified": True, "primary": True}
    )
    made = AppInvitationFactory(app=TestAppFactory(name="Lunch Finder"), email=stage.person.email)

    def done() -> bool:
        return AppMember.objects.filter(app=made.app, user=stage.person).exists()

    path = f"/developers/invitations/{made.secret}/"
    return Scene(path, path, "You asked to join the team of Lunch Finder.", done)


SCENES: dict[str, Make] = {
    "portal:make-sandbox-person": make_sandbox_person,
    "portal:sandbox-clock": move_clock,
    "portal:delete-sandbox-person": delete_sandbox_person,
    "consent:deny": deny,
    "consent:stop": grant_move("stop", "revoked"),
    "consent:pause": grant_move("pause", "paused"),
    "consent:resume": grant_move("resume", "active", "paused"),
    "consent:keep": keep,
    "consent:block": block,
    "consent:stop-everything": stop_everything,
    "consent:unblock": unblock,
    "consent:report": report,
    "consent:verify-history": verify_history,
    "vault:discovery": discovery,
    "vault:setup-done": setup_done,
    "wrapper-remove": remove_wrapper,
    "wrapper-restore": restore_wrapper,
    "profile:home": analysis,
    "profile:cancel": cancel,
    "profile:retry": retry,
    "profile:delete": delete_run,
    "profile:activate": activate,
    "processing:consent": agree,
    "processing:withdraw": withdraw,
    "numbers:numbers": number,
    "numbers:code": code,
    "numbers:forget": forget,
    "financial:link": link,
    "financial:refresh": refresh,
    "financial:remove": remove_item,
    "developers:make-test-app": make_test_app,
    "developers:tokens": mint_token,
    "developers:token-rotate": rotate_token,
    "developers:token-revoke": revoke_token,
    "developers:management-tokens": mint_management_token,
    "developers:management-token-revoke": revoke_management_token,
    "developers:settings": rename_app,
    "developers:close": close_app,
    "developers:invite": invite,
    "developers:resend-invitation": of_invitation(
        "send", "You asked to send the invitation to new@example.org once more.", "mailed_at"
    ),
    "developers:withdraw-invitation": of_invitation(
        "withdraw", "You asked to withdraw the invitation to new@example.org.", "withdrawn_at"
    ),
    "developers:change-role": of_member(
        "role", "You asked to change the role of %(who)s in Lunch Finder.", "member", role="member"
    ),
    "developers:transfer-app": of_member("transfer", "You asked to hand Lunch Finder over to %(who)s.", "owner"),
    "developers:remove-member": of_member("remove", "You asked to remove %(who)s from the team of Lunch Finder.", ""),
    "developers:leave-team": leave_team,
    "developers:agree-to-tests": agree_to_tests,
    "developers:invitation": accept_invitation,
}
