"""What goes on around the decisions: time, staff, the worker, and what the person keeps and shows."""

from hypothesis import strategies as st

from consent.decisions.expiry import write_down_expiry
from consent.exports.read_batches import chain_pending_reads
from consent.grants.models import Grant
from consent.log.sequencing import sequence_and_sign
from pkm.registry.models import ScopeEntry
from tests.lifecycle.decisions import Deciding, Reading
from tests.lifecycle.machine import CUISINE, EMAIL, FOOD, LIFESTYLE, MONEY, Acting, Asking, act, apps, granted, ordinals
from tests.lifecycle.records import Answer, same
from tests.lifecycle.stage import HOLDINGS
from tests.lifecycle.transport import Caller, submit


class Around(Acting):
    """Everybody else."""

    @act(3, seconds=st.sampled_from([1, 1, 60, 60, 299, 300, 301, 600, 3599, 3600, 86401]))
    def wait(self, seconds: int) -> None:
        self.stage.advance(seconds)

    @act(1)
    def sign_in(self) -> None:
        self.stage.sign_in()

    @act(2, task=st.sampled_from(["expiry", "expiry", "reads", "checkpoint"]))
    def let_the_worker_work(self, task: str) -> None:
        if task == "expiry":
            same(self.world.write_down_expiry(), write_down_expiry())
        elif task == "reads":
            same(self.world.chain_reads(), chain_pending_reads())
        else:
            sequence_and_sign()

    @act(1, granted, number=ordinals)
    def staff_end_a_grant(self, number: int) -> None:
        request = self.choose(number, granted=True)
        assert request is not None
        assert request.grant is not None
        self.world.terminate(request)
        grant_pk = Grant.objects.get(grant_id=str(request.grant.grant_id)).pk
        self._at_the_admin("/admin/consent/grant/", action="end", _selected_action=grant_pk, reason="Terms were broken")

    @act(1, scope=st.sampled_from([FOOD, EMAIL, LIFESTYLE]), exposed=st.booleans())
    def staff_change_the_registry(self, scope: str, exposed: bool) -> None:
        """Withdrawn, what waits on it is cancelled; what was approved stays approved."""
        if exposed:
            self.world.withdrawn.discard(scope)
        else:
            self.world.withdraw(scope)
        entry_pk = ScopeEntry.objects.get(scope=scope).pk
        action = "expose" if exposed else "withdraw"
        self._at_the_admin("/admin/pkm/scopeentry/", action=action, _selected_action=entry_pk, confirmed="yes")

    def _at_the_admin(self, path: str, **fields: object) -> None:
        # signed in anew each time: a change takes a second factor of the last ten minutes, and time passes here
        found = submit(self.transport, Caller.staff(self.stage.staff), path, fields)
        assert found.status == 302, found.body[:2000]

    @act(1, app=apps, blocked=st.sampled_from([False, False, True]), stranger=st.sampled_from([False, False, True]))
    def block(self, app: int, blocked: bool, stranger: bool) -> None:
        """Only of an app that they met or that knows them, so that nobody learns which there are."""
        app_id, verb = self.app_id(app), "block" if blocked else "unblock"
        caller = self.stage.strange_session if stranger else self.stage.session
        wanted = 404 if stranger else self.world.block(app_id) if blocked else self.world.unblock(app_id)
        same(wanted, submit(self.transport, caller, f"/consent/apps/{app_id}/{verb}/", {}).status)

    @act(1, scope=st.sampled_from([FOOD, CUISINE, LIFESTYLE, MONEY]), hidden=st.sampled_from([False, False, True]))
    def hide(self, scope: str, hidden: bool) -> None:
        if hidden:
            self.world.hidden.add(scope)
        else:
            self.world.hidden.discard(scope)
        self.agree(Answer(204), self.act("PUT" if hidden else "DELETE", f"/vault/hidden-scopes/{scope}"))

    @act(2, place=st.sampled_from(list(HOLDINGS)), value=st.sampled_from(["Korean", "Nothing in particular"]))
    def edit(self, place: tuple[str, str], value: str) -> None:
        """A new revision; what was deleted comes back."""
        kept = self.world.segments[place]
        first = next(iter(HOLDINGS[place]))
        values = {**HOLDINGS[place], **(kept.values or {}), first: value}
        body = {
            "jwe": self.stage.seal_segment(place, values, kept.revision + 1),
            "base_content_revision": kept.revision,
            "attributes": list(values),
        }
        found = self.act("PUT", f"/vault/segments/{place[0]}/{place[1]}", body)
        kept.values, kept.revision = values, kept.revision + 1
        same((200, kept.revision), (found.status, found.json()["content_revision"]))

    @act(1, place=st.sampled_from([("contact", "email"), ("lifestyle", "fitness")]))
    def delete(self, place: tuple[str, str]) -> None:
        kept = self.world.segments[place]
        if kept.values is None:
            return
        path = f"/vault/segments/{place[0]}/{place[1]}?base_content_revision={kept.revision}"
        found = self.act("DELETE", path)
        kept.values, kept.revision = None, kept.revision + 1
        assert found.status == 200, found.body


class Lifecycle(Asking, Deciding, Reading, Around):
    """All of it."""
