// Loading, lowering, running.
#include "tests/gpu/fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/program/build.h"
#include "core/base/atomic_file.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

namespace heddle::test {
namespace {
constexpr const char* kVariables[] = {"HEDDLE_CUDA_DRIVER", "HEDDLE_NVRTC", "HEDDLE_CUBLAS", "HEDDLE_CUDNN"};
}

FakeGpu::FakeGpu(const std::string& mode, const std::string& cudnn) {
  for (const char* name : kVariables) ::setenv(name, HEDDLE_FAKE_CUDA, 1);
  ::setenv("HEDDLE_FAKE_CACHE", HEDDLE_FAKE_KERNELS, 1);
  ::setenv("HEDDLE_FAKE_GPU", mode.c_str(), 1);
  ::setenv("HEDDLE_FAKE_CUDNN", cudnn.c_str(), 1);
}
FakeGpu::~FakeGpu() {
  for (const char* name : kVariables) ::unsetenv(name);
  ::unsetenv("HEDDLE_FAKE_GPU");
  ::unsetenv("HEDDLE_FAKE_CUDNN");
}

codegen::MeasureRequest Prepared::request(bool profile) const {
  codegen::MeasureRequest request{kernel, problem, schedule, program, {}};
  request.compile.compiler = codegen::Compiler::Nvrtc;
  request.compile.arch = program.arch;
  request.profile = profile;
  request.repeats = 3, request.launches = 2, request.warmups = 1, request.blocks = 3, request.sustained_launches = 5;
  request.pause_seconds = 0;
  return request;
}

namespace {

Prepared prepared(const std::string& name, const Scope& params, bool profile, const std::string& on = "h100") {
  const auto kernel = load_kernel(repository_path("kernels/" + name + ".json"));
  const auto machine = load_machine(repository_path("assets/machines/" + on + ".json"));
  REQUIRE((kernel.ok() && machine.ok()));
  const auto problem = resolve(*kernel, *machine, params);
  REQUIRE(problem.ok());
  const auto schedule = read_schedule(repository_path("tests/schedules/" + name + "_" + on + ".json"), *problem);
  REQUIRE(schedule.ok());
  auto built = codegen::build_program(*kernel, *problem, *schedule);
  REQUIRE(built.program.has_value());
  Prepared p{*kernel, *problem, *schedule, *built.program, {}};
  auto run = codegen::prepare_run(p.request(profile));
  if (!run.ok()) FAIL(to_string(run.error()));
  p.run = std::move(*run);
  return p;
}

}  // namespace

const Prepared& small_gemm() {
  static const Prepared gemm = prepared("gemm_hopper", {{"M", 256}, {"N", 256}, {"K", 320}}, true);
  return gemm;
}

const Prepared& small_weights(bool prepacked) {
  static const Scope sizes{{"N_OUT", 192}, {"TOKENS", 20}, {"K", 448}};
  static const Prepared natural = prepared("gemm_w4a16_hopper", sizes, false),
                        packed = prepared("gemm_w4a16_prepacked_hopper", sizes, false);
  return prepacked ? packed : natural;
}

const Prepared& small_scaled_gemm() {
  static const Prepared gemm = prepared("gemm_fp8_hopper", {{"M", 200}, {"N", 256}, {"K", 512}}, false);
  return gemm;
}

const Prepared& small_attention() {
  static const Prepared attention = prepared("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}}, false);
  return attention;
}

const Prepared& small_blackwell_gemm() {
  static const Prepared gemm = prepared("gemm_blackwell", {{"M", 256}, {"N", 256}, {"K", 320}}, false, "b200");
  return gemm;
}

const Prepared& small_blackwell_attention() {
  static const Prepared attention = prepared("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, false, "b200");
  return attention;
}

Measurement measured(const Prepared& prepared, double limit_seconds) {
  codegen::RunOptions options;
  options.program = HEDDLE_PROGRAM;
  options.limit_seconds = limit_seconds;
  auto result = codegen::run_plan(prepared.run.plan, options);
  REQUIRE(result.ok());
  return codegen::measurement_of(prepared.request(true), prepared.run, std::move(*result));
}

std::string commands_folder() { return HEDDLE_FAKE_KERNELS "/commands"; }

std::string quick_gemm() {
  return fmt::format("gemm_hopper h100 '{}' -p M=256 -p N=256 -p K=320 --pause 0.01 --blocks 1 --launches 1 --warmups 1 --repeats 2",
                     repository_path("tests/schedules/gemm_hopper_h100.json"));
}

Outcome heddle_says(const std::string& words, const std::string& before) {
  // Test programs that run at a time share the cache, not their answers.
  const std::string folder = commands_folder(), out = fmt::format("{}/out.{}", folder, ::getpid()), err = out + ".err";
  (void)write_file(out, "", MissingFolder::Create).ok();
  const int status = std::system(fmt::format("XDG_CACHE_HOME='{0}/cache' HEDDLE_CALLED=heddle {5} '{1}' {2} >'{3}' 2>'{4}'", folder,
                                             HEDDLE_PROGRAM, words, out, err, before)
                                     .c_str());
  Outcome outcome{WEXITSTATUS(status), read_file(out).value(), read_file(err).value()};
  std::remove(out.c_str()), std::remove(err.c_str());
  return outcome;
}

}  // namespace heddle::test
