#include "codegen/run/driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "core/base/environment.h"

namespace heddle::codegen::cuda {

std::string Driver::error(int code) const {
  const char *name = nullptr, *text = nullptr;
  if (error_name(code, &name) != 0 || !name) return fmt::format("CUDA error {}", code);
  if (error_text(code, &text) != 0 || !text) return name;
  return fmt::format("{} ({})", name, text);
}

Result<Driver> open_driver() {
  const Result<std::string> named = path_named_by("HEDDLE_CUDA_DRIVER");
  if (!named) return named.error();
  const std::string place = named->empty() ? "libcuda.so.1" : *named;
  void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return Error::environment(fmt::format("there is no CUDA driver here ({} cannot be opened)", place),
                              "run this on a machine with an NVIDIA GPU and its driver");
  Driver d;
  std::string missing;
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function)
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, (std::string(name) + "_v2").c_str()));
    if (!function && missing.empty()) missing = name;
  };
  bind(d.init, "cuInit"), bind(d.driver_version, "cuDriverGetVersion"), bind(d.device_count, "cuDeviceGetCount"),
      bind(d.device_get, "cuDeviceGet");
  bind(d.device_name, "cuDeviceGetName"), bind(d.device_attribute, "cuDeviceGetAttribute"), bind(d.device_memory, "cuDeviceTotalMem_v2");
  bind(d.retain_context, "cuDevicePrimaryCtxRetain"), bind(d.set_context, "cuCtxSetCurrent"), bind(d.synchronize, "cuCtxSynchronize");
  bind(d.load_module, "cuModuleLoadData"), bind(d.get_function, "cuModuleGetFunction"),
      bind(d.set_function_attribute, "cuFuncSetAttribute");
  bind(d.launch, "cuLaunchKernel"), bind(d.allocate, "cuMemAlloc_v2"), bind(d.release, "cuMemFree_v2"), bind(d.upload, "cuMemcpyHtoD_v2");
  bind(d.download, "cuMemcpyDtoH_v2"), bind(d.copy, "cuMemcpyDtoD_v2"), bind(d.fill, "cuMemsetD8_v2"),
      bind(d.create_stream, "cuStreamCreate");
  bind(d.create_event, "cuEventCreate"), bind(d.record_event, "cuEventRecord"), bind(d.synchronize_event, "cuEventSynchronize");
  bind(d.elapsed, "cuEventElapsedTime"), bind(d.error_name, "cuGetErrorName"), bind(d.error_text, "cuGetErrorString");
  bind(d.encode_map, "cuTensorMapEncodeTiled");
  if (!missing.empty())
    return Error::environment(fmt::format("the CUDA driver {} has no {}", place, missing), "it is older than CUDA 12; update it");
  return d;
}

}  // namespace heddle::codegen::cuda
