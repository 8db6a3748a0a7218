// One launch of a kernel of somebody's PTX: what its host program said to the driver. Files of it are `heddle.launch/1`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heddle::ptx {

/// Element types that a tensor map knows (CUtensorMapDataType).
enum class MapElement { U8, U16, U32, I32, U64, I64, F16, F32, F64, Bf16, F32Ftz, Tf32, Tf32Ftz, U4Align8, U4Align16, U6Align16 };

/// "bf16", "u4_align8"
const char* to_string(MapElement element);
/// Bytes of 16 elements in global memory: types of 4 and 6 bits have no whole byte each.
std::uint64_t bytes_of_16(MapElement element);
/// The same in shared memory, where the two types with gaps take a byte for each element (CUDA driver API, CUtensorMapDataType).
std::uint64_t shared_bytes_of_16(MapElement element);

/// A tensor map in clear: what the host said to cuTensorMapEncodeTiled. Innermost dimension first.
struct TensorMap {
  std::string name;  ///< of the tensor; "" where nobody said one
  MapElement element = MapElement::Bf16;
  std::uint64_t address = 0;           ///< of the tensor in global memory
  std::vector<std::uint64_t> extents;  ///< elements, one per dimension (1 to 5)
  std::vector<std::uint64_t> strides;  ///< bytes, one per dimension but the innermost
  std::vector<std::uint32_t> box;      ///< elements that one copy moves, one per dimension
  std::vector<std::uint32_t> steps;    ///< element strides; all 1 in nearly every program
  int swizzle = 0;                     ///< bytes of the pattern: 0, 32, 64, 128
  int swizzle_atom = 16;               ///< bytes that stay together: 16, or 32 and 64 where the 128-byte pattern has such atoms
  int interleave = 0;                  ///< bytes: 0, 16, 32
  bool im2col = false;                 ///< refused where it is executed
  bool operator==(const TensorMap&) const = default;
};

/// What one copy of a box brings to shared memory.
std::uint64_t box_bytes(const TensorMap& map);
/// How far the tensor reaches in global memory, from its first byte to behind its last.
std::uint64_t tensor_bytes(const TensorMap& map);

/// Bytes, one per dimension but the innermost, of a tensor without gaps.
std::vector<std::uint64_t> dense_strides(const TensorMap& map);

/// A tensor map that lies in the parameter block, or in a buffer (kernels that read arrays of maps).
struct PlacedMap {
  std::uint64_t at = 0;  ///< byte offset in the parameter block, or address of global memory
  bool in_parameters = true;
  TensorMap map;
  bool operator==(const PlacedMap&) const = default;
};

/// A piece of global memory that the kernel may touch.
struct GlobalBuffer {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;             ///< how far it reaches: an access beyond is a finding
  std::vector<std::uint8_t> contents;  ///< its first bytes, where they are known (index arrays); empty: floats, unknown
  bool zero = false;                   ///< all of it is 0 when the kernel starts (counters, semaphores)
  bool operator==(const GlobalBuffer&) const = default;
};

/// A word of the parameter block that a user may call by a name and change.
struct NamedParameter {
  std::string name;      ///< "K", "param_3"
  std::uint64_t at = 0;  ///< byte offset in the block
  std::string type;      ///< u8 .. u64, s8 .. s64, f16, bf16, f32, f64, b8 .. b64
  bool operator==(const NamedParameter&) const = default;
};

struct Launch {
  std::string kernel;                          ///< entry in the PTX; "" : its only one
  std::string ptx;                             ///< file of the text, relative to the launch file; "" where it is named beside
  std::array<std::uint32_t, 3> grid{1, 1, 1};  ///< CTAs
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::array<std::uint32_t, 3> block{0, 0, 0};  ///< threads; 0: the text's .reqntid or .maxntid
  std::uint64_t dynamic_shared = 0;             ///< bytes, beside the text's own
  std::vector<std::uint8_t> parameters;         ///< the block, as long as the text's parameters; bytes of maps are not used
  std::vector<PlacedMap> maps;
  std::vector<GlobalBuffer> buffers;
  std::vector<NamedParameter> names;
  bool operator==(const Launch&) const = default;
};

}  // namespace heddle::ptx
