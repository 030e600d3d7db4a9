"""Keys that apps asked with before belong to whoever asked with them first."""

from itertools import islice
from typing import Any

from django.db import migrations
from django.db.models import Min


def claim(apps: Any, schema_editor: Any) -> None:
    alias = schema_editor.connection.alias
    request, key = apps.get_model("consent", "ConsentRequest"), apps.get_model("consent", "ConnectorKey")
    requests = request.objects.using(alias).order_by()
    first = requests.values("connector_thumbprint").annotate(first=Min("pk")).values("first")
    rows = requests.filter(pk__in=first).values_list("app_id", "connector_thumbprint").iterator(5_000)
    made = (key(app_id=app_pk, thumbprint=thumbprint) for app_pk, thumbprint in rows)
    while some := list(islice(made, 5_000)):
        key.objects.using(alias).bulk_create(some, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("consent", "0005_connector_keys")]

    operations = [migrations.RunPython(claim, migrations.RunPython.noop)]
