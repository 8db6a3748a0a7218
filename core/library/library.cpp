#include "core/library/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/kernel/subtile.h"
#include "core/library/source.h"
#include "core/library/triton_text.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

bool is_library(const fs::path& folder) {
  std::error_code code;
  return fs::is_directory(folder / "kernels", code) && fs::is_directory(folder / "assets" / "machines", code);
}

struct ShelfFacts {
  const char* folder;
  const char* ending;
  const char* what;
};

/// Hand schedules lie beside their kernels: kernels/schedules/<kernel>/<name>.json.
ShelfFacts facts_of(Shelf shelf) {
  switch (shelf) {
    case Shelf::Kernels: return {"kernels", ".json", "kernel"};
    case Shelf::Machines: return {"assets/machines", ".json", "machine"};
    case Shelf::Schedules: return {"kernels/schedules", ".json", "schedule"};
  }
  return {"kernels", ".json", "kernel"};
}

}  // namespace

Result<std::string> library_root() {
  std::vector<std::string> tried;
  const auto holds = [&](const fs::path& folder) {
    tried.push_back(folder.string());
    return is_library(folder);
  };
  if (const char* chosen = std::getenv("HEDDLE_ASSETS"); chosen && *chosen) {
    if (holds(chosen)) return std::string(chosen);
    return Error::environment(fmt::format("HEDDLE_ASSETS is {}, which has no kernels/ and assets/machines/", chosen),
                              "set it to the folder that holds both, or unset it");
  }
  std::error_code code;
  fs::path folder = fs::read_symlink("/proc/self/exe", code).parent_path();
  constexpr int kLevels = 3;  // build/release/heddle, and one more for test programs in subfolders
  for (int level = 0; level <= kLevels && folder.has_relative_path(); ++level, folder = folder.parent_path())
    for (const fs::path& place : {folder / "share" / "heddle", folder})  // installed; in a source tree
      if (holds(place)) return place.string();
  if (holds(HEDDLE_SOURCE_DIR)) return std::string(HEDDLE_SOURCE_DIR);
  return Error::environment(fmt::format("the shipped kernels and machines were not found; searched {}", list_of(tried)),
                            "set HEDDLE_ASSETS to the folder that holds kernels/ and assets/");
}

Result<std::string> library_file(const std::string& relative) {
  const Result<std::string> root = library_root();
  return root ? Result<std::string>((fs::path(*root) / relative).string()) : root;
}

std::vector<LibraryEntry> list_library(Shelf shelf) {
  std::vector<LibraryEntry> entries;
  const ShelfFacts facts = facts_of(shelf);
  const Result<std::string> folder = library_file(facts.folder);
  if (!folder) return entries;
  const std::string ending = facts.ending;
  std::error_code code;
  for (fs::recursive_directory_iterator it(*folder, code), end; !code && it != end; it.increment(code)) {
    if (it->is_directory(code)) {
      // Only schedules are sorted into folders, one per kernel.
      if (shelf != Shelf::Schedules) it.disable_recursion_pending();
      continue;
    }
    const std::string relative = it->path().lexically_relative(*folder).string();
    if (relative.size() <= ending.size() || !relative.ends_with(ending)) continue;
    entries.push_back({relative.substr(0, relative.size() - ending.size()), it->path().string()});
  }
  std::sort(entries.begin(), entries.end(), [](const LibraryEntry& a, const LibraryEntry& b) { return a.name < b.name; });
  return entries;
}

Result<std::string> find_in_library(Shelf shelf, const std::string& name_or_path) {
  const ShelfFacts facts = facts_of(shelf);
  std::vector<std::string> names;
  for (const LibraryEntry& entry : list_library(shelf)) {
    if (entry.name == name_or_path) return entry.path;
    names.push_back(entry.name);
  }
  std::error_code code;
  if (fs::exists(name_or_path, code)) return name_or_path;
  if (name_or_path.find('#') != std::string::npos && compilers_file(name_or_path)) return name_or_path;
  // What follows the mark says which loop of a dump or of a Triton text.
  const std::string file = name_or_path.substr(0, name_or_path.rfind('#'));
  const bool path_like = file.size() < name_or_path.size() || file.ends_with(".json") || file.ends_with(".ttgir") ||
                         (shelf != Shelf::Schedules && file.find('/') != std::string::npos);
  std::string hint = did_you_mean(path_like ? fs::path(file).stem().string() : name_or_path, names);
  if (path_like && fs::exists(file, code))
    return Error::in_file(file, "only a compiler's dump and a Triton text have loops to name after #");
  if (path_like) return Error::in_file(file, "no such file", std::move(hint));
  if (hint.empty()) {
    if (names.empty()) {
      const Result<std::string> root = library_root();
      if (!root) return root.error();
    }
    hint = names.empty() ? fmt::format("no {} ships with this program; give a path", facts.what)
                         : fmt::format("shipped: {}; or give a path", list_of(names));
  }
  return Error::input(fmt::format("unknown {} '{}'", facts.what, name_or_path), std::move(hint));
}

Result<std::string> find_schedule(const std::string& name_or_path, const std::string& kernel) {
  std::error_code code;
  const std::string full = kernel + "/" + name_or_path;
  if (!fs::exists(name_or_path, code))
    for (const LibraryEntry& entry : list_library(Shelf::Schedules))
      if (entry.name == full) return entry.path;
  return find_in_library(Shelf::Schedules, name_or_path);
}

bool is_project(const std::string& name) { return name.ends_with(".heddle.json"); }

std::string name_in_library(Shelf shelf, const std::string& path) {
  if (const CutName cut = split_cuts(path); shelf == Shelf::Kernels && !cut.cuts.empty())
    return name_in_library(shelf, cut.kernel) + path.substr(cut.kernel.size());
  for (const LibraryEntry& entry : list_library(shelf))
    if (entry.path == path) return entry.name;
  return path;
}

Result<Kernel> load_kernel(const std::string& name_or_path, std::vector<Fault>* warnings) {
  const std::shared_ptr<const Source> source = find_source(name_or_path);
  if (!source->project()) return source->kernel(warnings);
  // Who asks for a kernel alone takes no project for it.
  const Result<std::string> path = find_in_library(Shelf::Kernels, name_or_path);
  return path ? read_kernel(*path, warnings) : path.error();
}

Result<Machine> load_machine(const std::string& name_or_path, std::vector<Fault>* warnings) {
  const Result<std::string> path = find_in_library(Shelf::Machines, name_or_path);
  if (!path) return path.error();
  const std::shared_ptr<const Source> source = compilers_file(*path);
  const bool has_machine = source && source->has_kernel();
  return has_machine ? source->machine(warnings) : read_machine(*path, warnings);
}

Result<ScheduleHead> read_schedule_head(const std::string& path, const Source* known) {
  if (compilers_file(path, known)) return ScheduleHead{path, path, path, {}};
  const Result<std::string> text = read_file(path);
  return text ? parse_schedule_head(*text, path) : text.error();
}

Result<Schedule> read_schedule(const std::string& path, const Problem& problem, std::vector<Fault>* warnings, const Source* known) {
  if (const std::shared_ptr<const Source> source = compilers_file(path, known)) {
    // The schedule in a Triton text is one of the triton reading.
    const TritonText* text = source->triton();
    return (text && !text->said() ? text->by(triton::TextReading::Triton) : source)->own_schedule(problem);
  }
  const Result<std::string> text = read_file(path);
  return text ? parse_schedule(*text, path, problem, warnings) : text.error();
}

}  // namespace heddle
