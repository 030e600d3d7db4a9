"""The one way in for programs: the developers' REST, the tools, the agents and the owner's own addresses.

Every JSON address is a REST framework view, and each check of contract 1.1 stands at the seam that the framework has
for it. `views.JSONView.initial` makes them in the contract's order:

    path            the URL configuration
    method          `http_method_names` of the view
    browser, token  its `authentication_classes`; a session with its CSRF token likewise
    suspension      its `permission_classes`
    permission      likewise, in their order
    media type      `parsers.JSONNegotiation`
    size            `requests.JSONRequest.check_size`, up to the view's `body_limit`
    limits          its `throttle_classes`
    query           `queries`; a handler reads its members with `self.query(Model)`
    body            `parsers.StrictJSONParser`; a handler reads it with `self.body(Model)`

What is refused is raised as a `common.problems.Problem` and rendered by `exceptions.handle_exception`.
"""
