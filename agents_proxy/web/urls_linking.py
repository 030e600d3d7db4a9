"""The pages of phone numbers and linked institutions, below `/profile/`."""

from django.urls import include, path

from agents_proxy.web import financial, numbers

_numbers = (
    [
        path("", numbers.numbers, name="numbers"),
        path("<int:number_pk>/code/", numbers.code, name="code"),
        path("<int:number_pk>/forget/", numbers.forget, name="forget"),
    ],
    "numbers",
)
_financial = (
    [
        path("", financial.institutions, name="institutions"),
        path("link/", financial.link, name="link"),
        path("linked/", financial.linked, name="linked"),
        path("links/<str:link_id>/", financial.go_on, name="go_on"),
        path("<str:item_id>/refresh/", financial.refresh, name="refresh"),
        path("<str:item_id>/remove/", financial.remove, name="remove"),
    ],
    "financial",
)

urlpatterns = [path("numbers/", include(_numbers)), path("financial/", include(_financial))]
