"""How primitives scale over devices: strong and weak scaling, partitioners, ids, memory schemes.

The route: families (which graphs), plan (which runs), cases (a graph and what is asked of it),
measure (in turn), findings (what was found), relative (against a base), tables and plots.

References
----------
Pan, Wang, Wu, Yang, Owens: Multi-GPU graph analytics (IPDPS 2017), section 5.
"""

from broadfront.scaling.findings import Findings, Row, load
from broadfront.scaling.measure import Study, study
from broadfront.scaling.plan import Settings

__all__ = ["Findings", "Row", "Settings", "Study", "load", "study"]
