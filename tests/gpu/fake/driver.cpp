// The CUDA driver's entry points on the host's memory, and cuBLAS's product. Time is counted, not measured: a launch takes 100 us,
// one of a recording build 101 (or 110), one of cuBLAS 90. A kernel that is launched again although no memory was written to
// meanwhile is not run again: its results are there. HEDDLE_FAKE_TIMES, "HASH MICROSECONDS HASH MICROSECONDS ...", plants times of kernels
// by the hashes of their cubins. Into HEDDLE_FAKE_LOG, a file, goes a line for each tensor map that is made and each launch of a kernel of
// ours, with all that it was asked with but addresses.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "tests/gpu/fake/fake.h"

namespace fake {
double now_us = 0;
long writes = 0;
int pending_fault = 0;
}  // namespace fake

using fake::kIllegalAddress, fake::now_us, fake::pending_fault, fake::writes;

namespace {

/// As tests/codegen/emulator/gpu.h has it.
struct Plan {
  void* data = nullptr;
  int size = 2;
  std::vector<long> extents, box;
  int swizzle = 0;
  std::vector<long> strides;
};

struct Library {
  void* handle = nullptr;
  void (*launch)(void**, int, int) = nullptr;
  const char* (*entry)() = nullptr;
  int (*records)() = nullptr;
  long seen = -1;   ///< writes to memory when it last ran
  double us = 100;  ///< a launch
};

long launches = 0, multiplied = -1;
std::map<void*, double> events;

constexpr int kNoSuchFunction = 500, kInvalidImage = 200, kLaunchOutOfResources = 701;

/// The last tensor map of the arguments is the result's.
void spoil(void** arguments, int maps) {
  if (maps < 1) return;
  const Plan* plan = *static_cast<const Plan**>(arguments[maps - 1]);
  static_cast<unsigned char*>(plan->data)[1] ^= 0x40;
}

/// The faults that kernels are known for, planted into a right result of 16-bit elements.
void plant(const std::string& mode, void** arguments, int maps) {
  const bool known = mode == "maps" || mode == "strides" || mode == "swizzle" || mode == "phases";
  if (!known || maps < 1) return;
  const Plan& result = **static_cast<const Plan**>(arguments[maps - 1]);
  constexpr long kTrip = 64;  // what one trip of GEMM's loop takes of the dimension that is summed over
  for (int map = 0; mode == "phases" && map + 1 < maps; ++map)
    for (const long extent : (*static_cast<const Plan**>(arguments[map]))->extents)
      if (extent <= kTrip) return;
  const long columns = result.extents[0];
  long rows = 1;
  for (std::size_t d = 1; d < result.extents.size(); ++d) rows *= result.extents[d];
  auto* data = static_cast<std::uint16_t*>(result.data);
  for (long row = 0; row < rows; ++row, data += columns) {
    const std::vector<std::uint16_t> right(data, data + columns);
    for (long c = 0; c < columns; ++c) {
      if (mode == "maps" || mode == "phases" || (mode == "strides" && c / 64 % 2 == 1)) data[c] ^= 0x4100;
      if (mode == "swizzle") data[c] = right[static_cast<std::size_t>(c ^ row % 8 * 8)];
    }
  }
}

int maps_made = 0;

template <class... Number>
void note(const char* what, Number... numbers) {
  const char* path = std::getenv("HEDDLE_FAKE_LOG");
  if (!path) return;
  std::ofstream log(path, std::ios::app);
  log << what;
  ((log << ' ' << numbers), ...);
  log << '\n';
}

double planted_us(const std::string& hash) {
  const char* planted = std::getenv("HEDDLE_FAKE_TIMES");
  std::istringstream words(planted ? planted : "");
  std::string of;
  for (double us; words >> of >> us;)
    if (of == hash) return us;
  return 100;
}

std::uint64_t image_length(const unsigned char* elf) {
  std::uint64_t sections = 0;
  std::uint16_t size = 0, count = 0;
  std::memcpy(&sections, elf + 40, 8), std::memcpy(&size, elf + 58, 2), std::memcpy(&count, elf + 60, 2);
  return sections + std::uint64_t{size} * count;
}

}  // namespace

extern "C" {

int cuInit(unsigned) {
  if (fake::mode() == "crash-init") {
    std::fprintf(stderr, "the fake driver dies\n");
    std::abort();
  }
  return 0;
}
int cuDriverGetVersion(int* version) { return *version = 13000, 0; }
int cuDeviceGetCount(int* count) { return *count = fake::mode() == "no-device" ? 0 : 1, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetName(char* name, int size, int) { return std::snprintf(name, static_cast<std::size_t>(size), "fake GPU"), 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 13: *value = 1'980'000; break;
    case 16: *value = 2; break;
    case 38: *value = 100'000; break;
    case 75: *value = fake::mode() == "blackwell" ? 10 : 9; break;
    case 97: *value = fake::mode() == "little-shared" ? 100'000 : 232'448; break;
    default: *value = 0;
  }
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int) { return *bytes = std::size_t{1} << 30, 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &now_us, 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuCtxSynchronize() { return pending_fault; }
int cuModuleLoadData(Library** module, const unsigned char* image) {
  const int file = ::memfd_create("fake-cubin", 0);
  const std::uint64_t length = image_length(image);
  if (file < 0 || ::write(file, image, length) != static_cast<ssize_t>(length)) return kInvalidImage;
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  auto* library = new Library;
  library->us = planted_us(heddle::Hash().add(std::string_view(reinterpret_cast<const char*>(image), length)).hex());
  library->handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return kInvalidImage;
  }
  library->launch = reinterpret_cast<void (*)(void**, int, int)>(::dlsym(library->handle, "fake_launch"));
  library->entry = reinterpret_cast<const char* (*)()>(::dlsym(library->handle, "fake_entry"));
  library->records = reinterpret_cast<int (*)()>(::dlsym(library->handle, "fake_records"));
  const char* settings = reinterpret_cast<const char*>(image + length);  // of a micro-kernel; else the text's end
  if (auto* set = reinterpret_cast<void (*)(const char*)>(::dlsym(library->handle, "fake_settings"));
      set && std::strncmp(settings, "HEDDLE-FAKE ", 12) == 0)
    set(settings + 12);
  *module = library;
  return library->launch && library->entry && library->records ? 0 : kInvalidImage;
}
int cuModuleGetFunction(Library** function, Library* module, const char* name) {
  *function = module;
  return std::strcmp(name, module->entry()) == 0 ? 0 : kNoSuchFunction;
}
int cuFuncSetAttribute(Library*, int, int) { return 0; }
int cuLaunchKernel(Library* function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned, unsigned shared, void*,
                   void** arguments, void**) {
  const bool kernel = std::string(function->entry()) == "heddle_kernel";
  if (kernel) note(function->records() ? "recording" : "launch", blocks, threads, shared);
  const std::string mode = kernel ? fake::mode() : "ok";
  if (mode == "refuse") return kLaunchOutOfResources;
  if (mode == "hang")
    while (true) ::pause();
  if (mode == "crash") {
    std::fprintf(stderr, "the fake driver dies\n");
    std::abort();
  }
  if (mode == "fault") return pending_fault = kIllegalAddress, 0;
  if (mode != "unwritten" && function->seen != writes) {
    function->launch(arguments, static_cast<int>(blocks), static_cast<int>(threads));
    plant(mode, arguments, maps_made);
  }
  function->seen = writes;
  launches += kernel;
  if (mode == "wrong" || (mode == "unstable" && launches % 2 == 0)) spoil(arguments, maps_made);
  now_us += !function->records() ? function->us : fake::mode() == "slow-records" ? 110 : 101;
  return 0;
}
int cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  if (fake::mode() == "out-of-memory") return 2;
  *memory = reinterpret_cast<std::uint64_t>(std::aligned_alloc(1024, (bytes + 1023) / 1024 * 1024));
  return *memory ? 0 : 2;
}
int cuMemFree_v2(std::uint64_t memory) { return std::free(reinterpret_cast<void*>(memory)), 0; }
int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
  return ++writes, std::memcpy(reinterpret_cast<void*>(to), from, bytes), 0;
}
int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) { return std::memcpy(to, reinterpret_cast<void*>(from), bytes), 0; }
int cuMemcpyDtoD_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), 0;
}
int cuMemsetD8_v2(std::uint64_t to, unsigned char byte, std::size_t bytes) {
  return ++writes, std::memset(reinterpret_cast<void*>(to), byte, bytes), 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = &now_us, 0; }
int cuEventCreate(void** event, unsigned) { return *event = new char, 0; }
int cuEventRecord(void* event, void*) { return events[event] = now_us, 0; }
int cuEventSynchronize(void*) { return pending_fault; }
int cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  return *milliseconds = static_cast<float>((events[end] - events[begin]) / 1000), 0;
}
int cuGetErrorName(int code, const char** name) {
  *name = code == kIllegalAddress         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : code == kLaunchOutOfResources ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                                          : "CUDA_ERROR_FAKE";
  return 0;
}
int cuGetErrorString(int code, const char** text) {
  *text = code == kIllegalAddress ? "an illegal memory access was encountered" : "the fake driver says no";
  return 0;
}
int cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* extents, const std::uint64_t* strides,
                           const unsigned* box, const unsigned* ones, int interleave, int swizzle, int promotion, int fill) {
  constexpr int kInvalid = 1;
  const int size = type == 7 || type == 3 ? 4 : type == 0 ? 1 : 2;
  if (interleave != 0 || fill != 0 || reinterpret_cast<std::uint64_t>(address) % 16 != 0 || reinterpret_cast<std::uint64_t>(map) % 64 != 0)
    return kInvalid;
  for (unsigned d = 0; d < rank; ++d) note("dimension", d, extents[d], d > 0 ? strides[d - 1] : 0, box[d], ones[d]);
  note("map", type, rank, interleave, swizzle, promotion, fill);
  const int span = swizzle == 0 ? 0 : 16 << swizzle;  // 32, 64, 128 bytes
  if (span > 128) return kInvalid;
  auto* plan = new Plan{address, size, {}, {}, span, {1}};
  std::uint64_t stride = static_cast<std::uint64_t>(size);
  for (unsigned d = 0; d < rank; ++d) {
    if (ones[d] != 1 || box[d] < 1 || box[d] > 256) return kInvalid;
    // Rows may lie apart; those in another order have dimensions of their own.
    if (d > 0 && ((rank < 5 && strides[d - 1] < stride) || strides[d - 1] % 16 != 0)) return kInvalid;
    stride = (d > 0 ? strides[d - 1] : stride) * extents[d];
    if (d > 0) plan->strides.push_back(static_cast<long>(strides[d - 1]) / size);
    plan->extents.push_back(static_cast<long>(extents[d]));
    plan->box.push_back(static_cast<long>(box[d]));
  }
  if (span > 0 && box[0] * size > static_cast<unsigned>(span)) return kInvalid;
  std::memset(map, 0, 128);
  std::memcpy(map, &plan, sizeof plan);
  maps_made = maps_made < 3 ? maps_made + 1 : 3;
  return 0;
}

int cublasCreate_v2(void** handle) { return *handle = &now_us, 0; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasGetVersion_v2(void*, int* version) { return *version = 130100, 0; }
int cublasGemmEx(void*, int, int, int m, int n, int k, const void*, const void* a, int, int, const void* b, int, int, const void*, void* c,
                 int, int, int, int) {
  if (fake::mode() == "cublas-refuse") return 13;
  now_us += 90;
  if (multiplied == writes) return 0;
  multiplied = writes;
  // Row-major C[n, m] = B A of what cuBLAS calls A and B, bf16.
  const auto value = [](const void* from, long at) {
    std::uint32_t bits = static_cast<std::uint32_t>(static_cast<const std::uint16_t*>(from)[at]) << 16;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  };
  for (long row = 0; row < n; ++row) {
    std::vector<float> sums(static_cast<std::size_t>(m), 0);
    for (long j = 0; j < k; ++j) {
      const float factor = value(b, row * k + j);
      for (long column = 0; column < m; ++column) sums[static_cast<std::size_t>(column)] += factor * value(a, j * m + column);
    }
    for (long column = 0; column < m; ++column) {
      std::uint32_t bits;
      std::memcpy(&bits, &sums[static_cast<std::size_t>(column)], 4);
      static_cast<std::uint16_t*>(c)[row * m + column] = static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
  }
  if (fake::mode() == "cublas-wrong") static_cast<unsigned char*>(c)[1] ^= 0x40;
  return 0;
}
}
