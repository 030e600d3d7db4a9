"""The release before bears what a migration does: during an upgrade it serves, and writes, on the tables of the next.

A migration is one transaction on PostgreSQL. One that alters two tables holds the first while it waits for the second,
and whoever reads both in another order is the other half of a deadlock. Most likely two of 775 calls were refused so.

`./run bench releases` tries that with two releases. This looks at each operation, before anything has landed: what goes
away must have gone from the code a release earlier, and what is new must be fillable by who does not know of it.
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import pytest
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

# the last of each room in 0.1.0, before which there was no release
BASELINE = {"accounts": 5, "agents_proxy": 1, "common": 1, "consent": 8, "developers": 6, "pkm": 3}
# (room, migration): why the release before bears what is found in it all the same
BORNE: dict[tuple[str, str], str] = {
    (
        "agents_proxy",
        "0002_consents_name_their_subject",
    ): "it gives consents that name nobody, under which nothing is asked, and withdraws without a reason",
    (
        "agents_proxy",
        "0005_replies_read_and_questions",
    ): "what its constraints take is what they took before, and more",
    ("developers", "0007_tokens_of_hosts"): "its tokens are no host's, which the constraint takes",
    ("developers", "0008_personal_apps"): "what its constraints take is what they took before, and more",
    ("agents_proxy", "0006_failures_by_kind"): "the new constraint takes all that the old one took, and more",
    ("agents_proxy", "0008_banks_say_what_changed"): "it leaves the column that is constrained to its default",
    (
        "agents_proxy",
        "0009_several_visits_to_a_bank",
    ): "the column is the same without its unique index, and it makes one visit for an item",
    (
        "consent",
        "0019_receipts_share_claims",
    ): "no release came before it; a server from before grants nothing meanwhile, and its ends wait in audit_pending",
    ("consent", "0024_required_because"): "its code runs on the way back alone",
    **{
        ("consent", name): "the constraint takes what the unique index took"
        for name in (
            "0020_one_index_of_receipt_ids", "0021_one_index_of_export_ids", "0022_one_index_of_grant_ids",
            "0023_one_index_of_request_ids",
        )
    },
}  # fmt: skip
GOES = (
    migrations.RemoveField, migrations.RenameField, migrations.DeleteModel, migrations.RenameModel,
    migrations.AlterModelTable, migrations.AlterModelTableComment,
)  # fmt: skip
UNSEEN = (migrations.RunPython, migrations.RunSQL)
REFUSES = (migrations.AddConstraint, migrations.AlterUniqueTogether)


def unborne(operation: Any, state: ProjectState, app: str, made: set[str]) -> Iterator[str]:
    """What the release before cannot bear. `state` is from before it, `made` are models of this upgrade."""
    name = type(operation).__name__
    model = str(getattr(operation, "model_name", "") or getattr(operation, "name", "") or "").lower()
    if isinstance(operation, migrations.SeparateDatabaseAndState):
        for part in (*operation.database_operations, *operation.state_operations):
            yield from unborne(part, state, app, made)
    elif isinstance(operation, migrations.CreateModel):
        made.add(operation.name.lower())
    elif isinstance(operation, UNSEEN):
        yield f"{name}: nothing can be seen of what it does"
    elif model in made:
        return
    elif isinstance(operation, GOES):
        yield f"{name} {model}: the release before uses it"
    elif isinstance(operation, REFUSES):
        yield f"{name} {model}: it may refuse what the release before writes"
    elif isinstance(operation, migrations.AddField) and not _fillable(operation.field):
        yield f"AddField {model}.{operation.name}: who does not know of it leaves it empty; give it a db_default"
    elif isinstance(operation, migrations.AlterField):
        before = state.models[app, model].fields[operation.name]
        yield from (f"AlterField {model}.{operation.name}: {what}" for what in _narrower(before, operation.field))


def _fillable(field: Any) -> bool:
    return field.null or field.many_to_many or field.db_default is not NOT_PROVIDED


def _narrower(before: Any, after: Any) -> Iterator[str]:
    if before.get_internal_type() != after.get_internal_type() or before.db_column != after.db_column:
        yield "it is another column"
    if before.null and not after.null:
        yield "it takes no NULL any more"
    if (after.max_length or inf) < (before.max_length or inf):
        yield "it takes less"
    if after.unique and not before.unique:
        yield "it takes nothing twice"
    if before.db_default is not NOT_PROVIDED and after.db_default is NOT_PROVIDED:
        yield "it is not filled any more"


def found_in(loader: MigrationLoader) -> dict[tuple[str, str], list[str]]:
    """Of each migration since the baseline, what the release before does not bear."""
    found: dict[tuple[str, str], list[str]] = {}
    made: set[str] = set()
    for app, name in sorted(loader.graph.nodes):  # what makes a table comes before what alters it
        if app not in BASELINE or int(name[:4]) <= BASELINE[app]:
            continue
        state = loader.project_state((app, name), at_end=False)
        operations = loader.graph.nodes[app, name].operations
        for operation in operations:
            found.setdefault((app, name), []).extend(unborne(operation, state, app, made))
            operation.state_forwards(app, state)
        if len(tables := altered(operations) - made) > 1:
            found[app, name].append(
                f"{' and '.join(sorted(tables))} are altered together: give each a migration of its own"
            )
    return found


def altered(operations: Sequence[Any]) -> set[str]:
    """The models whose tables are locked until the migration is over."""
    return {operation.model_name.lower() for operation in operations if hasattr(operation, "model_name")}


def test_the_release_before_bears_every_migration() -> None:
    found = found_in(MigrationLoader(None, ignore_no_migrations=True))

    assert {migration: what for migration, what in found.items() if what and migration not in BORNE} == {}
    assert {migration for migration in BORNE if not found.get(migration)} == set()


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (migrations.RemoveField("grant", "resume_nonce"), "uses it"),
        (migrations.RenameField("grant", "resume_nonce", "nonce"), "uses it"),
        (migrations.DeleteModel("Grant"), "uses it"),
        (migrations.RenameModel("Grant", "Permit"), "uses it"),
        (migrations.AddField("grant", "mark", models.TextField(default="")), "give it a db_default"),
        (migrations.AddField("grant", "mark", models.TextField(db_default="")), None),
        (migrations.AddField("grant", "mark", models.TextField(null=True)), None),
        (migrations.AlterField("grant", "resume_nonce", models.CharField(max_length=9, db_default="")), "takes less"),
        (migrations.AlterField("grant", "resume_nonce", models.CharField(max_length=43)), "not filled"),
        (migrations.AlterField("grant", "resume_nonce", models.TextField(db_default="")), "another column"),
        (migrations.AlterField("grant", "resume_nonce", models.CharField(max_length=99, db_default="")), None),
        (migrations.AlterField("grant", "resume_nonce_until", models.DateTimeField()), "no NULL"),
        (migrations.AddConstraint("grant", models.UniqueConstraint(fields=["user"], name="once")), "may refuse"),
        (migrations.RunSQL("SELECT 1"), "nothing can be seen"),
        (migrations.SeparateDatabaseAndState([migrations.RunSQL("SELECT 1")]), "nothing can be seen"),
        (migrations.AddIndex("grant", models.Index(fields=["user"], name="by_user")), None),
    ],
)  # fmt: skip
def test_what_the_release_before_does_not_bear_is_found(operation: Any, expected: str | None) -> None:
    state = MigrationLoader(None, ignore_no_migrations=True).project_state()

    found = list(unborne(operation, state, "consent", set()))

    assert [expected in each for each in found] == ([True] if expected else [])


def test_tables_that_are_altered_together_are_found() -> None:
    a_column = models.BooleanField(db_default=False)
    operations = [
        migrations.AddField("Grant", "mark", a_column),
        migrations.AddField("consentrequest", "mark", a_column),
        migrations.AddIndex("grant", models.Index(fields=["mark"], name="marked")),
        migrations.CreateModel("Mark", [("id", models.AutoField(primary_key=True))]),
    ]

    assert altered(operations) == {"grant", "consentrequest"}


def test_a_table_of_this_upgrade_is_nobodys_yet() -> None:
    made: set[str] = set()
    operations = [
        migrations.CreateModel("Mark", [("id", models.AutoField(primary_key=True))]),
        migrations.AddField("mark", "text", models.TextField()),
    ]

    assert [what for operation in operations for what in unborne(operation, ProjectState(), "consent", made)] == []
