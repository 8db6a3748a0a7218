#include "ptx/capture/target.h"

#include <cuda.h>

#include <algorithm>
#include <cstdlib>

#include "ptx/capture/record.h"
#include "ptx/capture/say.h"

namespace heddle::ptx::capture {
namespace {

constexpr std::uint64_t kGb = 1'000'000'000;

// SMs and memory of the SXM boards by NVIDIA's data sheets; shared memory by the CUDA programming guide's table of compute capabilities.
constexpr CapturedDevice kDevices[] = {
    {"NVIDIA A100-SXM4-80GB", 8, 0, 108, 166912, 80 * kGb},
    {"NVIDIA A40", 8, 6, 84, 101376, 48 * kGb},
    {"NVIDIA L40S", 8, 9, 142, 101376, 48 * kGb},
    {"NVIDIA H100 80GB HBM3", 9, 0, 132, 232448, 80 * kGb},
    {"NVIDIA B200", 10, 0, 148, 232448, 180 * kGb},
    {"NVIDIA B300 SXM6 AC", 10, 3, 148, 232448, 270 * kGb},
    {"NVIDIA GeForce RTX 5090", 12, 0, 170, 101376, 32 * kGb},
};

}  // namespace

const CapturedDevice& device() {
  static const CapturedDevice& found = []() -> const CapturedDevice& {
    const int version = std::atoi(target().c_str() + std::min<std::size_t>(3, target().size()));
    const auto* at = std::find_if(std::begin(kDevices), std::end(kDevices),
                                  [&](const CapturedDevice& each) { return each.major * 10 + each.minor == version; });
    if (at != std::end(kDevices)) return *at;
    say("there is no device for " + target() + ", an H100 is taken");
    return kDevices[3];
  }();
  return found;
}

int device_attribute(int attribute) {
  const CapturedDevice& here = device();
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return 0x7fffffff;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return 49152;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return 1755000;         // kHz
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return 2619000;  // kHz
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return 50 << 20;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT: return 512;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return here.sms;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return here.major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return here.minor;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return here.shared_bytes > 110000 ? 2048 : 1536;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR: return here.shared_bytes > 110000 ? 32 : 24;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return here.shared_bytes + 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return here.shared_bytes;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return 1024;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return 3;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return here.major >= 9;
    default: return 0;
  }
}

}  // namespace heddle::ptx::capture
