"""The try-it console of a test app: real calls of the API, made by the server for a member of the team.

A developer token must not travel through a browser (contract 1.1). So the page sends what to call, under its session
and with its form's token, and the server makes the call itself, with a token that nobody sees and that ends with it.
"""
