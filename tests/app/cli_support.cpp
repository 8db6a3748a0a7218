// Streams are strings, folders are under the system's temporary one.
#include "tests/app/cli_support.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "app/cli/cli.h"

namespace heddle::test {

CliRun run_heddle(std::vector<std::string> args) {
  std::ostringstream out, err;
  CliRun run;
  run.code = app::run_cli(std::move(args), out, err);
  run.out = out.str();
  run.err = err.str();
  return run;
}

ScratchFolder::ScratchFolder() {
  static int count = 0;
  folder_ = std::filesystem::temp_directory_path() / ("heddle_cli_" + std::to_string(getpid()) + "_" + std::to_string(++count));
  std::filesystem::create_directories(folder_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string toy_schedule(const std::string& from, const std::string& to) {
  std::string text = R"({
  "schema": "heddle.schedule/1", "name": "by hand", "kernel": "toy_fig1", "machine": "toy", "params": {"T": 8}, "ii": 2,
  "groups": [{"id": 0, "role": "consumer", "warps": 1, "registers": 24}],
  "ops": [{"id": "S", "start": 0, "group": 0}, {"id": "P", "start": 1, "group": 0}, {"id": "O", "start": 3, "group": 0}],
  "channels": [], "provenance": {"kind": "hand", "author": "test", "note": ""}
})";
  const std::size_t at = from.empty() ? std::string::npos : text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace heddle::test
