// heddle bench on a GPU that is not there: each fault that can be planted is found, and the verdict names the right place.
#include "app/bench/run_bench.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <catch2/catch.hpp>

#include "app/bench/report.h"
#include "core/base/atomic_file.h"
#include "core/formats/measurement_json.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using heddle::test::FakeGpu;

namespace {

/// GEMM's steps at a size for the emulator.
std::vector<BenchStep> gemm_steps(const std::string& folder, bool blackwell = false) {
  std::vector<BenchStep> steps = bench_steps(blackwell ? "b200" : "h100", folder, blackwell);
  std::erase_if(steps, [](const BenchStep& step) {
    return step.name != "prepare-gemm" && step.name != "gemm-small" && step.name != "gemm-small-one-trip" && step.name != "gemm-8192" &&
           step.name != "gemm-least-rings" && step.name != "gemm-profile" && step.name != "gemm-small-memcheck";
  });
  for (BenchStep& step : steps) {
    for (std::string& word : step.words) {
      if (word.starts_with("M=")) word = "M=128";
      if (word.starts_with("N=")) word = "N=256";
      if (word == "K=8192" || word == "K=1024") word = "K=192";
    }
    if (step.kind == BenchStepKind::Speed || step.kind == BenchStepKind::Compare || step.kind == BenchStepKind::Profile)
      step.words.insert(step.words.end(),
                        {"--repeats", "2", "--launches", "2", "--blocks", "2", "--warmups", "1", "--sustained", "2", "--pause", "0.001"});
  }
  return steps;
}

/// A new folder, gone with the test.
class Scratch {
 public:
  Scratch() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / ("heddle_bench_" + std::to_string(::getpid()) + "_" + std::to_string(made++));
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

struct Bench {
  Scratch folder;
  BenchOptions options;
  std::vector<BenchStep> steps;
  std::vector<std::string> begun;
  explicit Bench(bool blackwell = false)
      : options{.machine = blackwell ? "b200" : "h100", .folder = folder.path("bench"), .program = HEDDLE_PROGRAM},
        steps(gemm_steps(options.folder, blackwell)) {
    options.schedules = folder.path("solved");
    std::filesystem::create_directories(options.schedules);
    std::filesystem::copy_file(
        test::repository_path(blackwell ? "tests/schedules/gemm_blackwell_b200.json" : "tests/schedules/gemm_hopper_h100.json"),
        options.schedules + "/gemm.json");
  }
  BenchRecord run(std::stop_token stop = {}) {
    begun.clear();
    BenchHearer hearer{[&](const BenchStep& step) { begun.push_back(step.name); }, [](std::string_view) {},
                       [](const BenchStep&, const StepRecord&, bool) {}};
    const auto record = run_bench(options, steps, stop, hearer);
    if (!record.ok()) FAIL(to_string(record.error()));
    return *record;
  }
};

StepVerdict verdict(const BenchRecord& record, const std::string& step) {
  const StepRecord* found = record.find(step);
  REQUIRE(found);
  INFO(step_text(*found));
  return found->verdict;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a bench measures what is right, compares, profiles, and writes down every step", "[gpu][bench]") {
  const FakeGpu gpu;
  Bench bench;
  const BenchRecord record = bench.run();
  CHECK(verdict(record, "prepare-gemm").outcome == StepOutcome::Good);
  CHECK(verdict(record, "gemm-small").outcome == StepOutcome::Good);
  CHECK(verdict(record, "gemm-small-one-trip").outcome == StepOutcome::Unneeded);
  const StepVerdict speed = verdict(record, "gemm-8192");
  CHECK((speed.outcome == StepOutcome::Good || speed.outcome == StepOutcome::Slow));
  CHECK(says(speed.finding, "cuBLAS"));
  CHECK(says(verdict(record, "gemm-least-rings").finding, "as fast as gemm-8192"));
  CHECK(is_final(verdict(record, "gemm-profile").outcome));
  CHECK(std::filesystem::exists(bench.options.folder + "/gemm-profile-trace.json"));
  CHECK(read_measurement(bench.options.folder + "/gemm-8192.json").ok());
  const auto report = read_file(bench.options.folder + "/report.txt");
  REQUIRE(report.ok());
  INFO(*report);
  CHECK(says(*report, "cuBLAS 13.1.0"));
  CHECK(says(*report, "0.900"));
  CHECK(says(*report, "fake GPU"));

  SECTION("started again, it does only what is left") {
    bench.run();
    CHECK(bench.begun == std::vector<std::string>{"gemm-small-one-trip", "gemm-small-memcheck"});
  }
  SECTION("and with --again everything") {
    bench.options.again = true;
    bench.run();
    CHECK(bench.begun.size() == bench.steps.size());
  }
  SECTION("another machine's folder is refused") {
    bench.options.machine = "h200";
    const auto refused = run_bench(bench.options, bench.steps, {}, BenchHearer{{}, {}, {}});
    REQUIRE_FALSE(refused.ok());
    CHECK(says(to_string(refused.error()), "'h100'"));
  }
}

TEST_CASE("a bench's verdict names where a planted fault lies, and speeds of wrong kernels are not measured", "[gpu][bench]") {
  const struct {
    const char* mode;
    StepOutcome outcome;
    const char* next;
  } cases[] = {{"maps", StepOutcome::Wrong, "tensor maps"},
               {"strides", StepOutcome::Wrong, "strides between panels"},
               {"swizzle", StepOutcome::Wrong, "the swizzle"},
               {"phases", StepOutcome::Wrong, "phases of the rings' barriers"},
               {"wrong", StepOutcome::Wrong, "a race"},
               {"unwritten", StepOutcome::Wrong, "does a consumer reach its store"},
               {"fault", StepOutcome::Faulted, "memcheck"},
               {"crash-init", StepOutcome::Faulted, "the driver, before any kernel"},
               {"refuse", StepOutcome::Refused, "registers, shared memory, clusters"},
               {"out-of-memory", StepOutcome::Refused, "memory"}};
  for (const auto& c : cases) {
    const FakeGpu gpu(c.mode);
    Bench bench;
    const BenchRecord record = bench.run();
    INFO(c.mode);
    const StepVerdict check = verdict(record, "gemm-small");
    INFO(check.next);
    CHECK(check.outcome == c.outcome);
    CHECK(says(check.next, c.next));
    CHECK((std::string(c.mode) == "phases") != says(check.next, "not the rings"));
    CHECK(verdict(record, "gemm-8192").outcome == StepOutcome::Skipped);
    CHECK(verdict(record, "gemm-profile").outcome == StepOutcome::Skipped);
  }
}

TEST_CASE("a bench ends where there is no GPU, and goes on once there is one", "[gpu][bench]") {
  Bench bench;
  {
    const FakeGpu gpu("no-device");
    const BenchRecord record = bench.run();
    CHECK(verdict(record, "gemm-small").outcome == StepOutcome::Unavailable);
    CHECK_FALSE(record.find("gemm-8192"));
  }
  const FakeGpu gpu;
  std::erase_if(bench.steps,
                [](const BenchStep& step) { return step.kind != BenchStepKind::Prepare && step.kind != BenchStepKind::Check; });
  const BenchRecord record = bench.run();
  CHECK(bench.begun == std::vector<std::string>{"gemm-small"});
  CHECK(verdict(record, "gemm-small").outcome == StepOutcome::Good);
}

TEST_CASE("a kernel that hangs is ended, and the bench goes on", "[gpu][bench]") {
  const FakeGpu gpu("hang");
  Bench bench;
  std::erase_if(bench.steps,
                [](const BenchStep& step) { return step.kind != BenchStepKind::Prepare && step.kind != BenchStepKind::Check; });
  for (BenchStep& step : bench.steps)
    for (std::size_t k = 0; k + 1 < step.words.size(); ++k)
      if (step.words[k] == "--limit") step.words[k + 1] = "0.5";
  const StepVerdict check = verdict(bench.run(), "gemm-small");
  CHECK(check.outcome == StepOutcome::Hung);
  CHECK(says(check.next, "phases of barriers"));
}

TEST_CASE("a bench that is stopped keeps what it has", "[gpu][bench]") {
  const FakeGpu gpu;
  Bench bench;
  std::stop_source stop;
  stop.request_stop();
  CHECK(bench.run(stop.get_token()).steps.empty());
}

TEST_CASE("a bench does not begin what does not fit into its minutes, and does it next time", "[gpu][bench]") {
  const FakeGpu gpu;
  Bench bench;
  std::erase_if(bench.steps,
                [](const BenchStep& step) { return step.kind != BenchStepKind::Prepare && step.kind != BenchStepKind::Check; });
  bench.options.minutes = 0.01;
  for (const StepRecord& step : bench.run().steps) CHECK(step.verdict.outcome == StepOutcome::NoTime);
  bench.options.minutes = 10;
  for (const StepRecord& step : bench.run().steps) CHECK(step.verdict.outcome == StepOutcome::Good);
}

TEST_CASE("what a bench kept and somebody broke is a fault with its place", "[gpu][bench]") {
  Bench bench;
  std::filesystem::create_directories(bench.options.folder);
  REQUIRE(
      write_file(bench.options.folder + "/bench.json", R"({"schema": "heddle.bench/1", "machine": "h100", "steps": [{"name": 3}]})").ok());
  const auto refused = run_bench(bench.options, bench.steps, {}, BenchHearer{{}, {}, {}});
  REQUIRE_FALSE(refused.ok());
  CHECK(says(to_string(refused.error()), "/steps/0/name"));
}

TEST_CASE("a step's verdict compares with the spread of what was measured", "[gpu][bench]") {
  BenchStep step{.name = "variant", .kind = BenchStepKind::Compare};
  step.words = {"run"};
  step.beside = "plain";
  Measurement a, b;
  a.status = b.status = RunStatus::Unverified;
  a.timing.emplace(), b.timing.emplace();
  a.timing->kernel = {.name = "heddle", .blocks_us = {99, 100, 101}, .median_us = 100};
  ChildResult child;
  child.code = 0;
  const auto judged = [&](std::vector<double> blocks) {
    b.timing->kernel.blocks_us = blocks;
    b.timing->kernel.median_us = blocks[blocks.size() / 2];
    return judge_step(step, child, &b, &a, "variant.log");
  };
  CHECK(says(judged({99.5, 100.5, 101}).finding, "as fast as plain"));
  CHECK(says(judged({79, 80, 81}).finding, "25.0 % faster than plain"));
  CHECK_FALSE(judged({79, 80, 81}).next.empty());
  CHECK(says(judged({124, 125, 126}).finding, "20.0 % slower than plain"));
  CHECK(judged({124, 125, 126}).next.empty());

  step.kind = BenchStepKind::Speed;
  b.predicted_ii = 1000;
  b.measured_ii = 1300;
  const StepVerdict slow = judged({99, 100, 101});
  CHECK(slow.outcome == StepOutcome::Slow);
  CHECK(says(slow.next, "30 % longer than its schedule says"));
  b.predicted = {1250, 0, 0};  // the simulator knew of it
  CHECK(judged({99, 100, 101}).outcome == StepOutcome::Good);
  b.predicted->cycles_per_iteration = 1040;
  CHECK(says(judged({99, 100, 101}).next, "25 % longer than predicted"));
}

TEST_CASE("what a bench may spend on other orders is said to the steps that find a schedule", "[gpu][bench]") {
  const FakeGpu gpu;
  Bench bench;
  std::erase_if(bench.steps, [](const BenchStep& step) { return step.name != "prepare-gemm" && step.name != "gemm-small"; });
  for (const bool said : {false, true}) {
    bench.options.again = said;
    if (said) bench.options.judge_seconds = 2.5;
    const BenchRecord record = bench.run();
    CHECK(verdict(record, "prepare-gemm").outcome == StepOutcome::Good);
    CHECK(says(read_file(bench.options.folder + "/prepare-gemm.log").value(), "--judge 2.5") == said);
    CHECK_FALSE(says(read_file(bench.options.folder + "/gemm-small.log").value(), "--judge"));
  }
}

TEST_CASE("steps come in the order of risk, each kernel after what prepares it", "[gpu][bench]") {
  const bool blackwell = GENERATE(false, true);
  const std::vector<BenchStep> steps = bench_steps(blackwell ? "b200" : "h200", "folder", blackwell);
  std::vector<std::string> seen;
  for (const BenchStep& step : steps) {
    INFO(step.name);
    CHECK(std::find(seen.begin(), seen.end(), step.name) == seen.end());
    const auto came = [&](const std::string& name) { return name.empty() || std::find(seen.begin(), seen.end(), name) != seen.end(); };
    CHECK(came(step.needs));
    CHECK(came(step.beside));
    if (step.kind != BenchStepKind::Prepare && !step.subject.empty()) CHECK(came("prepare-" + step.subject));
    seen.push_back(step.name);
  }
}

TEST_CASE("on a B200 the bench checks a plain GEMM and times it beside cuBLAS", "[gpu][bench]") {
  const FakeGpu gpu("blackwell");
  Bench bench(true);
  std::erase_if(bench.steps, [](const BenchStep& step) { return step.kind == BenchStepKind::Profile; });  // a recording build by itself
  const BenchRecord record = bench.run();
  CHECK(verdict(record, "prepare-gemm").outcome == StepOutcome::Good);
  CHECK(verdict(record, "gemm-small").outcome == StepOutcome::Good);
  CHECK(verdict(record, "gemm-small-one-trip").outcome == StepOutcome::Unneeded);
  CHECK(says(verdict(record, "gemm-8192").finding, "cuBLAS"));
}
