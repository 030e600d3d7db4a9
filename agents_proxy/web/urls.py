"""The pages of analyses, below `/profile/`."""

from django.urls import include, path, re_path

from agents_proxy.web import views

_ID = r"^(?P<analysis_id>ana_[a-z2-7]{10,60})/"

_pages = (
    [
        path("", views.home, name="home"),
        re_path(_ID + r"$", views.run, name="run"),
        re_path(_ID + r"raw/$", views.raw, name="raw"),
        re_path(_ID + r"cancel/$", views.cancel, name="cancel"),
        re_path(_ID + r"retry/(?P<agent>[a-z-]{1,32})/$", views.retry, name="retry"),
        re_path(_ID + r"delete/$", views.delete, name="delete"),
        re_path(_ID + r"brand-affinity\.(?P<form>json|csv)$", views.crm, name="crm"),
        re_path(_ID + r"activate/$", views.activate, name="activate"),
    ],
    "profile",
)

urlpatterns = [path("", include(_pages))]
