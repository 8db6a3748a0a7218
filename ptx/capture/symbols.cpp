#include "ptx/capture/symbols.h"

#include <dlfcn.h>

namespace heddle::ptx::capture {

void* own_symbol(const char* name) {
  static void* const self = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&own_symbol), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  return self ? dlsym(self, name) : nullptr;
}

std::string without_stream_suffix(const std::string& name) {
  const std::size_t end = name.size() > 5 ? name.size() - 5 : 0;
  const std::string suffix = name.substr(end);
  return suffix == "_ptsz" || suffix == "_ptds" ? name.substr(0, end) : "";
}

int call_words(void* function, void* const (&a)[kMostArguments]) {
  using Function = int (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
  return reinterpret_cast<Function>(function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13]);
}

}  // namespace heddle::ptx::capture
