#include "codegen/run/cudnn.h"

#include <dlfcn.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "codegen/compile/shared_library.h"
#include "codegen/run/library.h"

namespace heddle::codegen::cudnn {

std::string Api::name() const {
  const std::size_t v = version();
  return fmt::format("cuDNN {}.{}.{}", v / 10000, v / 100 % 100, v % 100);
}

std::string Api::reason() const {
  char text[4096] = {};
  last_error(text, sizeof text - 1);
  // Lines of "Error: NAME; Reason: condition", the innermost first.
  const std::string all = text;
  constexpr std::string_view kMark = "Reason: ";
  const std::size_t mark = all.find(kMark);
  const std::size_t begin = mark == std::string::npos ? 0 : mark + kMark.size();
  return all.substr(begin, all.find('\n', begin) - begin);
}

std::string Api::says(int status) const {
  const char* name = status_name(status);
  const std::string why = reason(), word = name ? name : fmt::format("status {}", status);
  return why.empty() ? word : fmt::format("{}: {}", word, why);
}

Result<Api> open_api() {
  const Result<void*> opened = open_shared("HEDDLE_CUDNN", {"libcudnn.so.9"});
  if (!opened) return opened.error();
  void* const library = *opened;
  if (!library) return Error::environment("cuDNN is not installed");
  Api api;
  const char* missing = nullptr;
  const auto bind = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    if (!function && !missing) missing = symbol;
  };
  // Older versions lack some of the others: its number comes first.
  bind(api.version, "cudnnGetVersion");
  if (missing) return Error::environment(fmt::format("the cuDNN that is installed lacks {}", missing));
  if (const std::size_t version = api.version(); version < kOldest)
    return Error::environment(
        fmt::format("cuDNN {}.{} is too old; 9.0 or newer is needed", version / 1000, version % 1000 / 100));  // 8907 is 8.9.7
  bind(api.create, "cudnnCreate"), bind(api.set_stream, "cudnnSetStream"), bind(api.status_name, "cudnnGetErrorString");
  bind(api.last_error, "cudnnGetLastErrorString"), bind(api.make, "cudnnBackendCreateDescriptor"),
      bind(api.destroy, "cudnnBackendDestroyDescriptor");
  bind(api.finish, "cudnnBackendFinalize"), bind(api.set, "cudnnBackendSetAttribute"), bind(api.get, "cudnnBackendGetAttribute");
  bind(api.execute, "cudnnBackendExecute");
  if (missing) return Error::environment(fmt::format("the cuDNN that is installed lacks {}", missing));
  return api;
}

Maker::~Maker() {
  for (auto at = owned_.rbegin(); at != owned_.rend(); ++at) api_.destroy(*at);
}

void Maker::check(int status) {
  if (status != 0 && failure_.empty()) failure_ = api_.says(status);
}

Descriptor Maker::make(int kind) {
  Descriptor made = nullptr;
  if (!good()) return made;
  check(api_.make(kind, &made));
  if (good()) owned_.push_back(made);
  return made;
}

Maker& Maker::set(Descriptor to, int attribute, const std::vector<std::int64_t>& values) {
  if (good()) check(api_.set(to, attribute, kInt64Type, static_cast<std::int64_t>(values.size()), values.data()));
  return *this;
}
Maker& Maker::set(Descriptor to, int attribute, const std::vector<Descriptor>& values, int type) {
  if (good()) check(api_.set(to, attribute, type, static_cast<std::int64_t>(values.size()), values.data()));
  return *this;
}
Maker& Maker::set_flag(Descriptor to, int attribute) {
  const bool yes = true;
  if (good()) check(api_.set(to, attribute, kBooleanType, 1, &yes));
  return *this;
}
Maker& Maker::set_word(Descriptor to, int attribute, int type, int value) {
  if (good()) check(api_.set(to, attribute, type, 1, &value));
  return *this;
}
Maker& Maker::set_text(Descriptor to, int attribute, const std::string& text) {
  if (good()) check(api_.set(to, attribute, kCharType, static_cast<std::int64_t>(text.size()), text.data()));
  return *this;
}

Descriptor Maker::finish(Descriptor what) {
  if (good()) check(api_.finish(what));
  return what;
}

std::string Maker::take_failure() { return std::exchange(failure_, {}); }

}  // namespace heddle::codegen::cudnn
