// A package's host code on a GPU that is not there: it calls the driver as `heddle run` does, its example finds its result right, and what
// must fail fails with a sentence.
#include "codegen/package/package.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/program/build.h"
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
constexpr const char* kSanitizer = "-fsanitize=address";  // the fake driver is built with it
#else
constexpr const char* kSanitizer = "";
#endif

/// A package in a folder, which is removed in the end.
struct Written {
  std::string folder, name;
  std::string in(const std::string& file) const { return folder + "/" + file; }
  /// `sized`: one text for every size, which is compiled here.
  explicit Written(const Prepared& from, const std::string& below, bool sized = false);
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
};

Written::Written(const Prepared& from, const std::string& below, bool sized)
    : folder(fmt::format("{}/packages/{}.{}", HEDDLE_FAKE_KERNELS, below, ::getpid())) {
  const auto built = build_program(from.kernel, from.problem, from.schedule, {}, {.run_time_sizes = sized});
  REQUIRE(built.program.has_value());
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, *built.program);
  REQUIRE(emitted.emission.has_value());
  REQUIRE(emitted.emission->launch.sizes.has_value() == sized);
  const PackageSubject subject{from.kernel, from.problem, from.schedule, *built.program, *emitted.emission, "heddle emit"};
  name = package_name(subject);
  for (const PackageFile& file : cuda_package(subject)) REQUIRE(write_file(in(file.path), file.text, MissingFolder::Create).ok());
  const auto compiled = compile_cuda(emitted.emission->source, from.request(false).compile);
  REQUIRE(compiled.ok());
  REQUIRE(write_file(in("cubin"), compiled->cubin).ok());
}

/// Compiled with the host half of the package by the host's compiler, whose warnings are errors.
void compile(const Written& package, const std::string& source, const std::string& program) {
  const std::string command = fmt::format(
      "\"{}\" -std=c++17 -O0 -Wall -Wextra -Wpedantic -Werror {} -DHEDDLE_HOST_ONLY -I\"{}\" -I\"{}\" -x c++ \"{}\" \"{}\" -x none -o "
      "\"{}\" "
      "-ldl",
      HEDDLE_CXX, kSanitizer, test::repository_path("tests/gpu/fake/runtime"), package.folder, package.in(package.name + ".cu"), source,
      package.in(program));
  INFO(command);
  REQUIRE(std::system(command.c_str()) == 0);
}

/// package.h, by which programs of tests/gpu/fake/runtime call whatever package it is.
void write_names(const Written& package) {
  std::string upper = package.name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::string header = fmt::format("#{} \"{}.h\"\n#define PART(name) heddle_{}_##name\n#define CODE(name) HEDDLE_{}_##name\n",
                                         "include", package.name, package.name, upper);
  REQUIRE(write_file(package.in("package.h"), header).ok());
}

struct Said {
  int code = 0;
  std::string text, log;
};
Said said(const Written& package, const std::string& program, const std::string& before = {}, const std::string& words = {}) {
  const std::string out = package.in("out"), log = package.in("log");
  std::remove(log.c_str());
  const int status = std::system(fmt::format("{} HEDDLE_FAKE_CUBIN='{}' HEDDLE_FAKE_LOG='{}' '{}' {} >'{}' 2>&1", before,
                                             package.in("cubin"), log, package.in(program), words, out)
                                     .c_str());
  const auto text = read_file(out), lines = read_file(log);
  return {test::exit_status(status), text.ok() ? *text : "", lines.ok() ? *lines : ""};
}

/// Tensor maps and launches of a log, each once, in the order in which they were first asked for. Recording builds are left out.
std::vector<std::string> driver_calls(const std::string& log) {
  std::vector<std::string> calls;
  std::istringstream lines(log);
  std::string call;
  for (std::string line; std::getline(lines, line);) {
    call += line + "\n";
    if (line.starts_with("dimension")) continue;
    if (!line.starts_with("recording") && std::find(calls.begin(), calls.end(), call) == calls.end()) calls.push_back(call);
    call.clear();
  }
  return calls;
}

std::size_t count_lines(const std::string& log, const std::string& beginning) {
  std::istringstream lines(log);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(beginning);
  return count;
}

std::string calls_of_run(const Prepared& prepared, const std::string& log) {
  std::remove(log.c_str());
  ::setenv("HEDDLE_FAKE_LOG", log.c_str(), 1);
  const Measurement m = test::measured(prepared);
  ::unsetenv("HEDDLE_FAKE_LOG");
  CHECK(m.status == RunStatus::Verified);
  const auto text = read_file(log);
  REQUIRE(text.ok());
  return *text;
}

void runs_as_heddle_does(const Prepared& (*prepare)(), const std::string& folder, const std::string& result,
                         const std::string& mode = "ok") {
  const FakeGpu gpu(mode);  // before anything is compiled
  const Prepared& prepared = prepare();
  const Written package(prepared, folder);
  compile(package, package.in("example.cpp"), "example");
  const Said example = said(package, "example");
  INFO(example.text);
  CHECK(example.code == 0);
  CHECK(example.text.starts_with(result + ": correct"));
  CHECK(example.text.ends_with("100.00 us a launch\n"));
  // Tensors of one shape have maps that read the same, but for their addresses, which a log does not have.
  CHECK(count_lines(example.log, "map ") == prepared.run.plan.plain.launch.maps.size());
  CHECK(driver_calls(example.log) == driver_calls(calls_of_run(prepared, package.in("run.log"))));
}

}  // namespace

TEST_CASE("a GEMM's package calls the driver as heddle run does, and its example finds it right", "[gpu]") {
  runs_as_heddle_does(test::small_gemm, "gemm", "C");
}

TEST_CASE("attention's package calls the driver as heddle run does, and its example finds it right", "[gpu]") {
  runs_as_heddle_does(test::small_attention, "attention", "O");
}

TEST_CASE("a package of a Blackwell GEMM calls the driver as heddle run does", "[gpu]") {
  runs_as_heddle_does(test::small_blackwell_gemm, "blackwell", "C", "blackwell");
}

TEST_CASE("a package whose sizes are given by each call has one text for all, and calls the driver as that of one size does", "[gpu]") {
  const FakeGpu gpu;
  const Written package(test::small_gemm(), "sized", true);
  compile(package, package.in("example.cpp"), "example");
  const auto with = [&](const std::string& sizes) { return said(package, "example", {}, sizes); };
  const Said same = with("256 256 320");
  INFO(same.text);
  CHECK(same.code == 0);
  CHECK(driver_calls(same.log) == driver_calls(calls_of_run(test::small_gemm(), package.in("run.log"))));
  for (const char* sizes : {"100 264 64", "1 8 8", "128 512 200"}) {
    const Said other = with(sizes);
    INFO(sizes << ": " << other.text);
    CHECK(other.code == 0);
    CHECK(other.text.starts_with("C: correct"));
  }
  const Said refused = with("129 257 72");  // rows of 514 bytes
  CHECK(refused.code == 2);
  CHECK(refused.text.find("(M = 129, N = 257, K = 72)") != std::string::npos);
  CHECK(refused.log.empty());
}

TEST_CASE("rows of a package's tensors may have any length where they lie at multiples of 16 bytes, and maps are encoded once", "[gpu]") {
  const FakeGpu gpu;
  const Written package(test::small_gemm(), "odd", true);
  write_names(package);
  compile(package, test::repository_path("tests/gpu/fake/runtime/odd_calls.cpp"), "odd_calls");
  const Said calls = said(package, "odd_calls");
  INFO(calls.text);
  CHECK(calls.code == 0);
  CHECK(calls.text ==
        "odd, contiguous: 8 contiguous rows of B are multiples of 16 bytes, as TMA needs them (M = 127, N = 127, K = 127)\n"
        "odd, given as contiguous: 7 dimension 0 of A has stride 127 of 16 bits: a multiple of 16 bytes below 2^40 is needed\n"
        "odd, apart: 0, 0 wrong\n"
        "one row of any stride: 0, 0 wrong\n"
        "rows of the result overlap: 7 rows of C overlap: those of a result must not\n"
        "from two threads: 0 failed\n");
  // Three tensors; two sets of sizes and strides were taken, one of them again and again.
  CHECK(count_lines(calls.log, "map ") == 3 * 2);
  CHECK(count_lines(calls.log, "launch ") == 2 + 40);
}

TEST_CASE("the example of a package says that a result is wrong", "[gpu]") {
  const FakeGpu gpu("maps");
  const Written package(test::small_gemm(), "wrong");
  compile(package, package.in("example.cpp"), "example");
  const Said example = said(package, "example");
  INFO(example.text);
  CHECK(example.code == 1);
  CHECK(example.text.starts_with("C: WRONG"));
}

TEST_CASE("calls of a package that must fail have a code and a sentence with the values", "[gpu]") {
  const FakeGpu gpu;
  const Written package(test::small_gemm(), "calls");
  write_names(package);
  compile(package, test::repository_path("tests/gpu/fake/runtime/calls.cpp"), "calls");
  const Said calls = said(package, "calls");
  CHECK(calls.code == 0);
  CHECK(calls.text.find("0x") != std::string::npos);
  std::istringstream lines(calls.text);
  std::string found;
  for (std::string line; std::getline(lines, line);)  // addresses differ from run to run
    found += line.find("0x") == std::string::npos ? line + "\n" : line.substr(0, line.find(" 0x")) + "\n";
  CHECK(found ==
        "create: 0 \n"
        "no handle: 1 a handle and tensors are needed\n"
        "no tensors: 1 a handle and tensors are needed\n"
        "no address: 5 A has no address\n"
        "address: 6 A lies at\n"
        "row pitch: 7 dimension 0 of A has stride 321 of 16 bits: a multiple of 16 bytes below 2^40 is needed\n"
        "last stride: 7 dimension 1 of B has stride 2: 1 is needed\n"
        "far apart: 7 dimension 0 of C has stride 9223372036854775807 of 16 bits: a multiple of 16 bytes below 2^40 is needed\n"
        "contiguous: 0 \n"
        "apart: 0 \n"
        "the same: 1\n"
        "again: 0 \n"
        "a tensor's strides do not fit\n");
  CHECK(said(package, "calls", "HEDDLE_FAKE_GPU=blackwell").text ==
        fmt::format("create: 2 device 0 has compute capability 10.0: {} runs on sm_90a (H100, H200)\n", package.name));
  CHECK(said(package, "calls", "HEDDLE_FAKE_GPU=little-shared").text ==
        fmt::format("create: 3 a block of device 0 gets 100000 bytes of shared memory: {} are needed\n",
                    test::small_gemm().run.plan.plain.launch.smem_bytes));
  CHECK(said(package, "calls", "HEDDLE_FAKE_RUNTIME=old").text ==
        "create: 4 the driver has no cuTensorMapEncodeTiled: one of CUDA 12.0 or later is needed\n");
}
