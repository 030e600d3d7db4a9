"""What a middleware notes on a request for those behind it: keys of `request.META`."""

QUERY_CLEANED = "consent.token_taken_out"  # a developer token stood in the query, which no longer shows it
