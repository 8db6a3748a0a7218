// A driver with a GPU below the stand-in: it says on standard output which launches and copies reach it, and gives addresses and tensor
// maps of its own.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#define NOTHING(name) \
  extern "C" int name() { return 0; }
NOTHING(cuInit)
NOTHING(cuCtxSetCurrent)
NOTHING(cuCtxSynchronize)
NOTHING(cuFuncSetAttribute)
NOTHING(cuMemFree_v2)
NOTHING(cuMemcpyDtoD_v2)
NOTHING(cuMemcpyDtoH_v2)
NOTHING(cuStreamCreate)
NOTHING(cuEventCreate)
NOTHING(cuEventRecord)
NOTHING(cuEventSynchronize)
NOTHING(cuEventElapsedTime)
NOTHING(cuGetErrorName)
NOTHING(cuGetErrorString)
NOTHING(cuDriverGetVersion)
NOTHING(cuDeviceGetName)
NOTHING(cuDeviceTotalMem_v2)
NOTHING(cuMemsetD8_v2)

namespace {
constexpr int kMajor = 75, kMinor = 76, kNotFound = 500;
std::uint64_t next_address = 0x700000000000;
char module_of_ours, function_of_ours, context_of_ours;
}  // namespace

extern "C" {
int cuDeviceGetCount(int* count) { return *count = 1, 0; }
int cuDeviceGet(int* device, int) { return *device = 0, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int) { return *value = attribute == kMajor ? 9 : attribute == kMinor ? 0 : 1, 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return *context = &context_of_ours, 0; }
int cuModuleLoadData(void** module, const void*) { return *module = &module_of_ours, 0; }
int cuModuleGetFunction(void** function, void* module, const char* name) {
  std::printf("below: %s of %s\n", name, module == &module_of_ours ? "its module" : "another module");
  return *function = &function_of_ours, 0;
}
int cuMemAlloc_v2(std::uint64_t* to, std::size_t bytes) {
  *to = next_address;
  next_address += (bytes + 511) / 512 * 512;
  return 0;
}
int cuMemcpyHtoD_v2(std::uint64_t to, const void*, std::size_t bytes) {
  std::printf("below: %zu bytes to %llx\n", bytes, static_cast<unsigned long long>(to));
  return 0;
}
int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned, unsigned threads, unsigned, unsigned, unsigned, void*, void**,
                   void**) {
  std::printf("below: launch of %s, %u x %u, %u\n", function == &function_of_ours ? "its function" : "another function", x, y, threads);
  return 0;
}
int cuTensorMapEncodeTiled(unsigned char* map, int, unsigned, std::uint64_t address) {
  std::memset(map, 0x5a, 128);
  std::memcpy(map, &address, sizeof address);
  return 0;
}
int cuGetProcAddress_v2(const char* name, void** to, int, std::uint64_t, int*) {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(&cuDeviceGetCount), &info);
  void* const self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *to = dlsym(self, name);
  if (!*to) *to = dlsym(self, (std::string(name) + "_v2").c_str());
  return *to ? 0 : kNotFound;
}
}
