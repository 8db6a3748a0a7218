// Where the wrong elements of an output lie. A kernel's typical faults each leave a mark: operands whose panels are found at the wrong
// stride spoil panels of 128 bytes, a swizzle that reader and writer do not share exchanges chunks of 16 bytes, a matrix store in the
// wrong order exchanges rows (PTX ISA, "Shared memory matrix layout" and "stmatrix").
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/records/measurement.h"

namespace heddle::codegen {

/// An output in row-major order, seen as rows of its last dimension.
struct WrongElements {
  std::int64_t columns = 1;  ///< divides the number of elements
  int element_bytes = 2;
  std::vector<bool> wrong;                                         ///< per element
  std::function<bool(std::int64_t at, std::int64_t from)> equals;  ///< what was computed for `at` is what was expected of `from`
};

ErrorPattern pattern_of(const WrongElements& output);

}  // namespace heddle::codegen
