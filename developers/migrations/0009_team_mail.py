from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("developers", "0008_tell_members")]

    operations = [
        migrations.AddField("appmember", "mail_due", models.BooleanField(default=False)),
        migrations.AddField("appmember", "shows_email", models.BooleanField(default=True)),
        migrations.AddField("appinvitation", "mailed_at", models.DateTimeField(blank=True, null=True)),
    ]
