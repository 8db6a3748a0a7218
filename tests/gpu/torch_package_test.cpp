// A package for PyTorch on a GPU that is not there: its extension, compiled against what it takes of PyTorch's headers, registers its
// operator, computes, passes strides on, and says what does not fit.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/package/torch.h"
#include "core/base/atomic_file.h"
#include "tests/gpu/fixture.h"
#include "tests/support/exit_status.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::FakeGpu;
using test::Prepared;

namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr const char* kChecked = "-fsanitize=address";  // the fake driver is built with it
#else
constexpr const char* kChecked = "";
#endif

std::string command_says(const std::string& command, const std::string& folder) {
  const std::string out = folder + "/out";
  const int status = std::system(fmt::format("{} >'{}' 2>&1", command, out).c_str());
  const auto text = read_file(out);
  INFO(command << "\n" << (text.ok() ? *text : ""));
  REQUIRE(test::exit_status(status) == 0);
  return text.ok() ? *text : "";
}

/// Is removed with all that lies in it.
struct Folder {
  std::string path;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

TEST_CASE("a GEMM's operator for PyTorch computes on the fake driver, and names what does not fit", "[gpu]") {
  const FakeGpu gpu;
  const Prepared& gemm = test::small_gemm();
  const EmitResult emitted = emit_cuda(gemm.kernel, gemm.problem, gemm.schedule, gemm.program);
  REQUIRE(emitted.emission.has_value());
  const PackageSubject subject{gemm.kernel, gemm.problem, gemm.schedule, gemm.program, *emitted.emission, "heddle emit"};
  const std::string name = package_name(subject), folder = fmt::format("{}/packages/torch.{}", HEDDLE_FAKE_KERNELS, ::getpid());
  const Folder removed{folder};
  for (const PackageFile& file : torch_package(subject))
    REQUIRE(write_file(folder + "/" + file.path, file.text, MissingFolder::Create).ok());
  REQUIRE(write_file(folder + "/cubin", gemm.run.plan.plain.cubin).ok());
  command_says(
      fmt::format("'{0}' -std=c++17 -O0 -Wall -Wextra -Wpedantic -Werror {1} -DHEDDLE_HOST_ONLY -I'{2}' -I'{3}' -x c++ '{4}/csrc/{5}.cu' "
                  "'{4}/csrc/binding.cpp' '{3}/calls.cpp' -x none -o '{4}/calls' -ldl",
                  HEDDLE_CXX, kChecked, test::repository_path("tests/gpu/fake/runtime"), test::repository_path("tests/gpu/fake/torch"),
                  folder, name),
      folder);
  const std::string said =
      command_says(fmt::format("HEDDLE_FAKE_CUBIN='{0}/cubin' ASAN_OPTIONS=detect_leaks=0 '{0}/calls'", folder), folder);
  const auto line = [&](const std::string& what, const std::string& sentence) { return what + ": " + name + ": " + sentence + "\n"; };
  CHECK(said == name + "(Tensor A, Tensor B) -> Tensor\n" +
                    "contiguous: [256, 256] BFloat16, 0 wrong\n"
                    "apart: [256, 256] BFloat16, 0 wrong\n" +
                    line("shape", "B has shape [328, 256], expected [K, N] = [320, 256]") + line("type", "A is Float, expected BFloat16") +
                    line("rank", "B has shape [1, 320, 256], expected [K, N]") +
                    line("columns apart", "dimension 1 of B has stride 320: 1 is needed") +
                    line("device", "B is on cpu, expected all tensors on one CUDA device"));
}
