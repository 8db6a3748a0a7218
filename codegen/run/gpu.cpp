#include "codegen/run/gpu.h"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "codegen/run/map_arguments.h"

namespace heddle::codegen {
namespace {

/// "580.65.06": what the kernel module says of itself; empty where it says nothing.
std::string module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word)
    if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos && word.find('.') != std::string::npos) return word;
  return {};
}

cuda::Driver opened() {
  auto driver = cuda::open_driver();
  if (!driver.ok()) throw RunFailure{RunStatus::NoGpu, driver.error().faults.front().message};
  return *driver;
}

}  // namespace

void Gpu::check(int code, RunStatus status, const std::string& what) const {
  if (code != 0) throw RunFailure{status, fmt::format("{}: {}", what, driver_.error(code))};
}

Gpu::Gpu(const std::string& arch) : driver_(opened()) {
  check(driver_.init(0), RunStatus::NoGpu, "the CUDA driver finds no GPU");
  int count = 0, version = 0, value = 0;
  check(driver_.device_count(&count), RunStatus::NoGpu, "the CUDA driver finds no GPU");
  if (count < 1) throw RunFailure{RunStatus::NoGpu, "the CUDA driver finds no GPU"};
  cuda::Device device = 0;
  check(driver_.device_get(&device, 0), RunStatus::NoGpu, "the GPU cannot be used");
  const auto attribute = [&](int which) {
    check(driver_.device_attribute(&value, which, device), RunStatus::NoGpu, "the GPU cannot be asked");
    return value;
  };
  char name[256] = {};
  driver_.device_name(name, sizeof name - 1, device);
  device_.name = name;
  const int major = attribute(cuda::kMajor), minor = attribute(cuda::kMinor);
  device_.arch = fmt::format("sm_{}{}", major, minor);
  device_.sms = attribute(cuda::kSms);
  device_.l2_bytes = attribute(cuda::kL2Bytes);
  int clock = 0;  // of no use to a run; CUDA 13 may not tell it any more
  if (driver_.device_attribute(&clock, cuda::kClockRate, device) == 0) device_.max_clock_mhz = clock / 1000.0;
  std::size_t memory = 0;
  driver_.device_memory(&memory, device);
  device_.memory_bytes = static_cast<std::int64_t>(memory);
  driver_.driver_version(&version);
  const std::string module = module_version(), cuda = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  device_.driver = module.empty() ? cuda : fmt::format("{} ({})", module, cuda);
  if (!runs_on(arch, major, minor))
    throw RunFailure{RunStatus::NoGpu,
                     fmt::format("{} is {}; this kernel is written for {} ({})", device_.name, device_.arch, arch, gpus_of(arch))};
  cuda::Context context = nullptr;
  check(driver_.retain_context(&context, device), RunStatus::NoGpu, "the GPU cannot be used");
  check(driver_.set_context(context), RunStatus::NoGpu, "the GPU cannot be used");
  check(driver_.create_stream(&stream_, 1), RunStatus::NoGpu, "the GPU cannot be used");  // 1: does not wait for the default stream
  check(driver_.create_event(&begin_, 0), RunStatus::NoGpu, "the GPU cannot be used");
  check(driver_.create_event(&end_, 0), RunStatus::NoGpu, "the GPU cannot be used");
}

cuda::Memory Gpu::allocate(std::int64_t bytes, const std::string& what) {
  cuda::Memory memory = 0;
  const int code = driver_.allocate(&memory, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 16)));
  if (code == cuda::kOutOfMemory)
    throw RunFailure{RunStatus::Refused, fmt::format("the GPU has no room for {} ({} bytes); choose smaller sizes", what, bytes)};
  check(code, RunStatus::Refused, "no memory for " + what);
  return memory;
}

void Gpu::fill(cuda::Memory memory, unsigned char byte, std::int64_t bytes) {
  check(driver_.fill(memory, byte, static_cast<std::size_t>(bytes)), RunStatus::Faulted, "memory cannot be filled");
  check(driver_.synchronize(), RunStatus::Faulted, "memory cannot be filled");
}
void Gpu::upload(cuda::Memory to, const std::vector<std::uint8_t>& bytes) {
  check(driver_.upload(to, bytes.data(), bytes.size()), RunStatus::Faulted, "data cannot be copied to the GPU");
  // The call returns when the bytes are on their way; our stream does not wait for that by itself.
  check(driver_.synchronize(), RunStatus::Faulted, "data cannot be copied to the GPU");
}
void Gpu::download(void* to, cuda::Memory from, std::int64_t bytes) {
  check(driver_.download(to, from, static_cast<std::size_t>(bytes)), RunStatus::Faulted, "results cannot be copied from the GPU");
}
void Gpu::copy(cuda::Memory to, cuda::Memory from, std::int64_t bytes) {
  check(driver_.copy(to, from, static_cast<std::size_t>(bytes)), RunStatus::Faulted, "data cannot be copied on the GPU");
}
void Gpu::finish(const std::string& what) { check(driver_.synchronize(), RunStatus::Faulted, what + " faults"); }

double Gpu::time(int launches, const std::function<void(int)>& launch, const std::string& what) {
  check(driver_.record_event(begin_, stream_), RunStatus::Faulted, "time cannot be taken");
  for (int i = 0; i < launches; ++i) launch(i);
  check(driver_.record_event(end_, stream_), RunStatus::Faulted, "time cannot be taken");
  check(driver_.synchronize_event(end_), RunStatus::Faulted, what + " faults");
  float milliseconds = 0;
  check(driver_.elapsed(&milliseconds, begin_, end_), RunStatus::Faulted, "time cannot be taken");
  return 1000.0 * milliseconds / launches;
}

cuda::Function load_function(Gpu& gpu, const std::string& cubin, const std::string& entry) {
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  gpu.check(gpu.driver().load_module(&module, cubin.data()), RunStatus::Refused, "the driver does not load the kernel");
  gpu.check(gpu.driver().get_function(&function, module, entry.c_str()), RunStatus::Refused, "the kernel's entry is not found");
  return function;
}

LoadedKernel::LoadedKernel(Gpu& gpu, const KernelPlan& plan, const std::vector<TensorPlan>& tensors, cuda::Memory records)
    : gpu_(gpu), plan_(plan), tensors_(tensors), function_(load_function(gpu, plan.cubin, plan.launch.entry)), records_(records) {
  gpu.check(gpu.driver().set_function_attribute(function_, cuda::kMaxDynamicShared, static_cast<int>(plan.launch.smem_bytes)),
            RunStatus::Refused, fmt::format("the GPU does not grant {} bytes of shared memory", plan.launch.smem_bytes));
  // A block per SM, in whole clusters; the size of a cluster stands in the kernel's text.
  const int cluster = plan.launch.cluster;
  blocks_ = std::max(1, static_cast<int>(std::min<std::int64_t>(plan.launch.tiles, gpu.device().sms)) / cluster) * cluster;
}

std::size_t LoadedKernel::add_buffers(const std::vector<cuda::Memory>& buffers) {
  Arguments& set = sets_.emplace_back();
  for (const TensorMapPlan& plan : plan_.launch.maps) {
    const TensorPlan& tensor = tensors_[plan.tensor];
    const MapArguments map = map_arguments(plan, tensor.dtype);
    const std::vector<unsigned> ones(map.box.size(), 1);
    const int code = gpu_.driver().encode_map(&set.maps.emplace_back(), map.type, static_cast<unsigned>(map.extents.size()),
                                              reinterpret_cast<void*>(buffers[plan.tensor]), map.extents.data(), map.strides.data(),
                                              map.box.data(), ones.data(), 0, map.swizzle, cuda::kMapPromotion256, 0);
    gpu_.check(code, RunStatus::Refused, fmt::format("the driver makes no tensor map of '{}'", tensor.name));
  }
  for (const std::size_t t : plan_.launch.pointers) set.pointers.push_back(buffers[t]);
  if (plan_.record_words > 0) set.pointers.push_back(records_);
  return sets_.size() - 1;
}

void LoadedKernel::launch(std::size_t index) {
  Arguments& set = sets_[index];
  if (set.list.empty()) {  // addresses are final now
    for (cuda::TensorMap& map : set.maps) set.list.push_back(&map);
    for (cuda::Memory& pointer : set.pointers) set.list.push_back(&pointer);
  }
  const int code = gpu_.driver().launch(function_, static_cast<unsigned>(blocks_), 1, 1, static_cast<unsigned>(plan_.launch.threads), 1, 1,
                                        static_cast<unsigned>(plan_.launch.smem_bytes), gpu_.stream(), set.list.data(), nullptr);
  gpu_.check(code, RunStatus::Refused, "the driver does not start the kernel");
}

}  // namespace heddle::codegen
