// heddle run, profile and adopt as the program itself, on the fake GPU and without one.
#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/formats/measurement_json.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using heddle::test::FakeGpu;
using heddle::test::heddle_says;
using heddle::test::Outcome;

namespace {

const std::string kFolder = heddle::test::commands_folder();
const std::string kGemm = heddle::test::quick_gemm();

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("run prints a verdict and times, or the measurement", "[gpu]") {
  const FakeGpu gpu;
  const Outcome text = heddle_says("run --no-color " + kGemm);
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(holds(text.out, "gemm_hopper on fake GPU"));
  CHECK(holds(text.out, "verified"));
  CHECK(holds(text.out, "right C on small integers inputs: bit for bit the exact result rounded to bf16"));
  CHECK(holds(text.out, "cuBLAS 13.1.0"));
  CHECK(holds(text.out, "heddle has 0.900 of its speed cold, 0.900 sustained"));
  CHECK(holds(text.err, "heddle: verifying: small integers"));
  const Outcome json = heddle_says("run --json " + kGemm);
  CHECK(json.code == 0);
  const auto m = parse_measurement(json.out, "out");
  REQUIRE(m.ok());
  CHECK(m->status == RunStatus::Verified);
  CHECK(m->command.starts_with("heddle run --json gemm_hopper h100 "));
  CHECK(m->date.size() == 20);
  CHECK(m->schedule_hash.size() == 16);
}

TEST_CASE("a file that cannot be written does not cost the measurement", "[gpu]") {
  const FakeGpu gpu;
  const Outcome text = heddle_says("run --json --no-time --out /dev/full " + kGemm);
  CHECK(text.code == 6);
  CHECK(holds(text.err, "/dev/full: cannot be written"));
  REQUIRE(parse_measurement(text.out, "out").ok());
  CHECK(parse_measurement(text.out, "out")->status == RunStatus::Verified);
}

TEST_CASE("what goes wrong on the GPU has an exit code and a sentence", "[gpu]") {
  {
    const FakeGpu gpu("wrong");
    const Outcome text = heddle_says("run --quiet --no-time " + kGemm);
    CHECK(text.code == 7);
    CHECK(holds(text.out, "wrong"));
  }
  {
    const FakeGpu gpu("hang");
    const Outcome text = heddle_says("run --no-time --limit 1 " + kGemm);
    CHECK(text.code == 7);
    CHECK(holds(text.out, "killed after 1 s without a sign of life"));
  }
  const FakeGpu gpu("no-device");
  const Outcome text = heddle_says("run --no-time " + kGemm);
  CHECK(text.code == 6);
  CHECK(holds(text.err, "the CUDA driver finds no GPU; without a GPU a kernel can still be compiled and interpreted"));
}

TEST_CASE("without a driver one sentence says so before anything is solved", "[gpu]") {
  ::setenv("HEDDLE_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  const Outcome text = heddle_says("run gemm_hopper h100"), json = heddle_says("profile gemm_hopper h100 --json");
  ::unsetenv("HEDDLE_CUDA_DRIVER");
  CHECK(text.code == 6);
  CHECK(text.out.empty());
  CHECK(holds(text.err, "there is no CUDA driver here (/nowhere/libcuda.so cannot be opened)"));
  CHECK(json.code == 6);
  const auto m = parse_measurement(json.out, "out");
  REQUIRE(m.ok());
  CHECK(m->status == RunStatus::NoGpu);
}

TEST_CASE("profile prints a line per op and writes a trace; what it measured can be adopted", "[gpu]") {
  const FakeGpu gpu;
  const std::string trace = kFolder + "/trace.json", file = kFolder + "/profile.json", changes = kFolder + "/changes.json";
  const Outcome text = heddle_says(fmt::format("profile --no-color {} --trace '{}' --out '{}'", kGemm, trace, file));
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(holds(text.out, "ops in the steady loop, cycles"));
  CHECK(holds(text.out, "MMA0     consumer B"));
  CHECK(holds(text.out, "recording costs +1.0 %"));
  CHECK(holds(read_file(trace).value(), "gemm_hopper on fake GPU, measured"));
  CHECK(holds(read_file(trace).value(), "gemm_hopper on h100, predicted"));
  const Outcome adopted = heddle_says(fmt::format("adopt gemm_hopper h100 '{}' --out '{}'", file, changes));
  INFO(adopted.err);
  CHECK(adopted.code == 0);
  CHECK(holds(adopted.err, fmt::format("solve again: heddle solve gemm_hopper h100 --constraints {}", changes)));
  CHECK(holds(read_file(changes).value(), "\"op\": \"MMA0\""));
  const Outcome checked = heddle_says(fmt::format("check gemm_hopper h100 '{}' --constraints '{}'",
                                                  heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json"), changes));
  INFO(checked.out << checked.err);
  CHECK((checked.code == 0 || checked.code == 4));  // read and taken into account
  const Outcome other = heddle_says(fmt::format("adopt layernorm h100 '{}'", file));
  CHECK(other.code == 3);
  CHECK(holds(other.err, "/kernel: the measurement is of kernel 'gemm_hopper', not 'layernorm'"));
}
