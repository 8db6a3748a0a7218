// Libraries in the folders of Python's wheels.
#include "codegen/compile/shared_library.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// A virtual environment with one wheel, the active one while this lives.
struct VirtualEnvironment {
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("heddle-venv-" + std::to_string(std::rand()));
  std::filesystem::path wheel = root / "lib" / "python3.12" / "site-packages" / "nvidia" / "cuda_nvrtc" / "lib";
  VirtualEnvironment() {
    std::filesystem::create_directories(wheel);
    ::setenv("VIRTUAL_ENV", root.c_str(), 1);
  }
  ~VirtualEnvironment() {
    ::unsetenv("VIRTUAL_ENV");
    std::filesystem::remove_all(root);
  }
};

}  // namespace

TEST_CASE("folders of the active environment's wheels come first", "[codegen]") {
  const VirtualEnvironment environment;
  const std::vector<std::string> folders = wheel_folders();
  REQUIRE_FALSE(folders.empty());
  CHECK(folders.front() == environment.wheel.string());
}

TEST_CASE("a library that lies in a wheel only is found, and one that does not suit is not taken", "[codegen]") {
  const VirtualEnvironment environment;
  const char* libm = "/lib/x86_64-linux-gnu/libm.so.6";
  if (!std::filesystem::exists(libm)) return;  // any library will do
  std::filesystem::create_symlink(libm, environment.wheel / "libheddle-somewhere.so.1");
  const auto found = open_shared("HEDDLE_NO_SUCH_VARIABLE", {"libheddle-somewhere.so.2", "libheddle-somewhere.so.1"});
  REQUIRE(found.ok());
  CHECK(*found != nullptr);
  const auto refused = open_shared("HEDDLE_NO_SUCH_VARIABLE", {"libheddle-somewhere.so.1"}, [](void*) { return false; });
  REQUIRE(refused.ok());
  CHECK(*refused == nullptr);
}

TEST_CASE("a wheel's broken library is no library", "[codegen]") {
  const VirtualEnvironment environment;
  std::filesystem::create_symlink("/etc/hostname", environment.wheel / "libheddle-broken.so");
  const auto found = open_shared("HEDDLE_NO_SUCH_VARIABLE", {"libheddle-broken.so"});
  REQUIRE(found.ok());
  CHECK(*found == nullptr);
}
