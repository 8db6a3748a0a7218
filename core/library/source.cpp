#include "core/library/source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/dump/dump_files.h"
#include "core/dump/dump_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/dump_text.h"
#include "core/library/library.h"
#include "core/library/project_file.h"
#include "core/library/triton_text.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// A kernel of ours, or what is nothing that is known: then it has the faults.
class KernelFile : public Source {
 public:
  KernelFile(std::string words, CutName cut, SourceKind kind = SourceKind::Kernel) : Source(kind, std::move(words)), cut_(std::move(cut)) {}

  Result<Kernel> kernel(std::vector<Fault>* warnings) const override {
    const Result<std::string> path = find_in_library(Shelf::Kernels, cut_.kernel);
    if (!path) return path.error();
    Result<Kernel> kernel = read_kernel(*path, warnings);
    for (const Subtile& part : cut_.cuts)
      if (kernel) kernel = subtile(*kernel, part);
    return kernel;
  }
  Result<Machine> machine(std::vector<Fault>* warnings) const override { return load_machine(name(), warnings); }

 private:
  CutName cut_;
};

class JointAnswer final : public KernelFile {
 public:
  JointAnswer(const std::string& words, const CutName& cut, std::string text)
      : KernelFile(words, cut, SourceKind::Solution), file_(cut.kernel), text_(std::move(text)) {}

  bool has_kernel() const override { return false; }
  bool has_own() const override { return true; }
  Result<Schedule> own_schedule(const Problem& problem) const override {
    const Result<dump::DumpAddress> address = dump::parse_address(file_);
    if (!address) return address.error();
    return with_form(dump::joint_schedule(address->path, text_, problem), file_, problem);
  }

 private:
  std::string file_, text_;
};

/// The file or folder that a name leads to; what follows the mark is judged where it is read. Empty: there is none.
std::string path_of(const std::string& name) {
  std::error_code code;
  const std::string path = fs::exists(name, code) ? name : name.substr(0, name.rfind('#'));
  return !path.empty() && fs::exists(path, code) ? path : std::string();
}

/// Also what must be a Triton text: a file by its ending, a folder. Where it cannot be read or holds nothing of Triton's, readers say so.
bool is_tritons(const std::string& name, const std::string& path) {
  std::error_code code;
  return triton::is_triton(name) || path.ends_with(".ttgir") || fs::is_directory(path, code);
}

std::shared_ptr<const Source> compilers(const std::string& words, const CutName& cut, const Source* known) {
  const std::string path = path_of(cut.kernel);
  if (path.empty()) return nullptr;
  const DumpText* open = known ? known->dump() : nullptr;
  if (open && open->file()->path() == path) return std::make_shared<const DumpText>(words, cut, open->file());
  std::error_code code;
  Result<std::string> text = fs::is_regular_file(path, code) ? read_file(path) : Result<std::string>(std::string());
  if (text && dump::is_dump_text(*text))
    return std::make_shared<const DumpText>(words, cut, std::make_shared<const DumpText::File>(path, *std::move(text)));
  if (is_tritons(cut.kernel, path)) return std::make_shared<const TritonText>(words, cut, known ? known->triton() : nullptr);
  if (text && dump::is_joint_solution_text(*text)) return std::make_shared<const JointAnswer>(words, cut, *std::move(text));
  return nullptr;
}

bool is_shipped(const std::string& name) {
  if (name.find_first_of("./") != std::string::npos) return false;
  const std::vector<LibraryEntry> shipped = list_library(Shelf::Kernels);
  return std::any_of(shipped.begin(), shipped.end(), [&](const LibraryEntry& entry) { return entry.name == name; });
}

}  // namespace

Result<Constraints> Source::rules(const Problem&, bool) const { return Constraints{}; }

Result<Schedule> Source::own_schedule(const Problem&) const {
  return Error::input(fmt::format("{} has no schedule of its own", name_), "give a SCHEDULE, or solve it");
}

Result<SourcePtr> Source::opened() const { return Error::input(name_ + " is no compiler's file"); }

Result<SourcePtr> Source::with(const FilePart&) const { return Error::input(name_ + " has no parts"); }

std::string with_article(const std::string& reading_name) { return reading_name.ends_with("'s") ? reading_name : "the " + reading_name; }

std::shared_ptr<const Source> compilers_file(const std::string& name, const Source* known) { return compilers(name, {name, {}}, known); }

std::shared_ptr<const Source> find_source(const std::string& words, const Source* known) {
  if (is_project(words)) return std::make_shared<const ProjectFile>(words);
  std::error_code code;
  const CutName cut = fs::exists(words, code) ? CutName{words, {}} : split_cuts(words);
  // Few words lead to a compiler's file: only then the library has to be looked through.
  if (auto source = compilers(words, cut, known); source && !is_shipped(cut.kernel.substr(0, cut.kernel.rfind('#')))) return source;
  return std::make_shared<const KernelFile>(words, cut);
}

}  // namespace heddle
