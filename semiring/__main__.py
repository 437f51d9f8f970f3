"""`python -m semiring` is the command `semiring`."""

import sys

from .cli import main

sys.exit(main())
