"""What all tests share: Hypothesis without deadlines, for a busy machine is not a failure."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("envscaler", deadline=None, print_blob=True)
settings.load_profile("envscaler")
