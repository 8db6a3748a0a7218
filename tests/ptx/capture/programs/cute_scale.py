"""For heddle capture, by hand: a small kernel of CuTe DSL. Needs nvidia-cutlass-dsl only."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import make_ptr
from heddle_capture import Tensor


@cute.kernel
def scale(a: cute.Tensor, f: cutlass.Float32):
    t, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    a[b * 128 + t] = a[b * 128 + t] * f


@cute.jit
def host(p: cute.Pointer, n: cutlass.Int32, f: cutlass.Float32):
    scale(cute.make_tensor(p, cute.make_layout(n)), f).launch(grid=(8, 1, 1), block=(128, 1, 1))


tensor = Tensor("f32", (1024,))
host(make_ptr(cutlass.Float32, tensor.data_ptr(), cute.AddressSpace.gmem, assumed_align=16), 1024, 2.0)
