"""What all tests have in common."""

import os

# No folder can be there: what a test compiles is compiled, and nothing goes to the user's cache. Tests of the cache
# name a folder of their own.
os.environ["XDG_CACHE_HOME"] = "/dev/null"
