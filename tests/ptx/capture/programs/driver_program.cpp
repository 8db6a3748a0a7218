// A host program that finds the driver as others do, by dlopen and cuGetProcAddress, and does what its argument says: plain, block, maps,
// cluster, memory, graph, target, cubin, twice, many, unknown, nothing, crash, old, device, fork, thousands, lines, full.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

const char* const kText = R"(.version 8.0
.target sm_90a
.address_size 64
// .entry in_a_comment(
.visible .entry copy(
  .param .u64 .ptr .global .align 16 copy_param_0, /* where to */
  .param .u32 copy_param_1,
  .param .align 64 .b8 copy_param_2[128],
  .param .f32 copy_param_3
)
.maxntid 256
{
  ret;
}
.visible .entry pair(.param .u64 pair_param_0)
.reqnctapercluster 2, 1, 1
{
  ret;
}
.entry nothing()
{
  ret;
}
)";

CUresult (*find)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

template <class F>
F* get(const char* name) {
  void* found = nullptr;
  if (find(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) std::exit(20);
  return reinterpret_cast<F*>(found);
}

void expect(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s: %d\n", what, result);
  std::exit(10);
}
#define CALL(name, ...) expect(get<decltype(name)>(#name)(__VA_ARGS__), #name)

struct Program {
  CUmodule module = nullptr;
  CUfunction copy = nullptr;
  CUdeviceptr memory = 0;

  Program() {
    CALL(cuInit, 0);
    CUdevice device = 7;
    CUcontext context = nullptr;
    CALL(cuDeviceGet, &device, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuModuleLoadData, &module, kText);
    CALL(cuModuleGetFunction, &copy, module, "copy");
    CALL(cuMemAlloc, &memory, 4096);
  }

  CUtensorMap map(CUdeviceptr at, cuuint32_t rows = 64) {
    CUtensorMap made;
    const cuuint64_t extents[] = {512, 128, 3}, strides[] = {1024, 131072};
    const cuuint32_t box[] = {64, rows, 1}, steps[] = {1, 1, 1};
    CALL(cuTensorMapEncodeTiled, &made, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, reinterpret_cast<void*>(at), extents, strides, box, steps,
         CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return made;
  }

  void launch(unsigned count, const CUtensorMap& tensor) {
    float factor = 2;
    void* parameters[] = {&memory, &count, const_cast<CUtensorMap*>(&tensor), &factor};
    CALL(cuLaunchKernel, copy, 4, 2, 1, 256, 1, 1, 1024, nullptr, parameters, nullptr);
  }

  /// The block as a whole, as some compilers' runtimes give it.
  void launch_block() {
    std::vector<unsigned char> block(196, 0xab);
    std::size_t bytes = block.size();
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CALL(cuLaunchKernel, copy, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra);
  }

  void launch_clusters() {
    CUfunction pair = nullptr;
    CALL(cuModuleGetFunction, &pair, module, "pair");
    void* parameters[] = {&memory};
    CALL(cuLaunchKernel, pair, 8, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr);
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 4;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    CUlaunchConfig config{};
    config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CALL(cuLaunchKernelEx, &config, pair, parameters, nullptr);
  }

  /// Index arrays, counters, a table of pointers, and maps that lie in memory.
  void launch_with_memory() {
    const unsigned lengths[] = {3, 5, 9};
    CUdeviceptr indices = 0, counters = 0;
    CALL(cuMemAlloc, &indices, sizeof lengths);
    CALL(cuMemAlloc, &counters, 100000);
    CALL(cuMemcpyHtoD, indices, lengths, sizeof lengths);
    CALL(cuMemsetD32, counters, 0, 25000);
    std::vector<unsigned char> table(256, 0);
    std::memcpy(table.data(), &indices, 8);
    std::memcpy(table.data() + 8, &counters, 8);
    const CUtensorMap tensor = map(memory, 32);
    std::memcpy(table.data() + 128, &tensor, 128);
    CUdeviceptr all = 0;
    CALL(cuMemAlloc, &all, table.size());
    CALL(cuMemcpyHtoD, all, table.data(), table.size());
    unsigned back = 0;
    CALL(cuMemcpyDtoH, &back, indices + 4, 4);
    if (back != 5) std::exit(11);
    memory = all;
    launch(7, CUtensorMap{});
  }

  void launch_in_graph() {
    CUgraph graph = nullptr;
    CALL(cuGraphCreate, &graph, 0);
    CUfunction none = nullptr;
    CALL(cuModuleGetFunction, &none, module, "nothing");
    CUDA_KERNEL_NODE_PARAMS node{};
    node.func = none;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = 64, node.blockDimY = node.blockDimZ = 1;
    CUgraphNode added = nullptr;
    CALL(cuGraphAddKernelNode, &added, graph, nullptr, 0, &node);
    node.gridDimX = 2;  // what is changed later is another launch
    CALL(cuGraphKernelNodeSetParams, added, &node);
    CUgraphNodeParams any{};
    any.type = CU_GRAPH_NODE_TYPE_KERNEL;
    any.kernel.func = none;
    any.kernel.gridDimX = 3, any.kernel.gridDimY = any.kernel.gridDimZ = 1;
    any.kernel.blockDimX = 64, any.kernel.blockDimY = any.kernel.blockDimZ = 1;
    CALL(cuGraphAddNode, &added, graph, nullptr, nullptr, 0, &any);
    CUgraphExec ready = nullptr;
    CALL(cuGraphInstantiate, &ready, graph, 0);
    CALL(cuGraphLaunch, ready, nullptr);
  }

  /// As a program of CUDA 11 asks for functions: the one that it asks with has a place less for answers.
  void launch_as_of_11() {
    void* found = nullptr;
    if (find("cuGetProcAddress", &found, 11030, 0, nullptr) != CUDA_SUCCESS) std::exit(12);
    const auto ask = reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(found);
    if (ask("cuLaunchKernel", &found, 11030, 0) != CUDA_SUCCESS) std::exit(13);
    CUtensorMap tensor{};
    unsigned count = 11;
    float factor = 2;
    void* parameters[] = {&memory, &count, &tensor, &factor};
    reinterpret_cast<decltype(cuLaunchKernel)*>(found)(copy, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr);
  }

  /// Parent and child launch, each its own.
  void launch_in_both() {
    const pid_t child = fork();
    for (unsigned count = 0; count < 5; ++count) launch(child == 0 ? count : 100 + count, CUtensorMap{});
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("the child ended with %d\n", status);
  }

  void launch_machine_code() {
    CUmodule code = nullptr;
    CUfunction kernel = nullptr;
    CALL(cuModuleLoadData, &code, "\177ELF machine code");
    CALL(cuModuleGetFunction, &kernel, code, "copy");
    copy = kernel;
    launch(1, CUtensorMap{});
  }
};

void run(const std::string& what) {
  Program program;
  if (what == "plain") program.launch(7, CUtensorMap{});
  if (what == "block") program.launch_block();
  if (what == "maps") program.launch(7, program.map(program.memory));
  if (what == "cluster") program.launch_clusters();
  if (what == "memory") program.launch_with_memory();
  if (what == "graph") program.launch_in_graph();
  if (what == "cubin") program.launch_machine_code();
  if (what == "twice")
    for (const unsigned count : {7, 7, 8, 7}) program.launch(count, CUtensorMap{});
  if (what == "many")
    for (unsigned count = 0; count < 20; ++count) program.launch(count, CUtensorMap{});
  if (what == "target") {
    int major = 0, sms = 0;
    CALL(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0);
    CALL(cuDeviceGetAttribute, &sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    std::printf("%d.x with %d SMs\n", major, sms);
    program.launch(7, CUtensorMap{});
  }
  if (what == "unknown") {
    const CUresult result = get<decltype(cuGraphDebugDotPrint)>("cuGraphDebugDotPrint")(nullptr, "x", 0);
    std::printf("%d\n", result);
    program.launch(7, CUtensorMap{});
  }
  if (what == "old") program.launch_as_of_11();
  if (what == "fork") program.launch_in_both();
  if (what == "device") {
    CUdevice second = 7;
    std::printf("%d\n", get<decltype(cuDeviceGet)>("cuDeviceGet")(&second, 1));
    program.launch(7, CUtensorMap{});
  }
  if (what == "thousands")
    for (unsigned count = 0; count < 100000; ++count) program.launch(count / 2, CUtensorMap{});
  if (what == "lines")
    for (unsigned count = 0; count < 50000; ++count) std::printf("%u: a program that says very much while it launches\n", count);
  if (what == "lines") program.launch(7, CUtensorMap{});
  if (what == "full") {  // as on a full disk: the text has room, and the launch has none
    program.launch(7, CUtensorMap{});
    const rlimit small{600, 600};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    program.launch(8, CUtensorMap{});
  }
  if (what == "crash") {
    program.launch(7, CUtensorMap{});
    std::abort();
  }
}

}  // namespace

int main(int count, char** words) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library || count < 2) return 2;
  find = reinterpret_cast<decltype(find)>(dlsym(library, "cuGetProcAddress_v2"));
  run(words[1]);
}
