// NVRTC through dlopen. Its functions are declared here, as its documentation has them: no CUDA header is needed to build.
#include <dlfcn.h>

#include <iterator>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "codegen/compile/backends.h"
#include "codegen/compile/shared_library.h"
#include "core/base/environment.h"

namespace heddle::codegen {
namespace {

using Handle = struct OpaqueProgram*;

struct Nvrtc {
  int (*version)(int*, int*) = nullptr;
  int (*create)(Handle*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(Handle, int, const char* const*) = nullptr;
  int (*log_size)(Handle, std::size_t*) = nullptr;
  int (*log)(Handle, char*) = nullptr;
  int (*cubin_size)(Handle, std::size_t*) = nullptr;
  int (*cubin)(Handle, char*) = nullptr;
  int (*destroy)(Handle*) = nullptr;
  const char* (*error)(int) = nullptr;
  int (*flow)(Handle, int (*)(void*, void*), void*) = nullptr;  ///< of later versions: asks again and again whether to go on
  std::string name;
};

template <class F>
bool bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

Result<Nvrtc> open_nvrtc() {
  Nvrtc nvrtc;
  const auto complete = [&](void* library) {
    int major = 0, minor = 0;
    const bool good = bind(library, "nvrtcVersion", nvrtc.version) && bind(library, "nvrtcCreateProgram", nvrtc.create) &&
                      bind(library, "nvrtcCompileProgram", nvrtc.compile) && bind(library, "nvrtcGetProgramLogSize", nvrtc.log_size) &&
                      bind(library, "nvrtcGetProgramLog", nvrtc.log) && bind(library, "nvrtcGetCUBINSize", nvrtc.cubin_size) &&
                      bind(library, "nvrtcGetCUBIN", nvrtc.cubin) && bind(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
                      bind(library, "nvrtcGetErrorString", nvrtc.error) && nvrtc.version(&major, &minor) == 0;
    nvrtc.name = fmt::format("NVRTC {}.{}", major, minor);
    bind(library, "nvrtcSetFlowCallback", nvrtc.flow);
    return good;
  };
  const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  const Result<void*> opened = open_shared("HEDDLE_NVRTC", names, complete);
  if (!opened) return opened.error();
  if (*opened) return nvrtc;
  const Result<std::string> named = path_named_by("HEDDLE_NVRTC");
  return Error::environment(
      fmt::format("NVRTC cannot be opened (tried {})", named.ok() && !named->empty() ? *named : fmt::format("{}", fmt::join(names, ", "))),
      "install the CUDA toolkit's NVRTC, or name its library in HEDDLE_NVRTC");
}

int stops(void* token, void*) { return static_cast<const std::stop_token*>(token)->stop_requested() ? 1 : 0; }

const Result<Nvrtc>& nvrtc() {
  static const Result<Nvrtc> opened = open_nvrtc();
  return opened;
}

}  // namespace

Result<std::string> nvrtc_version() {
  if (!nvrtc()) return nvrtc().error();
  return nvrtc()->name;
}

Result<Built> build_with_nvrtc(const std::string& source, const std::string& arch, const std::stop_token& stop) {
  if (!nvrtc()) return nvrtc().error();
  const Nvrtc& n = *nvrtc();
  const auto failed = [&](int code) { return Error::environment(fmt::format("NVRTC failed: {}", n.error(code))); };
  Handle handle = nullptr;
  if (const int code = n.create(&handle, source.c_str(), "heddle.cu", 0, nullptr, nullptr)) return failed(code);
  const std::unique_ptr<Handle, void (*)(Handle*)> owner(&handle, [](Handle* h) { nvrtc()->destroy(h); });
  std::stop_token asked = stop;
  if (n.flow && stop.stop_possible()) n.flow(handle, stops, &asked);
  const std::string target = "--gpu-architecture=" + arch;
  const char* options[] = {target.c_str(), "--std=c++17", "--ptxas-options=-v", "--generate-line-info"};
  const int code = n.compile(handle, std::size(options), options);
  Built built;
  std::size_t size = 0;
  if (n.log_size(handle, &size) == 0 && size > 1) {
    built.log.resize(size);
    n.log(handle, built.log.data());
    built.log.resize(size - 1);
  }
  built.good = code == 0;
  if (!built.good) {
    if (built.log.empty()) return failed(code);
    return built;
  }
  if (const int got = n.cubin_size(handle, &size); got != 0 || size == 0) return failed(got);
  built.cubin.resize(size);
  if (const int got = n.cubin(handle, built.cubin.data())) return failed(got);
  return built;
}

}  // namespace heddle::codegen
