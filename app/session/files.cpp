#include "app/session/files.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "app/command/ptx_form.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/instance/instance.h"
#include "core/kernel/subtile.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {

Result<FileKind> classify_file(const std::string& path) {
  if (split_kernel(path).file.ends_with(".ptx")) return FileKind::Launch;
  // The name may say what of the file is meant: none is called so.
  if (const SourcePtr file = compilers_file(path)) return file->has_kernel() ? FileKind::Compilers : FileKind::Schedule;
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto json = parse_json(*text, path);
  if (!json) return json.error();
  const Json* schema = json->find("schema");
  const std::string* name = schema ? schema->string() : nullptr;
  if (!name) return FileKind::Unknown;
  const std::string kind = name->substr(0, name->find('/'));
  if (kind == "heddle.kernel") return FileKind::Kernel;
  if (kind == "heddle.machine") return FileKind::Machine;
  if (kind == "heddle.schedule") return FileKind::Schedule;
  if (kind == "heddle.constraints") return FileKind::Constraints;
  if (kind == "heddle.project") return FileKind::Project;
  if (kind == "heddle.launch") return FileKind::Launch;
  if (kind == "heddle.measurement") return FileKind::Measurement;
  return FileKind::Unknown;
}

bool is_shipped_kernel(const std::string& name) {
  const std::string whole = split_cuts(name).kernel;
  std::error_code ignored;
  if (std::filesystem::exists(whole, ignored)) return name_in_library(Shelf::Kernels, whole) != whole;
  const auto shelf = list_library(Shelf::Kernels);
  return std::any_of(shelf.begin(), shelf.end(), [&](const LibraryEntry& entry) { return entry.name == whole; });
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string completed_path(const std::string& typed) {
  namespace fs = std::filesystem;
  const std::size_t slash = typed.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : typed.substr(0, slash + 1), begun = typed.substr(folder.size());
  std::optional<std::string> common;
  bool one_folder = false;
  std::error_code error;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(begun) || (begun.empty() && name.starts_with("."))) continue;
    std::error_code ignored;
    one_folder = !common && it->is_directory(ignored);
    if (!common) {
      common = name;
      continue;
    }
    const auto parting = std::mismatch(common->begin(), common->end(), name.begin(), name.end()).first;
    common->erase(parting, common->end());
  }
  if (!common) return typed;
  return folder + *common + (one_folder ? "/" : "");
}

std::vector<std::string> machines_for(const Kernel& kernel, const Scope& overrides) {
  std::vector<std::string> all{"h100", "h200", "b200", "toy"}, names;
  for (const LibraryEntry& entry : list_library(Shelf::Machines))
    if (std::find(all.begin(), all.end(), entry.name) == all.end()) all.push_back(entry.name);
  const auto shared = std::make_shared<const Kernel>(kernel);
  for (const std::string& name : all)
    if (const auto machine = load_machine(name); machine && make_problem({shared, std::make_shared<const Machine>(*machine), overrides}))
      names.push_back(name);
  return names;
}

const std::vector<std::string>& machines_for_shipped(const std::string& kernel) {
  static std::map<std::string, std::vector<std::string>> known;
  const auto [at, fresh] = known.try_emplace(kernel);
  if (fresh)
    if (const auto read = load_kernel(kernel)) at->second = machines_for(*read);
  return at->second;
}

}  // namespace heddle::app
