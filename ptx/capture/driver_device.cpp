// The driver about devices: what programs ask before they choose a kernel and the size of its grid.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/record.h"
#include "ptx/capture/say.h"
#include "ptx/capture/target.h"

namespace {

namespace capture = heddle::ptx::capture;

int blocks_per_sm(int threads, std::size_t dynamic_shared) {
  const std::size_t shared = static_cast<std::size_t>(capture::device().shared_bytes) + 1024;
  const int by_threads = capture::device_attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / std::max(threads, 1);
  return std::min({by_threads, static_cast<int>(shared / (dynamic_shared + 1024)), 32});
}

CUresult function_attribute(int* value, CUfunction_attribute attribute, const void* kernel) {
  const auto entry = capture::CaptureRecord::get().entry(kernel);
  const int version = capture::device().major * 10 + capture::device().minor;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = entry ? static_cast<int>(entry->most_threads) : 1024; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = 64; break;  // ptxas would know
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = version; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = capture::device().shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = -1; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}

struct ErrorWords {
  CUresult code;
  const char *name, *text;
};

constexpr ErrorWords kErrors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, "CUDA_ERROR_NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
    {CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

const ErrorWords* error_words(CUresult code) {
  const auto* at = std::find_if(std::begin(kErrors), std::end(kErrors), [&](const ErrorWords& each) { return each.code == code; });
  return at == std::end(kErrors) ? nullptr : at;
}

}  // namespace

HEDDLE_EXPORT CUresult cuDriverGetVersion(int* version) {
  HEDDLE_PASS(cuDriverGetVersion, version);
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceGetCount(int* count) {
  HEDDLE_PASS(cuDeviceGetCount, count);
  *count = 1;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceGet(CUdevice* to, int ordinal) {
  HEDDLE_PASS(cuDeviceGet, to, ordinal);
  *to = 0;
  if (ordinal == 0) return CUDA_SUCCESS;
  capture::say("there is one device here; the program asks for device " + std::to_string(ordinal) + " and is told that there is none");
  return CUDA_ERROR_INVALID_DEVICE;
}

HEDDLE_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  HEDDLE_PASS(cuDeviceGetName, name, bytes, device);
  if (bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::strncpy(name, capture::device().name, static_cast<std::size_t>(bytes));
  name[bytes - 1] = '\0';
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  HEDDLE_PASS(cuDeviceGetUuid_v2, uuid, device);
  std::memcpy(uuid->bytes, "heddle capture..", 16);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  HEDDLE_PASS(cuDeviceGetPCIBusId, id, bytes, device);
  if (bytes < 13) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(id, "0000:01:00.0", 13);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  HEDDLE_PASS(cuDeviceTotalMem, bytes, device);
  *bytes = capture::device().memory;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  HEDDLE_PASS(cuDeviceGetAttribute, value, attribute, device);
  *value = capture::device_attribute(attribute);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  HEDDLE_PASS(cuDevicePrimaryCtxGetState, device, flags, active);
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  HEDDLE_PASS(cuCtxGetStreamPriorityRange, least, greatest);
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  HEDDLE_PASS(cuCtxGetApiVersion, context, version);
  *version = 3020;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuGetErrorName(CUresult error, const char** name) {
  HEDDLE_PASS(cuGetErrorName, error, name);
  const ErrorWords* words = error_words(error);
  *name = words ? words->name : nullptr;
  return words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

HEDDLE_EXPORT CUresult cuGetErrorString(CUresult error, const char** text) {
  HEDDLE_PASS(cuGetErrorString, error, text);
  const ErrorWords* words = error_words(error);
  *text = words ? words->text : nullptr;
  return words ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

HEDDLE_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction kernel) {
  HEDDLE_PASS(cuFuncGetAttribute, value, attribute, kernel);
  return function_attribute(value, attribute, kernel);
}

HEDDLE_EXPORT CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  HEDDLE_PASS(cuKernelGetAttribute, value, attribute, kernel, device);
  return function_attribute(value, attribute, kernel);
}

HEDDLE_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction kernel, int threads, std::size_t shared) {
  HEDDLE_PASS(cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, kernel, threads, shared);
  *blocks = blocks_per_sm(threads, shared);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction kernel, int threads, std::size_t shared,
                                                                            unsigned flags) {
  HEDDLE_PASS(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, kernel, threads, shared, flags);
  *blocks = blocks_per_sm(threads, shared);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction kernel, int blocks, int threads) {
  HEDDLE_PASS(cuOccupancyAvailableDynamicSMemPerBlock, bytes, kernel, blocks, threads);
  const auto most = static_cast<std::size_t>(capture::device().shared_bytes);
  *bytes = std::min(most, (most + 1024) / static_cast<std::size_t>(std::max(blocks, 1)) - 1024);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuOccupancyMaxPotentialClusterSize(int* ctas, CUfunction kernel, const CUlaunchConfig* config) {
  HEDDLE_PASS(cuOccupancyMaxPotentialClusterSize, ctas, kernel, config);
  *ctas = 8;  // what every kernel may ask for
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction kernel, const CUlaunchConfig* config) {
  HEDDLE_PASS(cuOccupancyMaxActiveClusters, clusters, kernel, config);
  unsigned ctas = 1;
  for (unsigned k = 0; k < config->numAttrs; ++k)
    if (const CUlaunchAttribute& each = config->attrs[k]; each.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      ctas = std::max(1u, each.value.clusterDim.x * each.value.clusterDim.y * each.value.clusterDim.z);
  const int blocks = blocks_per_sm(static_cast<int>(config->blockDimX * config->blockDimY * config->blockDimZ), config->sharedMemBytes);
  *clusters = capture::device().sms * blocks / static_cast<int>(ctas);
  return CUDA_SUCCESS;
}
