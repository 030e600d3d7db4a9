"""The consent app: pages end in a slash, the owner's JSON addresses do not."""

from django.urls import path
from django.views.i18n import JSONCatalog

from consent.web import alerts, apps, connecting, history_files, hosts, inbox, installed, receipts, views
from consent.web import owner_api as web_owner_api

app_name = "consent"

urlpatterns = [
    path("", views.home, name="home"),
    path("jsi18n/", JSONCatalog.as_view(), name="js-catalogue"),
    path("manifest.webmanifest", installed.manifest, name="manifest"),
    path("service-worker.js", installed.service_worker, name="service-worker"),
    path("offline/", installed.offline, name="offline"),
    path("consent/", views.overview, name="overview"),
    path("consent/inbox/", inbox.inbox, name="inbox"),
    path("consent/inbox/deny/", inbox.deny_several, name="deny-several"),
    path("consent/inbox/news", web_owner_api.InboxNewsView.as_view()),
    path("consent/pause/", apps.pause_everything, name="pause-everything"),
    path("consent/alerts/", alerts.alerts, name="alerts"),
    path("consent/alerts/devices/stop/", alerts.stop_devices, name="stop-devices"),
    path("consent/requests/<str:request_id>/", views.review, name="review"),
    path("consent/requests/<str:request_id>/deny/", views.deny, name="deny"),
    path("consent/grants/", apps.grants, name="grants"),
    path("consent/requests/<str:request_id>/return/", connecting.return_after_request, name="return"),
    path("connect/", connecting.connect, name="connect"),
    path("connect/<str:connection_id>/", connecting.connection, name="connection"),
    path("consent/grants/<str:grant_id>/stop/", views.stop, name="stop"),
    path("consent/grants/<str:grant_id>/pause/", views.pause, name="pause"),
    path("consent/grants/<str:grant_id>/keep/", apps.switch_refresh, name="keep"),
    path("consent/grants/<str:grant_id>/keep-unused/", apps.keep_unused, name="keep-unused"),
    path("consent/apps/", apps.apps, name="apps"),
    path("consent/apps/unused/", apps.choose_unused, name="choose-unused"),
    path("consent/apps/<str:app_id>/", apps.app, name="app"),
    path("consent/apps/<str:app_id>/pause/", apps.pause_app, name="pause-app"),
    path("consent/apps/<str:app_id>/block/", apps.block, name="block"),
    path("consent/apps/<str:app_id>/stop/", apps.stop_everything, name="stop-everything"),
    path("consent/apps/<str:app_id>/disconnect/", apps.disconnect, name="disconnect"),
    path("consent/apps/<str:app_id>/unblock/", apps.unblock, name="unblock"),
    path("consent/apps/<str:app_id>/report/", apps.report, name="report"),
    path("oauth/authorize/", hosts.authorize, name="authorize"),
    path("consent/hosts/<str:prefix>/stop/", hosts.stop, name="stop-host"),
    path("consent/history/", views.history, name="history"),
    path("consent/history/verify/", views.verify_history, name="verify-history"),
    path("consent/history/file/", history_files.history_file, name="history-file"),
    path("consent/receipts/<str:receipt_id>/", receipts.receipt, name="receipt"),
    path("consent/receipts/<str:receipt_id>/download/", receipts.download, name="receipt-file"),
    path("consent/receipts/<str:receipt_id>/linked-data/", receipts.linked_data, name="receipt-linked-data"),
    path("consent/verify/", receipts.verify, name="verify"),
    path("consent/history/chain", web_owner_api.ChainView.as_view()),
    path("consent/requests/<str:request_id>/data", web_owner_api.RequestDataView.as_view()),
    path("consent/requests/<str:request_id>/decision", web_owner_api.DecisionView.as_view()),
    path("consent/grants/outdated", web_owner_api.OutdatedCopiesView.as_view()),
    path("consent/grants/<str:grant_id>/revoke", web_owner_api.GrantMoveView.as_view(move="revoke")),
    path("consent/grants/<str:grant_id>/pause", web_owner_api.GrantMoveView.as_view(move="pause")),
    path("consent/grants/<str:grant_id>/resume", web_owner_api.ResumeView.as_view()),
    path("consent/grants/<str:grant_id>/nonce", web_owner_api.GrantNonceView.as_view()),
    path("consent/grants/<str:grant_id>/approval", web_owner_api.StandingApprovalView.as_view()),
    path("consent/approval-keys", web_owner_api.ApprovalKeysView.as_view()),
    path("consent/grants/<str:grant_id>/export", web_owner_api.GrantExportView.as_view()),
]
