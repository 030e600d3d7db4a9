"""OAuth 2.1 for hosts that cannot keep a developer token (contract 7): who they are, and what they were allowed.

What a host was allowed is a row of `developer_tokens` of the app that it acts as, so that permissions, suspension, the
log of requests and revoking are those of every other token. Its codes, access and refresh tokens lead to that row.
"""
