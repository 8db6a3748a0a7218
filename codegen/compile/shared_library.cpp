// The loader does not look in the wheels' folders, but takes for a library's needs what is open for all already. So where a library does
// not open by itself, its neighbours are opened first, round after round, until it does or no more of them do.
#include "codegen/compile/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/environment.h"

namespace heddle::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kToolkit = "/usr/local/cuda/lib64/";

std::vector<fs::path> folders_of(const fs::path& parent, const std::string& begins) {
  std::vector<fs::path> found;
  std::error_code bad;
  for (fs::directory_iterator it(parent, bad), end; !bad && it != end; it.increment(bad))
    if (it->path().filename().string().starts_with(begins) && it->is_directory(bad)) found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());  // the newest Python, cu13 before cu12
  return found;
}

/// Opens everything that lies in the wheels' folders and can be opened, until nothing more can.
void* open_with_neighbours(const std::string& path, const std::vector<std::string>& folders) {
  const auto plain = [&] { return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); };
  if (void* library = plain()) return library;
  std::vector<std::string> neighbours;
  for (const std::string& folder : folders) {
    std::error_code bad;
    for (fs::directory_iterator it(folder, bad), end; !bad && it != end; it.increment(bad))
      if (const std::string name = it->path().filename().string(); name.starts_with("libcublasLt") || name.starts_with("libnvrtc") ||
                                                                   name.starts_with("libcudnn") || name.starts_with("libnvJitLink"))
        neighbours.push_back(it->path().string());
  }
  for (bool more = true; more;) {
    more = false;
    std::erase_if(neighbours, [&](const std::string& one) {
      const bool opened = one != path && dlopen(one.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr;
      more = more || opened;
      return opened;
    });
    if (void* library = plain()) return library;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> wheel_folders() {
  std::vector<fs::path> parents;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* value = std::getenv(variable); value && fs::path(value).is_absolute()) parents.push_back(fs::path(value) / "lib");
  if (const char* home = std::getenv("HOME"); home && fs::path(home).is_absolute()) parents.push_back(fs::path(home) / ".local" / "lib");
  for (const char* place : {"/usr/local/lib", "/usr/lib", "/opt/conda/lib", "/opt/venv/lib"}) parents.emplace_back(place);
  std::vector<std::string> found;
  for (const fs::path& parent : parents)
    for (const fs::path& python : folders_of(parent, "python3"))
      for (const char* packages : {"site-packages", "dist-packages"})
        for (const fs::path& wheel : folders_of(python / packages / "nvidia", ""))
          if (std::error_code bad; fs::is_directory(wheel / "lib", bad)) found.push_back((wheel / "lib").string());
  return found;
}

Result<void*> open_shared(const char* variable, const std::vector<std::string>& names, const std::function<bool(void*)>& accept) {
  const auto take = [&](void* library) {
    if (!library || !accept || accept(library)) return library;
    dlclose(library);
    return static_cast<void*>(nullptr);
  };
  const Result<std::string> named = path_named_by(variable);
  if (!named) return named.error();
  if (!named->empty()) return take(dlopen(named->c_str(), RTLD_NOW | RTLD_LOCAL));
  for (const char* folder : {"", kToolkit})
    for (const std::string& name : names)
      if (void* library = take(dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))) return library;
  const std::vector<std::string> folders = wheel_folders();
  for (const std::string& name : names)
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + name;
      std::error_code bad;
      if (!fs::exists(path, bad)) continue;
      if (void* library = take(open_with_neighbours(path, folders))) return library;
    }
  return nullptr;
}

}  // namespace heddle::codegen
