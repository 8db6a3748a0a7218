// Classification of files.
#include "app/session/files.h"

#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/dump/dump_files.h"
#include "core/dump/dump_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

namespace heddle::app {

Result<FileKind> classify_file(const std::string& path) {
  // The name may say what of a dump is meant: no file is called so.
  if (dump::is_dump(path)) return FileKind::Dump;
  const auto text = read_file(path);
  if (!text) return text.error();
  if (dump::is_joint_solution_text(*text)) return FileKind::DumpSolution;
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
  if (kind == "heddle.measurement") return FileKind::Measurement;
  return FileKind::Unknown;
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::vector<std::string> machines_for(const Kernel& kernel, const Scope& overrides) {
  std::vector<std::string> names;
  for (const char* name : {"h100", "h200", "b200", "toy"})
    if (const auto machine = load_machine(name); machine && resolve(kernel, *machine, overrides)) names.push_back(name);
  return names;
}

}  // namespace heddle::app
