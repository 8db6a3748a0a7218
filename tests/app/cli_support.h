// Running the command line inside a test, and files for it to read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::test {

struct CliRun {
  int code = 0;
  std::string out, err;
};

/// run_cli with captured streams.
CliRun run_heddle(std::vector<std::string> args);

/// A folder of its own that disappears with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// Writes a file and answers its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path folder_;
};

std::string read_text(const std::string& path);
bool contains(const std::string& text, const std::string& part);

/// A legal schedule of the toy at II 2, with one field replaced by the caller ("" changes nothing).
std::string toy_schedule(const std::string& from = "", const std::string& to = "");

}  // namespace heddle::test
