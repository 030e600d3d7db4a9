from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="securitychange",
            name="security_change_kind",
        ),
        migrations.AlterField(
            model_name="securitychange",
            name="kind",
            field=models.CharField(
                choices=[
                    ("password_changed", "Password Changed"),
                    ("password_set", "Password Set"),
                    ("password_reset", "Password Reset"),
                    ("email_changed", "Email Changed"),
                    ("email_deleted", "Email Deleted"),
                    ("totp_activated", "Totp Activated"),
                    ("totp_deactivated", "Totp Deactivated"),
                    ("recovery_codes_generated", "Recovery Codes Generated"),
                    ("webauthn_added", "Webauthn Added"),
                    ("webauthn_removed", "Webauthn Removed"),
                    ("wrapper_added", "Wrapper Added"),
                    ("wrapper_removed", "Wrapper Removed"),
                    ("wrapper_restored", "Wrapper Restored"),
                    ("key_change_begun", "Key Change Begun"),
                    ("key_change_finished", "Key Change Finished"),
                    ("key_change_given_up", "Key Change Given Up"),
                    ("signing_key_set", "Signing Key Set"),
                    ("signing_key_replaced", "Signing Key Replaced"),
                    ("app_token_made", "App Token Made"),
                    ("app_secret_made", "App Secret Made"),
                    ("app_team_changed", "App Team Changed"),
                    ("app_closed", "App Closed"),
                    ("management_token_made", "Management Token Made"),
                    ("management_tokens_revoked", "Management Tokens Revoked"),
                ],
                max_length=32,
            ),
        ),
        migrations.AddConstraint(
            model_name="securitychange",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "password_changed",
                            "password_set",
                            "password_reset",
                            "email_changed",
                            "email_deleted",
                            "totp_activated",
                            "totp_deactivated",
                            "recovery_codes_generated",
                            "webauthn_added",
                            "webauthn_removed",
                            "wrapper_added",
                            "wrapper_removed",
                            "wrapper_restored",
                            "key_change_begun",
                            "key_change_finished",
                            "key_change_given_up",
                            "signing_key_set",
                            "signing_key_replaced",
                            "app_token_made",
                            "app_secret_made",
                            "app_team_changed",
                            "app_closed",
                            "management_token_made",
                            "management_tokens_revoked",
                        ],
                    )
                ),
                name="security_change_kind",
            ),
        ),
    ]
