import base64

from django.db import migrations, models

from common.sql.triggers import Rule, take_off

_BATCH = 500
_BEHIND = ',"audit":'  # the last member of both copies, by which they differ


def share(apps, schema_editor):
    """Keep once what both copies say, as it was signed; refuses a receipt that would not read the same afterwards."""
    for row in _rows(apps, schema_editor):
        if not _shares(row):
            raise ValueError(
                f"The receipt {row.receipt_id} is not one that this service signed: its copies say different things or "
                "say them in another form. Nothing was changed. Compare it with a backup, or ask whoever wrote it."
            )
        row.jws = row.app_jws = ""
        row.save()


def _shares(row):
    try:
        head, payload, row.signature = row.jws.split(".")
        app_payload, row.app_signature = row.app_jws.split(".")[1:]
        row.kid = _text(head).rpartition('"kid":"')[2].removesuffix('"}')
        claims, _, audit = _text(payload).rpartition(_BEHIND)
        app_audit = _text(app_payload).rpartition(_BEHIND)[2]
    except ValueError:  # no JWS, no base64url, no UTF-8
        return False
    row.claims, row.audit, row.app_audit = f"{claims}}}", audit[:-1], app_audit[:-1]
    fits = (len(row.kid), len(row.signature), len(row.app_signature)) == (43, 86, 86)
    return fits and _copies(row) == (row.jws, row.app_jws)


def part(apps, schema_editor):
    """Two whole copies again."""
    for row in _rows(apps, schema_editor):
        row.jws, row.app_jws = _copies(row)
        row.save()


def _rows(apps, schema_editor):
    database = schema_editor.connection
    take_off(database, Rule("consent_receipts", "no_update", "UPDATE", ""))
    receipts, last = apps.get_model("consent", "Receipt").objects.using(database.alias).order_by("pk"), 0
    while rows := list(receipts.filter(pk__gt=last)[:_BATCH]):
        yield from rows
        last = rows[-1].pk


def _copies(row):
    header = _base64url(f'{{"alg":"EdDSA","typ":"consent-receipt+jwt","kid":"{row.kid}"}}')
    return tuple(
        f"{header}.{_base64url(f'{row.claims[:-1]}{_BEHIND}{audit}}}')}.{signature}"
        for audit, signature in ((row.audit, row.signature), (row.app_audit, row.app_signature))
    )


def _text(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()


def _base64url(text):
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _added(name, field):
    return migrations.AddField("receipt", name, field, preserve_default=False)


class Migration(migrations.Migration):
    dependencies = [
        ("consent", "0018_accepted_answers"),
    ]

    operations = [
        # the default fills them on the way back, before `part` does
        migrations.AlterField("receipt", "jws", models.TextField(default="")),
        migrations.AlterField("receipt", "app_jws", models.TextField(default="")),
        _added("kid", models.CharField(default="", max_length=43)),
        _added("claims", models.TextField(default="")),
        _added("audit", models.TextField(default="")),
        _added("app_audit", models.TextField(default="")),
        _added("signature", models.CharField(default="", max_length=86)),
        _added("app_signature", models.CharField(default="", max_length=86)),
        migrations.RunPython(share, part),
        migrations.RemoveField("receipt", "jws"),
        migrations.RemoveField("receipt", "app_jws"),
    ]
