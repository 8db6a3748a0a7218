// A program of CUDA 12, without its headers: what it calls of libcudart.so.12 is found by name, with the arguments that it has there.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void* library = nullptr;

template <class... Arguments>
int call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  if (!function) {
    std::printf("there is no %s\n", name);
    std::exit(3);
  }
  return function(arguments...);
}

struct KernelNode {  // cudaGraphNodeParams with a kernel
  int type = 0, zeros[3] = {};
  void* function = nullptr;
  unsigned grid[3] = {5, 1, 1}, block[3] = {32, 1, 1}, shared = 0;
  void** parameters = nullptr;
  char rest[200] = {};
};

const char kText[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry work(.param .u32 n)\n{ ret;\n}\n";

}  // namespace

int main() {
  library = dlopen("libcudart.so.12", RTLD_NOW);
  if (!library) return 2;
  int version = 0;
  call("cudaRuntimeGetVersion", &version);
  char properties[1032];
  call("cudaGetDeviceProperties_v2", properties, 0);
  std::printf("%d, %s\n", version, properties);
  int status = 7;
  unsigned long long id = 7;
  call("cudaStreamBeginCapture", static_cast<void*>(nullptr), 0);
  call("cudaStreamGetCaptureInfo_v2", static_cast<void*>(nullptr), &status, &id, static_cast<void*>(nullptr), static_cast<void*>(nullptr),
       static_cast<void*>(nullptr));
  std::printf("status %d, %llu\n", status, id);
  void *module = nullptr, *kernel = nullptr, *graph = nullptr, *node = nullptr;
  call("cudaStreamEndCapture", static_cast<void*>(nullptr), &graph);
  call("cudaLibraryLoadData", &module, kText, static_cast<void*>(nullptr), static_cast<void*>(nullptr), 0u, static_cast<void*>(nullptr),
       static_cast<void*>(nullptr), 0u);
  call("cudaLibraryGetKernel", &kernel, module, "work");
  unsigned number = 12;
  void* parameters[] = {&number};
  KernelNode what;
  what.function = kernel;
  what.parameters = parameters;
  if (const int failed = call("cudaGraphAddNode", &node, graph, static_cast<void*>(nullptr), std::size_t{0}, &what)) return failed;
  return call("cudaThreadSynchronize");
}
