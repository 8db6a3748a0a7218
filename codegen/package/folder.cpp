#include "codegen/package/folder.h"

#include <filesystem>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "codegen/package/torch.h"
#include "core/base/atomic_file.h"

namespace heddle::codegen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".heddle-package";  // in a folder that a package was written into
constexpr const char* kFirstLine = "Heddle writes these files anew:";

/// That the mark of a folder lists.
std::set<std::string> written_before(const std::string& folder) {
  std::set<std::string> files;
  const auto mark = read_file((fs::path(folder) / kMark).string());
  std::istringstream lines(mark.ok() ? *mark : std::string());
  for (std::string line; std::getline(lines, line);)
    if (line != kFirstLine && !line.empty()) files.insert(line);
  return files;
}

}  // namespace

std::vector<PackageFile> package_files(PackageFormat format, const PackageSubject& subject) {
  return format == PackageFormat::Torch ? torch_package(subject) : cuda_package(subject);
}

Result<Ok> check_package_folder(const std::string& folder, bool force) {
  std::error_code failed;
  const fs::file_status status = fs::status(folder, failed);
  if (!fs::exists(status)) return Ok{};
  if (!fs::is_directory(status))
    return Error::input(fmt::format("'{}' is a file; a package needs a folder", folder), "name one that does not exist");
  const bool empty = fs::is_empty(folder, failed);
  if (failed) return Error::environment(fmt::format("'{}' cannot be read: {}", folder, failed.message()));
  if (force || empty || fs::exists(fs::path(folder) / kMark, failed)) return Ok{};
  return Error::input(fmt::format("'{}' holds files that are no package of Heddle's", folder), "name another folder");
}

Result<Ok> write_package(const std::vector<PackageFile>& files, const std::string& folder, bool force) {
  if (auto fits = check_package_folder(folder, force); !fits.ok()) return fits;
  std::set<std::string> ours = written_before(folder);
  std::error_code failed;
  for (const PackageFile& file : files)
    if (!force && !ours.contains(file.path) && fs::exists(fs::path(folder) / file.path, failed))
      return Error::input(fmt::format("'{}' holds '{}', which was not written with the package there", folder, file.path),
                          "name another folder");
  for (const PackageFile& file : files) ours.insert(file.path);
  if (auto marked = write_file((fs::path(folder) / kMark).string(), fmt::format("{}\n{}\n", kFirstLine, fmt::join(ours, "\n")),
                               MissingFolder::Create);
      !marked.ok())
    return marked;
  for (const PackageFile& file : files)
    if (auto written = write_file((fs::path(folder) / file.path).string(), file.text, MissingFolder::Create); !written.ok()) return written;
  return Ok{};
}

}  // namespace heddle::codegen
