// Matrix descriptors of products: which bytes of shared memory one instruction's operand is.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ptx/judge/shadow.h"

namespace heddle::ptx {

/// How an operand lies in shared memory (PTX ISA, wgmma: shared memory matrix layout; tcgen05: shared memory descriptor). Bytes.
struct MatrixPlace {
  std::uint32_t start = 0;
  std::uint32_t leading = 0, stride = 0;
  int swizzle = 0;        ///< of the pattern: 0, 32, 64, 128
  bool by_32 = false;     ///< 128-byte pattern whose pieces of 32 bytes stay together
  bool mn_major = false;  ///< rows (M or N) are contiguous, not K
  auto operator<=>(const MatrixPlace&) const = default;
};
/// Of wgmma: the pattern in bits 62 and 63.
MatrixPlace wgmma_place(std::uint64_t descriptor, bool mn_major);
/// Of tcgen05: the pattern in bits 61 to 63.
MatrixPlace tcgen05_place(std::uint64_t descriptor, bool mn_major);

struct MatrixExtent {
  int rows = 0;     ///< of M or N
  int k_bytes = 0;  ///< of one row
  int bits = 16;    ///< of one number as it lies in shared memory
  auto operator<=>(const MatrixExtent&) const = default;
};

/// Footprints by place and extent, made once.
class Footprints {
 public:
  const std::vector<ByteRange>& of(const MatrixPlace& place, const MatrixExtent& extent);

 private:
  std::map<std::pair<MatrixPlace, MatrixExtent>, std::vector<ByteRange>> made_;
};

}  // namespace heddle::ptx
