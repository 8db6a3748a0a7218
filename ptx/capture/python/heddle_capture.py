"""Tensors for scripts that heddle captures where torch is not installed: heddle_capture.Tensor("bf16", (4096, 4096)). They have an address and
no numbers, but for those of small index arrays: Tensor("i32", (3,), values=[0, 5, 9])."""

import ctypes
import math
import re
import struct


class DataType(str):
    @property
    def itemsize(self):
        return max(1, int(re.search(r"\d+", self)[0]) // 8)


class Tensor:
    def __init__(self, dtype, shape=(1,), strides=None, values=None):
        self.dtype, self.shape, self.device = DataType(dtype), tuple(shape), "cuda:0"
        self.strides = tuple(strides) if strides else tuple(math.prod(self.shape[at + 1:]) for at in range(len(self.shape)))
        cuda, address = ctypes.CDLL("libcuda.so.1"), ctypes.c_uint64()
        words = struct.pack(f"<{len(values or [])}{'bhiq'[self.dtype.itemsize.bit_length() - 1]}", *(values or []))
        reach = 1 + sum((extent - 1) * stride for extent, stride in zip(self.shape, self.strides))
        bytes_of = ctypes.c_size_t(max(len(words), reach * self.dtype.itemsize))
        if cuda.cuInit(0) or cuda.cuMemAlloc_v2(ctypes.byref(address), bytes_of):
            raise RuntimeError("heddle_capture.Tensor: run the script by `heddle capture -- python3 SCRIPT`")
        self.address = address.value
        if words:
            cuda.cuMemcpyHtoD_v2(address, words, ctypes.c_size_t(len(words)))

    def data_ptr(self):
        return self.address

    def stride(self, dimension=None):
        return self.strides if dimension is None else self.strides[dimension]

    def element_size(self):
        return self.dtype.itemsize

    def numel(self):
        return math.prod(self.shape)
