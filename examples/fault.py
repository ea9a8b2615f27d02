"""A kernel that is wrong: the exception says where."""

import cuda.tile as ct
import numpy as np
import tilec


@ct.kernel
def halve(x, y, tile: ct.Constant[int]):
    values = ct.load(x, index=(0,), shape=(tile,))
    ct.assert_(values % 2 == 0, "an odd number")
    ct.store(y, index=(0,), tile=values // 2)


x = np.array([2, 4, 5, 8], np.int32)
y = np.zeros_like(x)
for engine in ("sim", "eval"):
    try:
        tilec.run(halve, 1, (x, y, 4), engine=engine)
    except tilec.Fault as fault:
        print(f"{engine}: {fault}\n")
        assert "odd number" in str(fault) and fault.file.endswith("fault.py"), fault
        assert fault.source.startswith("ct.assert_"), fault.source
    else:
        raise AssertionError("nothing was found")
assert not y.any(), "arrays are as they were"
