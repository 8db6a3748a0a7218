// "Another machine" for --on: this one with a home of its own, which an ssh of ours (tests/gpu/ssh) reaches.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

namespace heddle::test {

/// The other machine: a home and a folder for temporary files; and a package whose program is the one that is tested.
struct OtherMachine {
  std::filesystem::path folder = std::filesystem::path(HEDDLE_FAKE_KERNELS) / fmt::format("remote.{}", ::getpid());
  std::string path = std::getenv("PATH");

  OtherMachine() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "heddle-server-9/bin");
    const std::string program = (folder / "heddle-server-9/bin/heddle").string();
    std::ofstream(program) << "#!/bin/sh\nexec '" HEDDLE_PROGRAM "' \"$@\"\n";
    ::chmod(program.c_str(), 0755);
    REQUIRE(std::system(fmt::format("tar -C '{}' -czf '{}' heddle-server-9", folder.string(), package()).c_str()) == 0);
    ::setenv("PATH", (repository_path("tests/gpu/ssh") + ":" + path).c_str(), 1);
    ::setenv("HEDDLE_FAKE_HOST", folder.c_str(), 1);
  }
  ~OtherMachine() {
    ::setenv("PATH", path.c_str(), 1);
    ::unsetenv("HEDDLE_FAKE_HOST");
    std::filesystem::remove_all(folder);
  }
  std::string package() const { return (folder / "heddle-server-9-linux-x86_64.tar.gz").string(); }
  std::string on(const std::string& host) const { return fmt::format(" --on '{}' --package '{}'", host, package()); }
  /// Of runs that are gone nothing stays.
  bool clean() const { return std::filesystem::is_empty(folder / "tmp"); }
  bool clean_soon() const {
    return wait_until([&] { return clean(); });
  }
  std::string calls() const { return read_file((folder / "calls").string()).value(); }
};

}  // namespace heddle::test
