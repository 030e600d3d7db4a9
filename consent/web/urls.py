"""The consent app: pages end in a slash, the owner's JSON addresses do not."""

from django.urls import path
from django.views.i18n import JSONCatalog

from consent.web import apps_met, history_files, receipts, views
from consent.web import owner_api as web_owner_api

app_name = "consent"

urlpatterns = [
    path("", views.home, name="home"),
    path("jsi18n/", JSONCatalog.as_view(), name="js-catalogue"),
    path("consent/", views.inbox, name="inbox"),
    path("consent/requests/<str:request_id>/", views.review, name="review"),
    path("consent/requests/<str:request_id>/deny/", views.deny, name="deny"),
    path("consent/grants/", views.grants, name="grants"),
    path("consent/grants/<str:grant_id>/stop/", views.stop, name="stop"),
    path("consent/grants/<str:grant_id>/pause/", views.pause, name="pause"),
    path("consent/grants/<str:grant_id>/keep/", apps_met.switch_refresh, name="keep"),
    path("consent/apps/<str:app_id>/", apps_met.app, name="app"),
    path("consent/apps/<str:app_id>/block/", apps_met.block, name="block"),
    path("consent/apps/<str:app_id>/stop/", apps_met.stop_everything, name="stop-everything"),
    path("consent/apps/<str:app_id>/unblock/", apps_met.unblock, name="unblock"),
    path("consent/apps/<str:app_id>/report/", apps_met.report, name="report"),
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
