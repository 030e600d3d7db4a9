"""What consent to processing tells the features above it, which it cannot import.

`consent_withdrawn(consent_pk)`: the person withdraws this consent; sent inside the transaction, before the row says so,
so that whoever locks what hangs on it locks that first, as the worker does.
"""

from django.dispatch import Signal

consent_withdrawn = Signal()
