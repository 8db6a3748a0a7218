#include "codegen/run/map_arguments.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/run/driver.h"

namespace heddle::codegen {
namespace {

/// Bytes are copied as they are, whatever they stand for; sums need the type.
int map_type(DType dtype) {
  switch (dtype) {
    case DType::F32: return cuda::kMapF32;
    case DType::Bf16: return cuda::kMapBf16;
    case DType::F16: return cuda::kMapF16;
    case DType::I32: return cuda::kMapI32;
    case DType::F8e4m3:
    case DType::F8e5m2:
    case DType::I8:
    case DType::I4: return cuda::kMapU8;
  }
  return cuda::kMapU8;
}

}  // namespace

MapArguments map_arguments(const TensorMapPlan& plan, DType dtype) {
  MapArguments arguments;
  arguments.type = map_type(dtype);
  arguments.element_bytes = std::max(bits_of(dtype) / 8, 1);
  arguments.extents.assign(plan.extents.begin(), plan.extents.end());
  arguments.box.assign(plan.box.begin(), plan.box.end());
  const auto size = static_cast<std::uint64_t>(arguments.element_bytes);
  std::uint64_t stride = size;
  for (std::size_t d = 0; d + 1 < plan.extents.size(); ++d)
    arguments.strides.push_back(plan.strides.empty() ? stride *= arguments.extents[d]
                                                     : size * static_cast<std::uint64_t>(plan.strides[d + 1]));
  arguments.swizzle = plan.swizzle == 128  ? cuda::kMapSwizzle128
                      : plan.swizzle == 64 ? cuda::kMapSwizzle64
                      : plan.swizzle == 32 ? cuda::kMapSwizzle32
                                           : 0;
  return arguments;
}

bool runs_on(const std::string& arch, int major, int minor) {
  return arch == "sm_100f" ? major == 10 : arch == fmt::format("sm_{}{}a", major, minor);
}

const char* gpus_of(const std::string& arch) {
  return arch == "sm_90a" ? "H100, H200" : arch == "sm_103a" ? "B300" : arch == "sm_100f" ? "B200, B300" : "B200";
}

}  // namespace heddle::codegen
