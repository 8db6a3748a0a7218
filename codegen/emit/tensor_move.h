// The wrappers of loads from tensor memory and stores to it, whose operands depend on their width; other wrappers of tensor memory are in
// codegen/device/tensor_memory.cuh.
#pragma once

#include <string>

namespace heddle::codegen {

/// tensor_load_n32<At>(from, registers), for float and u32: a thread's registers [At, At + 32) are 32 columns of its lane from the address
/// on. They are there after tensor_await_loads(). Widths are powers of two up to 128.
std::string tensor_load_text(int n);
/// tensor_store_n32<At>(to, registers): the other way. The columns hold them after tensor_await_stores().
std::string tensor_store_text(int n);

}  // namespace heddle::codegen
