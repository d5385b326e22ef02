"""What graph programs do to a machine, in three models, and five searches beside them.

The route: cases (which graphs, and what is asked of them), vertex_programs and products (primitives
in two models), ways (each primitive in each model), searches (those of Graph500), measure (in
turn), findings (what was found), tables and plots, page (all of it to read).

References
----------
Wu, Wang, Pan, Yang, Owens: Performance characterization of high-level programming models for GPU
graph analytics (IISWC 2015).
"""

from broadfront.characterize.findings import Findings, Row
from broadfront.characterize.measure import Settings, Study, study

__all__ = ["Findings", "Row", "Settings", "Study", "study"]
