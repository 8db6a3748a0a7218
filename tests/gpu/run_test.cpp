// A kernel in a child process, on a GPU that is not there: what goes well, and everything that may go wrong.
#include "codegen/run/run.h"

#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "codegen/program/build.h"
#include "core/formats/measurement_json.h"
#include "tests/gpu/fixture.h"

using namespace heddle;
using heddle::test::FakeGpu;
using heddle::test::measured;
using heddle::test::small_gemm;

TEST_CASE("a kernel is verified, timed beside the library and profiled", "[gpu]") {
  const FakeGpu gpu;
  const Measurement m = measured(small_gemm());
  INFO(measurement_text(m));
  CHECK(m.status == RunStatus::Verified);
  REQUIRE(m.device.has_value());
  CHECK(m.device->name == "fake GPU");
  CHECK(m.device->sms == 2);
  CHECK(m.device->clock_mhz == Approx(1500).epsilon(0.01));
  REQUIRE(m.verification.has_value());
  REQUIRE(m.verification->checks.size() == 2);
  CHECK(m.verification->checks[0].input == "small integers");
  CHECK(m.verification->checks[0].worst == 0);
  CHECK(m.verification->checks[1].passed);
  CHECK(m.verification->checks[1].worst > 0);
  CHECK(m.verification->repeats == 3);
  CHECK(m.verification->repeats_equal);
  REQUIRE(m.timing.has_value());
  CHECK(m.timing->kernel.blocks_us.size() == 3);
  CHECK(m.timing->kernel.median_us == Approx(100));
  CHECK(m.timing->sustained_launches == 5);
  CHECK(m.timing->kernel.sustained_us == Approx(100));
  CHECK(m.timing->kernel.sustained_tflops == m.timing->kernel.tflops);
  CHECK(*m.timing->sustained_ratio(m.timing->libraries.at(0).times) == Approx(0.9));
  CHECK(m.timing->left_out.empty());
  CHECK(m.timing->kernel.tflops == Approx(2.0 * 256 * 256 * 320 / 100e-6 * 1e-12));
  REQUIRE(m.timing->libraries.size() == 1);
  CHECK(m.timing->libraries[0].times.name == "cuBLAS 13.1.0");
  CHECK(m.timing->libraries[0].absent.empty());
  REQUIRE(m.timing->libraries[0].checks.size() == 1);
  CHECK(m.timing->libraries[0].checks[0].passed);
  CHECK(*m.timing->ratio() == Approx(0.9));
  CHECK(m.timing->buffer_sets == 1);
  CHECK(m.timing->cycles_per_iteration > 0);
  CHECK(m.measured_ii.has_value());
  CHECK(m.build->blocks == 2);
  REQUIRE(m.profile.has_value());
  CHECK(m.profile->cost() == Approx(0.01));
  CHECK(m.profile->trusted);
}

TEST_CASE("a kernel in clusters of two is started in whole clusters and verified", "[gpu]") {
  const test::FakeGpu gpu;
  test::Prepared p = test::small_gemm();
  auto built = codegen::build_program(p.kernel, p.problem, p.schedule, {}, {2, {}, true});
  REQUIRE(built.program.has_value());
  p.program = *built.program;
  auto run = codegen::prepare_run(p.request(false));
  if (!run.ok()) FAIL(to_string(run.error()));
  p.run = std::move(*run);
  CHECK(p.run.plan.plain.launch.cluster == 2);
  const Measurement m = test::measured(p);
  INFO(measurement_text(m));
  CHECK(m.status == RunStatus::Verified);
  CHECK(m.build->blocks == 2);
}

TEST_CASE("GEMMs of 4-bit weights are verified by a reference of their own and timed", "[gpu]") {
  const FakeGpu gpu;
  for (const bool prepacked : {false, true}) {
    const Measurement m = measured(test::small_weights(prepacked));
    INFO(measurement_text(m));
    CHECK(m.status == RunStatus::Verified);
    REQUIRE(m.verification.has_value());
    REQUIRE(m.verification->checks.size() == 2);
    CHECK(m.verification->checks[0].worst == 0);
    CHECK(m.verification->checks[1].passed);
    REQUIRE(m.timing.has_value());
    CHECK(m.timing->kernel.tflops == Approx(2.0 * 192 * 20 * 448 / 100e-6 * 1e-12));
  }
}

TEST_CASE("a GEMM of 8 bits with scales is verified by a reference of its own and timed", "[gpu]") {
  const FakeGpu gpu;
  const Measurement m = measured(test::small_scaled_gemm());
  INFO(measurement_text(m));
  CHECK(m.status == RunStatus::Verified);
  REQUIRE(m.verification.has_value());
  REQUIRE(m.verification->checks.size() == 2);
  CHECK(m.verification->checks[0].input == "small integers");
  CHECK(m.verification->checks[0].worst == 0);
  CHECK(m.verification->checks[1].passed);
  REQUIRE(m.timing.has_value());
  CHECK(m.timing->kernel.tflops == Approx(2.0 * 200 * 256 * 512 / 100e-6 * 1e-12));
  CHECK(m.timing->libraries.empty());
}

TEST_CASE("a wrong element is found, named and ends the run", "[gpu]") {
  const FakeGpu gpu("wrong");
  const Measurement m = measured(small_gemm());
  CHECK(m.status == RunStatus::Wrong);
  REQUIRE(m.verification.has_value());
  CHECK(m.verification->checks[0].wrong == 1);
  CHECK(m.verification->checks[0].at == "C[0, 0]");
  CHECK(m.sentence.find("'C' is wrong on small integers inputs: 1 of 65536 elements") != std::string::npos);
  CHECK_FALSE(m.timing.has_value());
}

TEST_CASE("a measurement says where the wrong elements lie", "[gpu]") {
  const struct {
    const char* mode;
    ErrorPattern pattern;
  } cases[] = {{"maps", ErrorPattern::Everything}, {"strides", ErrorPattern::Panels}, {"swizzle", ErrorPattern::Chunks}};
  for (const auto& c : cases) {
    const FakeGpu gpu(c.mode);
    const Measurement m = measured(small_gemm());
    INFO(c.mode << ": " << measurement_text(m));
    CHECK(m.status == RunStatus::Wrong);
    REQUIRE(m.verification.has_value());
    CHECK(m.verification->checks[0].pattern == c.pattern);
  }
}

TEST_CASE("results that nobody writes are seen to be the poison", "[gpu]") {
  const FakeGpu gpu("unwritten");
  const Measurement m = measured(small_gemm());
  CHECK(m.status == RunStatus::Wrong);
  CHECK(m.verification->checks[0].untouched == 65536);
  CHECK(m.sentence.find("65536 elements were never written") != std::string::npos);
}

TEST_CASE("results that move from run to run are a race", "[gpu]") {
  const FakeGpu gpu("unstable");
  codegen::PreparedRun run = small_gemm().run;
  run.plan.cases.resize(1);  // one run, which is right; then the repeats, every second of which is not
  codegen::RunOptions options;
  options.program = HEDDLE_PROGRAM;
  const auto result = codegen::run_plan(run.plan, options);
  REQUIRE(result.ok());
  CHECK(result->found.status == RunStatus::Unstable);
  CHECK(result->found.sentence.find("a race") != std::string::npos);
}

TEST_CASE("a kernel that does not end is killed, and what was found out before is kept", "[gpu]") {
  const FakeGpu gpu("hang");
  const Measurement m = measured(small_gemm(), 4);
  CHECK(m.status == RunStatus::TimedOut);
  CHECK(m.sentence.find("killed after 4 s without a sign of life while verifying: small integers") != std::string::npos);
  REQUIRE(m.device.has_value());
  CHECK(m.device->name == "fake GPU");
}

TEST_CASE("a run can be stopped from outside", "[gpu]") {
  const FakeGpu gpu("hang");
  std::stop_source source;
  codegen::RunOptions options;
  options.program = HEDDLE_PROGRAM;
  options.stop = source.get_token();
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  const auto result = codegen::run_plan(small_gemm().run.plan, options);
  REQUIRE(result.ok());
  CHECK(result->cancelled);
}

TEST_CASE("whatever happens to the device or the child is a result with a sentence", "[gpu]") {
  const struct {
    const char* mode;
    RunStatus status;
    const char* words;
  } cases[] = {{"fault", RunStatus::Faulted, "the kernel faults: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)"},
               {"crash", RunStatus::Faulted, "died of signal 6 (Aborted) while verifying: small integers: the fake driver dies"},
               {"crash-init", RunStatus::Faulted, "died of signal 6 (Aborted) while looking for a GPU"},
               {"no-device", RunStatus::NoGpu, "the CUDA driver finds no GPU"},
               {"blackwell", RunStatus::NoGpu, "fake GPU is sm_100; this kernel is written for sm_90a (H100, H200)"},
               {"out-of-memory", RunStatus::Refused, "the GPU has no room for tensor 'A'"},
               {"refuse", RunStatus::Refused, "the driver does not start the kernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  for (const auto& c : cases) {
    const FakeGpu gpu(c.mode);
    const Measurement m = measured(small_gemm());
    INFO(c.mode << ": " << m.sentence);
    CHECK(m.status == c.status);
    CHECK(m.sentence.find(c.words) != std::string::npos);
    CHECK(m.kernel == "gemm_hopper");
  }
}

TEST_CASE("a Blackwell kernel runs on a B200: verified, timed beside cuBLAS and cuDNN", "[gpu]") {
  const FakeGpu gpu("blackwell");
  const Measurement gemm = measured(test::small_blackwell_gemm());
  INFO(measurement_text(gemm));
  CHECK(gemm.status == RunStatus::Verified);
  REQUIRE(gemm.timing.has_value());
  REQUIRE(gemm.timing->fastest_library());
  CHECK(gemm.timing->fastest_library()->name.starts_with("cuBLAS"));
  const Measurement attention = measured(test::small_blackwell_attention());
  INFO(measurement_text(attention));
  CHECK(attention.status == RunStatus::Verified);
  REQUIRE(attention.timing.has_value());
  REQUIRE(attention.timing->fastest_library());
  CHECK(attention.timing->fastest_library()->name.starts_with("cuDNN"));
}

TEST_CASE("a Blackwell kernel is not started on Hopper, in a sentence", "[gpu]") {
  const FakeGpu gpu;
  const Measurement m = measured(test::small_blackwell_gemm());
  CHECK(m.status == RunStatus::NoGpu);
  CHECK(m.sentence == "fake GPU is sm_90; this kernel is written for sm_100a (B200)");
}

TEST_CASE("a recording build that costs too much marks its profile", "[gpu]") {
  const FakeGpu gpu("slow-records");
  const Measurement m = measured(small_gemm());
  REQUIRE(m.profile.has_value());
  CHECK(m.profile->cost() == Approx(0.1));
  CHECK_FALSE(m.profile->trusted);
}

TEST_CASE("a program that is no heddle, or none at all, is said to be so", "[gpu]") {
  const FakeGpu gpu;
  codegen::RunOptions options;
  options.program = "/nowhere/heddle";
  const auto none = codegen::run_plan(small_gemm().run.plan, options);
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().kind == ErrorKind::Environment);
  options.program = "/bin/true";
  const auto other = codegen::run_plan(small_gemm().run.plan, options);
  REQUIRE(other.ok());
  CHECK(other->found.status == RunStatus::Faulted);
  CHECK(other->found.sentence.find("ended with code 0") != std::string::npos);
}
