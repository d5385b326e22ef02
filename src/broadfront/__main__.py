"""``python -m broadfront`` is the command ``broadfront``."""

import sys

from broadfront.cli.main import main

sys.exit(main())
