// The runtime about kernels: nvcc's code says at the start of a program which there are, and then launches them by the address of a stub.
#include <vector_types.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ptx/capture/runtime.h"

namespace {

namespace capture = heddle::ptx::capture;
using capture::function_of;
using capture::remember;

/// A fat binary with what __cudaRegisterFatBinary was given; loaded when its first kernel is asked for.
struct FatBinary {
  const void* image = nullptr;
  CUmodule module = nullptr;
};

struct Stub {
  FatBinary* from = nullptr;
  std::string name;
  CUfunction function = nullptr;
};

/// Leaked: programs launch, and unregister, while they end.
struct Program {
  std::mutex mutex;
  std::map<const void*, Stub> stubs;
  std::set<const void*> functions;  ///< handles that a program may have
  std::map<const void*, CUdeviceptr> variables;
};

Program& program() {
  static auto& all = *new Program;
  return all;
}

/// What <<<>>> says, between the two calls that nvcc makes of it.
struct Configuration {
  dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};
thread_local std::vector<Configuration> pushed;

CUlaunchConfig config_of(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  CUlaunchConfig config{};
  config.gridDimX = grid.x, config.gridDimY = grid.y, config.gridDimZ = grid.z;
  config.blockDimX = block.x, config.blockDimY = block.y, config.blockDimZ = block.z;
  config.sharedMemBytes = static_cast<unsigned>(shared);
  config.hStream = stream;
  return config;
}

cudaError_t launch(const void* kernel, const CUlaunchConfig& config, void** arguments) {
  const CUfunction function = function_of(kernel);
  return remember(function ? cuLaunchKernelEx(&config, function, arguments, nullptr) : CUDA_ERROR_NO_BINARY_FOR_GPU);
}

/// A handle of the driver's, which may be used where the address of a stub may.
template <class Handle>
cudaError_t known(Handle* to, CUfunction function, CUresult result) {
  if (result == CUDA_SUCCESS) {
    const std::lock_guard<std::mutex> lock(program().mutex);
    program().functions.insert(function);
    *to = reinterpret_cast<Handle>(function);
  }
  return remember(result);
}

}  // namespace

CUfunction capture::function_of(const void* kernel) {
  const std::lock_guard<std::mutex> lock(program().mutex);
  if (program().functions.count(kernel)) return static_cast<CUfunction>(const_cast<void*>(kernel));
  const auto at = program().stubs.find(kernel);
  if (at == program().stubs.end()) return nullptr;
  Stub& stub = at->second;
  cuInit(0);
  if (!stub.from->module) cuModuleLoadData(&stub.from->module, stub.from->image);
  if (!stub.function && cuModuleGetFunction(&stub.function, stub.from->module, stub.name.c_str()) == CUDA_SUCCESS)
    program().functions.insert(stub.function);
  return stub.function;
}

HEDDLE_EXPORT void** __cudaRegisterFatBinary(void* image) { return reinterpret_cast<void**>(new FatBinary{image, nullptr}); }

HEDDLE_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

HEDDLE_EXPORT void __cudaUnregisterFatBinary(void**) {}

HEDDLE_EXPORT char __cudaInitModule(void**) { return 1; }

HEDDLE_EXPORT void __cudaRegisterFunction(void** from, const char* stub, char*, const char* name, int, void*, void*, void*, void*, int*) {
  const std::lock_guard<std::mutex> lock(program().mutex);
  program().stubs[stub] = {reinterpret_cast<FatBinary*>(from), name, nullptr};
}

/// Variables of modules have made-up memory; what is copied to constants is not written into launches.
HEDDLE_EXPORT void __cudaRegisterVar(void**, char* variable, char*, const char*, int, std::size_t bytes, int, int) {
  CUdeviceptr at = 0;
  cuMemAlloc(&at, bytes ? bytes : 1);
  const std::lock_guard<std::mutex> lock(program().mutex);
  program().variables[variable] = at;
}

HEDDLE_EXPORT void __cudaRegisterManagedVar(void**, void** variable, char*, const char*, int, std::size_t bytes, int, int) {
  CUdeviceptr at = 0;
  cuMemAllocManaged(&at, bytes ? bytes : 1, CU_MEM_ATTACH_GLOBAL);
  *variable = reinterpret_cast<void*>(at);
}

HEDDLE_EXPORT cudaError_t cudaGetSymbolAddress(void** to, const void* variable) {
  const std::lock_guard<std::mutex> lock(program().mutex);
  const auto at = program().variables.find(variable);
  if (at == program().variables.end()) return cudaErrorInvalidSymbol;
  *to = reinterpret_cast<void*>(at->second);
  return cudaSuccess;
}

HEDDLE_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, void* stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}

HEDDLE_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (pushed.empty()) return cudaErrorMissingConfiguration;
  *grid = pushed.back().grid;
  *block = pushed.back().block;
  *shared = pushed.back().shared;
  std::memcpy(stream, &pushed.back().stream, sizeof(void*));
  pushed.pop_back();
  return cudaSuccess;
}

HEDDLE_EXPORT cudaError_t cudaGetKernel(cudaKernel_t* to, const void* stub) {
  *to = reinterpret_cast<cudaKernel_t>(function_of(stub));
  return *to ? cudaSuccess : remember(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

HEDDLE_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* to, const void* stub) { return cudaGetKernel(to, stub); }

HEDDLE_EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t* to, const void* stub) {
  *to = function_of(stub);
  return *to ? cudaSuccess : remember(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

HEDDLE_EXPORT cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                           cudaStream_t stream) {
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

HEDDLE_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                                      cudaStream_t stream) {
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

HEDDLE_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                             cudaStream_t stream) {
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

// Structs that are passed whole do not go through the table, so these two are said again.
HEDDLE_EXPORT cudaError_t cudaLaunchKernel_ptsz(const void* kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                                cudaStream_t stream) {
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

HEDDLE_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                                                  cudaStream_t stream) {
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

HEDDLE_EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* said, const void* kernel, void** arguments) {
  CUlaunchConfig config = config_of(said->gridDim, said->blockDim, said->dynamicSmemBytes, said->stream);
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(said->attrs);  // laid out alike, with the same numbers
  config.numAttrs = said->numAttrs;
  return launch(kernel, config, arguments);
}

HEDDLE_EXPORT cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* kernel) {
  const CUfunction function = function_of(kernel);
  if (!function) return remember(CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::memset(attributes, 0, sizeof *attributes);
  const auto ask = [&](int& to, CUfunction_attribute attribute) { cuFuncGetAttribute(&to, attribute, function); };
  ask(attributes->maxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  ask(attributes->numRegs, CU_FUNC_ATTRIBUTE_NUM_REGS);
  ask(attributes->ptxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  ask(attributes->binaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  ask(attributes->maxDynamicSharedSizeBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  return cudaSuccess;
}

HEDDLE_EXPORT cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const CUfunction function = function_of(kernel);
  if (!function) return remember(CUDA_ERROR_NO_BINARY_FOR_GPU);
  return remember(cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute), value));
}

HEDDLE_EXPORT cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return remember(cuFuncGetName(name, function_of(kernel)));
}

HEDDLE_EXPORT cudaError_t cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* at, std::size_t* bytes) {
  return remember(cuFuncGetParamInfo(function_of(kernel), index, at, bytes));
}

HEDDLE_EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t* to, const void* image, cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                              void**, unsigned) {
  return remember(cuLibraryLoadData(reinterpret_cast<CUlibrary*>(to), image, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

HEDDLE_EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* to, const char* path, cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                                  void**, unsigned) {
  return remember(cuLibraryLoadFromFile(reinterpret_cast<CUlibrary*>(to), path, nullptr, nullptr, 0, nullptr, nullptr, 0));
}

HEDDLE_EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t* to, cudaLibrary_t library, const char* name) {
  CUkernel kernel = nullptr;
  const CUresult result = cuLibraryGetKernel(&kernel, reinterpret_cast<CUlibrary>(library), name);
  return known(to, reinterpret_cast<CUfunction>(kernel), result);
}

HEDDLE_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads, std::size_t shared) {
  return remember(cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function_of(kernel), threads, shared));
}

HEDDLE_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel, int threads,
                                                                                 std::size_t shared, unsigned) {
  return remember(cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function_of(kernel), threads, shared));
}

HEDDLE_EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int* ctas, const void*, const cudaLaunchConfig_t*) {
  *ctas = 8;
  return cudaSuccess;
}

HEDDLE_EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* kernel, const cudaLaunchConfig_t* said) {
  CUlaunchConfig config = config_of(said->gridDim, said->blockDim, said->dynamicSmemBytes, said->stream);
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(said->attrs);
  config.numAttrs = said->numAttrs;
  return remember(cuOccupancyMaxActiveClusters(clusters, function_of(kernel), &config));
}
