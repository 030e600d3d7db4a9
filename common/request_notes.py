"""What a middleware or a view notes on a request for those that see its answer: keys of `request.META`."""

QUERY_CLEANED = "consent.token_taken_out"  # a developer token stood in the query, which no longer shows it
PROBLEM_CODE = "consent.problem_code"  # of the refusal that this request was answered with
OPERATION = "consent.operation"  # what a message asks for, where one address takes messages of many kinds
ROUTE = "consent.route"  # of an answered request: method, route and status
