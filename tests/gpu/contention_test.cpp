// What decides the numbers of contention: micro-kernels, orders of a kernel, and their place in heddle bench, on a GPU that is not there.
#include "codegen/calibrate/contention.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "app/bench/contention_step.h"
#include "app/bench/order.h"
#include "app/bench/run_bench.h"
#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/formats/contention_readings_json.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "tests/gpu/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::codegen;

namespace {

using Words = std::vector<std::uint64_t>;

Machine h100() { return load_machine(test::repository_path("assets/machines/h100.json")).value(); }

/// By "m1_ss 0": what was measured by hand.
std::map<std::string, Words> measured_by_hand() {
  std::map<std::string, Words> lines;
  std::ifstream file(test::repository_path("assets/measured/2026-11-28/micro-kernels.txt"));
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with("#") || colon == std::string::npos) continue;
    std::istringstream words(line.substr(colon + 1));
    for (std::uint64_t word; words >> word;) lines[line.substr(0, colon)].push_back(word);
  }
  return lines;
}

/// The same by the names of our micro-kernels, as they would have written it; those that were measured.
std::map<std::string, Words> planted_words() {
  const std::map<std::string, Words> hand = measured_by_hand();
  std::map<std::string, Words> words;
  const auto put = [&](const std::string& name, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      REQUIRE(hand.contains(line));
      words[name].insert(words[name].end(), hand.at(line).begin(), hand.at(line).end());
    }
  };
  put("accepted_ss", {"m1_ss 0"});
  put("accepted_rs", {"m1_rs 0"});
  for (const std::string pair : {"ss_ss", "ss_rs", "rs_ss"})
    put("served_" + pair, {"m2_" + pair + " 0", "m2_" + pair + " 64", "m2_" + pair + " 160", "m2_" + pair + " 300"});
  const char* kinds[] = {"mul", "add", "fma", "max", "pack", "exp2", "lop3", "prmt", "shuffle"};
  for (std::size_t k = 0; k < std::size(kinds); ++k) {
    const std::string head = fmt::format("m3_{}_", k + 1);
    put(std::string("beside_") + kinds[k], {head + "0 0", head + "1 0", head + "2 0"});
  }
  put("turn", {"m4_turn 0"});
  return words;
}

std::vector<ContentionReading> readings_by_hand() {
  const std::vector<ContentionKernel> kernels = contention_kernels();
  const std::map<std::string, Words> words = planted_words();
  std::vector<ContentionTimes> times;
  for (const ContentionKernel& kernel : kernels)
    if (words.contains(kernel.name)) times.push_back({&kernel, words.at(kernel.name), kernel.work});
  return read_contention(times, h100().contention);
}

/// The only one of that number and of what begins so.
ContentionReading reading(const std::vector<ContentionReading>& all, const std::string& number, const std::string& of) {
  std::vector<ContentionReading> found;
  for (const ContentionReading& r : all)
    if (r.number == number && r.of.starts_with(of)) found.push_back(r);
  INFO(number << ", " << of);
  REQUIRE(!found.empty());
  return found.front();
}

/// A new folder, and planted times in it; both gone with the test.
class Planted {
 public:
  Planted() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("heddle_contention_{}_{}", ::getpid(), made++);
    std::filesystem::create_directories(path_);
    std::ofstream file(path("times.txt"));
    for (const auto& [name, words] : planted_words()) file << fmt::format("{}: {}\n", name, fmt::join(words, " "));
    ::setenv("HEDDLE_FAKE_CONTENTION", path("times.txt").c_str(), 1);
  }
  ~Planted() {
    ::unsetenv("HEDDLE_FAKE_CONTENTION");
    std::filesystem::remove_all(path_);
  }
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

StepVerdict verdict(const BenchRecord& record, const std::string& step) {
  const StepRecord* found = record.find(step);
  INFO(step);
  REQUIRE(found);
  INFO(found->verdict.finding);
  return found->verdict;
}

std::vector<std::string> begun_by(const BenchOptions& options, const std::vector<BenchStep>& steps, BenchRecord& record) {
  std::vector<std::string> begun;
  const auto ran = run_bench(options, steps, {},
                             {[&](const BenchStep& step) { begun.push_back(step.name); }, [](std::string_view) {},
                              [](const BenchStep&, const StepRecord&, bool) {}});
  if (!ran.ok()) FAIL(to_string(ran.error()));
  record = *ran;
  return begun;
}

}  // namespace

TEST_CASE("times that were measured by hand read as the numbers that the machine file has from them", "[gpu][contention]") {
  const std::vector<ContentionReading> all = readings_by_hand();
  CHECK(reading(all, "in_flight", "of 12 mmas").measured == 8);
  CHECK(reading(all, "issue_step", "between two mmas").measured == 12);
  CHECK(reading(all, "product_done", "last of 12").measured == 44);
  CHECK(reading(all, "register_fence", "first mma").measured == 64);
  CHECK(reading(all, "turn", "a hand-over").measured == Approx(10202.0 / 256));
  CHECK(reading(all, "late_per_special", "exponentials, beside mmas from shared").measured == Approx(2692).margin(1));
  for (const char* number : {"in_flight", "issue_step", "product_done", "register_fence", "turn", "late_per_special"})
    CHECK(reading(all, number, "").verdict == ReadingVerdict::Inside);
  // One kind of instruction is not what a softmax has of all of them.
  CHECK(reading(all, "late_per_read/shared", "maxima").verdict == ReadingVerdict::Inside);
  CHECK(reading(all, "late_per_read/shared", "additions").verdict == ReadingVerdict::Below);
  CHECK(reading(all, "special_interval", "exponentials, alone").verdict == ReadingVerdict::Below);
  // First come, first served, but where an mma that reads registers comes first.
  for (const char* pair : {"mmas of the second group before the first is done (ss_ss), begun together",
                           "mmas of the second group before the first is done (rs_ss), begun 300"})
    CHECK(reading(all, "order", pair).verdict == ReadingVerdict::Inside);
  CHECK(reading(all, "order", "mmas of the second group before the first is done (rs_ss), begun together").verdict ==
        ReadingVerdict::Above);
  CHECK(reading(all, "", "shuffles").verdict == ReadingVerdict::Open);
}

TEST_CASE("what a micro-kernel of contention did not write says nothing", "[gpu][contention]") {
  const std::vector<ContentionKernel> kernels = contention_kernels();
  std::vector<ContentionTimes> times;
  for (const ContentionKernel& kernel : kernels) times.push_back({&kernel, Words(kMicroWords, ~std::uint64_t{0}), kernel.work});
  CHECK(read_contention(times, h100().contention).empty());
  for (ContentionTimes& one : times) one.words.clear();
  CHECK(read_contention(times, h100().contention).empty());
  for (ContentionTimes& one : times) one.words = Words(kMicroWords, 0);
  for (const ContentionReading& r : read_contention(times, {})) CHECK(r.verdict != ReadingVerdict::Below);
}

TEST_CASE("every experiment has its micro-kernels, each with its own text and name", "[gpu][contention]") {
  std::vector<std::string> names, texts;
  std::size_t count = 0;
  for (const char* experiment : kContentionExperiments) {
    const std::vector<ContentionKernel> kernels = contention_kernels(experiment);
    INFO(experiment);
    CHECK(!kernels.empty());
    count += kernels.size();
    for (const ContentionKernel& kernel : kernels) {
      names.push_back(kernel.name);
      texts.push_back(kernel.micro.source);
      CHECK(kernel.micro.source.starts_with("// contention " + kernel.name + ": "));
    }
  }
  CHECK(contention_kernels().size() == count);
  for (std::vector<std::string>* list : {&names, &texts}) {
    std::sort(list->begin(), list->end());
    CHECK(std::adjacent_find(list->begin(), list->end()) == list->end());
  }
}

TEST_CASE("micro-kernels of contention compile without a remark of ptxas, and their loops hold what they measure",
          "[gpu][contention][.slow]") {
  if (const auto compiler = find_compiler(); !compiler.ok()) {
    WARN("skipped: " << compiler.error().faults.front().message);
    return;
  }
  for (const ContentionKernel& kernel : contention_kernels()) {
    const auto compiled = compile_cuda(kernel.micro.source, {Compiler::Auto, default_cache(), nullptr, "sm_90a"});
    if (!compiled.ok()) FAIL(kernel.name << ": " << to_string(compiled.error()));
    INFO(kernel.name);
    CHECK(compiled->report.remarks.empty());
    CHECK(compiled->report.spill_stores == 0);
    if (kernel.work.specials == 0 && kernel.work.reads < 64) continue;
    // Loop counters and branches beside it, and .reuse for it.
    const ContentionWork work = counted_work(kernel, compiled->cubin);
    CHECK(work.specials == kernel.work.specials);
    CHECK(work.instructions >= kernel.work.instructions);
    CHECK(work.instructions <= 5 * kernel.work.instructions / 4 + 8);
    CHECK(work.reads >= 3 * kernel.work.reads / 4);
    CHECK(work.reads <= 5 * kernel.work.reads / 4 + 8);
  }
}

TEST_CASE("readings come back from their file", "[gpu][contention]") {
  ContentionReadings found{"h100", "a card", "2026-01-02T03:04:05Z", "0.1", "heddle calibrate h100 --contention all", readings_by_hand()};
  const std::string text = contention_text(found);
  const auto again = parse_contention(text, "readings.json");
  REQUIRE(again.ok());
  CHECK(contention_text(*again) == text);
  CHECK(again->readings.size() == found.readings.size());
  const auto faulty =
      parse_contention(R"({"schema": "heddle.contention/1", "machine": "h100", "readings": [{"verdict": "so"}]})", "r.json");
  REQUIRE_FALSE(faulty.ok());
  CHECK(says(to_string(faulty.error()), "/readings/0/verdict"));
}

TEST_CASE("what decides contention comes first on Hopper, all compiled before the first of it runs", "[gpu][bench][contention]") {
  const std::vector<BenchStep> steps = bench_steps("h100", "folder");
  const auto of_kind = [](BenchStepKind kind) { return [kind](const BenchStep& step) { return step.kind == kind; }; };
  const auto first = std::find_if(steps.begin(), steps.end(), of_kind(BenchStepKind::Contention));
  const auto end = std::find_if_not(first, steps.end(), of_kind(BenchStepKind::Contention));
  REQUIRE(first != steps.end());
  CHECK(std::all_of(steps.begin(), first, of_kind(BenchStepKind::Prepare)));
  CHECK(std::none_of(end, steps.end(), of_kind(BenchStepKind::Contention)));
  std::vector<std::string> names, prepared;
  for (auto step = steps.begin(); step != first; ++step) prepared.push_back(step->name);
  for (auto step = first; step != end; ++step) {
    INFO(step->name);
    names.push_back(step->name);
    const std::string before = step->subject.empty() ? step->needs : "prepare-" + step->subject;
    CHECK(std::find(prepared.begin(), prepared.end(), before) != prepared.end());
    CHECK((step->beside.empty() || std::find(names.begin(), names.end(), step->beside) != names.end()));
  }
  const std::vector<std::string> begin{"contention-accepted", "contention-served", "contention-beside",      "contention-turn",
                                       "order-128-default",   "order-128-fa3",     "order-128-slow125",      "order-128-least",
                                       "order-128-second",    "order-128-slow183", "order-128-default-again"};
  REQUIRE(names.size() > begin.size());
  CHECK(std::vector<std::string>(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(begin.size())) == begin);
  const std::vector<BenchStep> blackwell = bench_steps("b200", "folder", true);
  CHECK(std::none_of(blackwell.begin(), blackwell.end(), of_kind(BenchStepKind::Contention)));
}

TEST_CASE("an order that was measured before keeps its rules and its period with the starts of today", "[gpu][bench][contention]") {
  int orders = 0;
  for (const BenchStep& step : bench_steps("h100", "folder")) {
    if (step.order.empty()) continue;
    INFO(step.order);
    const std::string file = test::repository_path(step.order);
    const Result<std::string> today = order_on("h100", file);
    if (!today.ok()) FAIL(to_string(today.error()));
    std::string before = *read_file(file);
    if (const auto measured = parse_measurement(before, file); measured.ok() && !measured->schedule_text.empty())
      before = measured->schedule_text;
    const auto head = parse_schedule_head(*today, "today");
    REQUIRE(head.ok());
    InstanceSpec spec = spec_of(load_kernel(head->kernel).value(), h100());
    spec.params = head->params;
    spec.choices = head->layouts;
    const auto problem = make_problem(spec);
    REQUIRE(problem.ok());
    const auto old = parse_schedule(before, "before", *problem), made = parse_schedule(*today, "today", *problem);
    REQUIRE((old.ok() && made.ok()));
    CHECK(check(*problem, *made).violations.empty());
    CHECK(motion::motion_of(*problem, *made).period.cycles() == Approx(motion::motion_of(*problem, *old).period.cycles()));
    ++orders;
  }
  CHECK(orders == 11);
  CHECK_FALSE(order_on("h100", test::repository_path("kernels/toy_fig1.json")).ok());
  CHECK_FALSE(order_on("h100", "/nowhere/order.json").ok());
}

TEST_CASE("a bench reads planted times of contention, judges them by the machine file's ranges, and goes on where it was",
          "[gpu][bench][contention]") {
  const test::FakeGpu gpu;
  const Planted planted;
  BenchOptions options{.machine = "h100", .folder = planted.path("bench"), .program = HEDDLE_PROGRAM};
  std::vector<BenchStep> steps = bench_steps("h100", options.folder);
  std::erase_if(steps, [](const BenchStep& step) {
    return step.name != "prepare-contention" && step.name != "contention-accepted" && step.name != "contention-served" &&
           step.name != "contention-turn" && step.name != "contention-widths";
  });
  BenchRecord record;
  const std::vector<std::string> all{"prepare-contention", "contention-accepted", "contention-served", "contention-turn",
                                     "contention-widths"};
  CHECK(begun_by(options, steps, record) == all);
  CHECK(verdict(record, "prepare-contention").outcome == StepOutcome::Good);
  CHECK(std::filesystem::exists(options.folder + "/contention/000-accepted_ss.cu"));
  const StepVerdict accepted = verdict(record, "contention-accepted");
  CHECK(accepted.outcome == StepOutcome::Good);
  CHECK(accepted.finding == "6 of 6 inside of the file's ranges");
  CHECK(accepted.next.empty());
  CHECK(reading(accepted.readings, "product_done", "").measured == 44);
  const StepVerdict served = verdict(record, "contention-served");
  CHECK(says(served.finding, "5 of 6 inside of the file's ranges; above: order 7.4 (0 to 1, mmas of the second group"));
  CHECK(says(served.next, "outside of what the machine file states"));
  CHECK(reading(verdict(record, "contention-turn").readings, "turn", "").value == 40);
  // Nothing is planted for them.
  CHECK(verdict(record, "contention-widths").outcome == StepOutcome::Refused);
  CHECK(says(verdict(record, "contention-widths").finding, "wrote no times"));

  const Result<std::string> kept = read_file(options.folder + "/bench.json"), report = read_file(options.folder + "/report.txt");
  REQUIRE((kept.ok() && report.ok()));
  CHECK(says(*kept, "\"register_fence\""));
  CHECK(says(*kept, "\"inside\""));
  CHECK(says(*report, "numbers of contention, measured and in the machine file"));
  CHECK(says(*report, "issue_step"));
  CHECK(parse_bench(*kept, "bench.json").ok());
  CHECK(read_contention_file(options.folder + "/contention-turn.json").ok());

  SECTION("started again, it goes on") {
    std::vector<BenchStep> more = bench_steps("h100", options.folder);
    std::erase_if(more, [](const BenchStep& step) { return step.name != "contention-turn" && step.name != "contention-beside"; });
    CHECK(begun_by(options, more, record) == std::vector<std::string>{"contention-beside"});
    CHECK(reading(verdict(record, "contention-beside").readings, "late_per_special", "exponentials").verdict == ReadingVerdict::Inside);
    CHECK(reading(verdict(record, "contention-turn").readings, "turn", "").value == 40);
  }
  SECTION("and with --again everything") {
    options.again = true;
    CHECK(begun_by(options, steps, record) == all);
  }
}

TEST_CASE("a bench of contention ends where there is no GPU", "[gpu][bench][contention]") {
  const test::FakeGpu gpu("no-device");
  const Planted planted;
  const BenchOptions options{.machine = "h100", .folder = planted.path("bench"), .program = HEDDLE_PROGRAM};
  std::vector<BenchStep> steps = bench_steps("h100", options.folder);
  std::erase_if(steps, [](const BenchStep& step) { return step.name != "contention-turn" && step.name != "contention-served"; });
  BenchRecord record;
  CHECK(begun_by(options, steps, record) == std::vector<std::string>{"contention-served"});
  CHECK(verdict(record, "contention-served").outcome == StepOutcome::Unavailable);
}

TEST_CASE("an order's cycles stand beside the rule of motion's, and its pair is told apart", "[gpu][bench][contention]") {
  const test::FakeGpu gpu;
  const Planted planted;
  const BenchOptions options{.machine = "h100", .folder = planted.path("bench"), .program = HEDDLE_PROGRAM};
  BenchStep prepare{.name = "prepare-gemm", .kind = BenchStepKind::Prepare, .subject = "gemm"};
  prepare.order = "tests/schedules/gemm_hopper_h100.json";
  prepare.words = {"compile", "gemm_hopper", "h100", "--allow"};
  BenchStep order{.name = "order-a", .kind = BenchStepKind::Contention, .subject = "gemm"};
  order.words = {"run", "gemm_hopper", "h100",         "-p",          "M=128",     "-p", "N=256",
                 "-p",  "K=192",       "--no-library", "--no-verify", "--repeats", "2"};
  order.words.insert(order.words.end(), {"--launches", "2", "--blocks", "2", "--warmups", "1", "--sustained", "2", "--pause", "0.001"});
  for (BenchStep* step : {&prepare, &order}) step->limit_seconds = 300;
  BenchStep other = order;
  other.name = "order-b";
  other.beside = "order-a";
  BenchRecord record;
  CHECK(begun_by(options, {prepare, order, other}, record).size() == 3);
  CHECK(verdict(record, "prepare-gemm").outcome == StepOutcome::Good);
  const StepVerdict a = verdict(record, "order-a"), b = verdict(record, "order-b");
  CHECK(a.outcome == StepOutcome::Good);
  const ContentionReading period = reading(a.readings, "period", "an iteration of");
  CHECK(period.measured > 0);
  CHECK(period.least <= period.value);
  CHECK(period.value <= period.most);
  CHECK(says(a.finding, "by the rule of motion"));
  CHECK(says(b.finding, "cycles than order-a, 0.0 % more by the rule"));
  // An order whose file is not there is no order that was found instead.
  BenchStep missing = prepare;
  missing.name = "prepare-missing", missing.subject = "missing", missing.order = "assets/measured/nowhere.json";
  CHECK(begun_by(options, {missing}, record).size() == 1);
  CHECK(verdict(record, "prepare-missing").outcome == StepOutcome::Skipped);
}
