"""Linear algebra over semirings: a graph is a sparse matrix, a frontier a sparse vector."""

from broadfront.models.semiring.masked import mxm as mxm
from broadfront.models.semiring.product import mxv as mxv
from broadfront.models.semiring.product import vxm as vxm
from broadfront.models.semiring.rings import Semiring as Semiring
from broadfront.models.semiring.rings import any_first as any_first
from broadfront.models.semiring.rings import any_pair as any_pair
from broadfront.models.semiring.rings import max_min as max_min
from broadfront.models.semiring.rings import max_plus as max_plus
from broadfront.models.semiring.rings import min_first as min_first
from broadfront.models.semiring.rings import min_plus as min_plus
from broadfront.models.semiring.rings import min_second as min_second
from broadfront.models.semiring.rings import or_and as or_and
from broadfront.models.semiring.rings import plus_first as plus_first
from broadfront.models.semiring.rings import plus_pair as plus_pair
from broadfront.models.semiring.rings import plus_second as plus_second
from broadfront.models.semiring.rings import plus_times as plus_times
from broadfront.models.semiring.square import masked_square as masked_square
from broadfront.models.semiring.square import masked_square_sum as masked_square_sum
from broadfront.models.semiring.vector import Vector as Vector
