// Small PTX kernels written by hand, with what compilers put into their texts: inline assembly in braces, places in the source, tables.
#pragma once

#include <string>

namespace heddle::test {

/// 256 threads: warp 0 fills a ring of 3 tiles by tensor map, the second warp group multiplies (wgmma), stores by bulk copy; 8 trips.
std::string small_ring_kernel();

/// 128 threads for sm_100a: one warp copies and multiplies (tcgen05), all four read the result; 4 trips over a ring of 2.
std::string small_tensor_memory_kernel();

}  // namespace heddle::test
