"""Where everything is."""

from django.contrib import admin
from django.urls import include, path

from config.health import livez, readyz, status_page

handler400 = "config.error_answers.bad_request"
handler404 = "config.error_answers.page_not_found"
handler500 = "config.error_answers.server_error"

urlpatterns = [
    path("livez", livez),
    path("readyz", readyz),
    path("status/", status_page, name="status"),
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("", include("pkm.urls")),
    path("", include("consent.urls")),
    path("", include("agents_proxy.urls")),
    path("", include("portal.urls")),
]
