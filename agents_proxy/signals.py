"""What consent to processing tells the features above it, which it cannot import.

`consent_withdrawn(consent_pk)`: the person withdraws this consent; sent inside the transaction, before the row says so,
so that whoever locks what hangs on it locks that first, as the worker does.
`profile_corrected(run, before)`: an analysis says something else than `before`, the profile that it had, since its
person corrected it; sent inside the transaction. Each receiver answers with the names of those who got `before` and may
be told of what stands now under a new consent alone.
"""

from django.dispatch import Signal

consent_withdrawn = Signal()
profile_corrected = Signal()
