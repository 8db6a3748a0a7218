// Questions as command line and window both put them: what they are about, what is heard on the way, how they ended.
#include <catch2/catch.hpp>

#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/alternatives.h"
#include "app/ask/compare.h"
#include "app/ask/ending.h"
#include "app/ask/explain.h"
#include "app/ask/family.h"
#include "app/ask/known_programs.h"
#include "app/ask/latency.h"
#include "app/ask/listener.h"
#include "app/ask/paper.h"
#include "app/ask/pareto.h"
#include "app/ask/period.h"
#include "app/ask/price.h"
#include "app/ask/slack.h"
#include "app/ask/subject.h"
#include "app/command/exit_code.h"
#include "core/formats/constraints_json.h"
#include "core/library/library.h"
#include "solver/questions/kernel_set_members.h"

using namespace heddle;
using namespace heddle::app;

namespace {

Subject about(const char* kernel, const char* machine, const LayoutChoices& choices = {}) {
  InstanceSpec spec = spec_of(load_kernel(kernel).value(), load_machine(machine).value());
  spec.choices = choices;
  return {make_instance(std::move(spec)).value()};
}

/// Everything that was heard.
template <class Answer>
struct Heard {
  std::vector<News> news;
  std::vector<Answer> parts;
  Listener<Answer> listener() {
    return {[this](const News& n, const Answer* so_far) {
      news.push_back(n);
      if (so_far) parts.push_back(*so_far);
    }};
  }
};

}  // namespace

TEST_CASE("an ending is an exit code, and a search without a proof is done unless one was required", "[app]") {
  CHECK(exit_code(Ending::Done) == kDone);
  CHECK(exit_code(Ending::Negative) == kNegative);
  CHECK(exit_code(Ending::NoProof) == kNoProof);
  CHECK(exit_code(Ending::Interrupted) == kInterrupted);
  CHECK(exit_code(Ending::InvalidInput) == kInvalidInput);
  CHECK(exit_code(Ending::Internal) == kInternal);
  SolveOutcome outcome;
  CHECK(ended(outcome).ending == Ending::NoProof);
  outcome.status = Status::Feasible;
  outcome.schedule.emplace();
  CHECK(ended(outcome).ending == Ending::Done);
  CHECK(ended(outcome, true).ending == Ending::NoProof);
  outcome.cancelled = true;
  CHECK(ended(outcome).ending == Ending::Interrupted);
}

TEST_CASE("slack tells of longest paths before the exact ends, and of every op with all ranges so far", "[app]") {
  Subject subject = about("toy_fig1", "toy");
  subject.schedule = ask_alternatives(subject, {.count = 1}, {}, {}).found.at(0).schedule;
  Heard<SlackRanges> heard;
  const SlackRanges ranges = ask_slack(subject, {}, {}, heard.listener());
  CHECK(ended(ranges).ending == Ending::Done);
  REQUIRE(heard.news.size() == ranges.ops.size() + 1);
  CHECK(heard.news[0].doing == "longest paths are known");
  CHECK(heard.news[0].facts.empty());
  CHECK_FALSE(heard.parts[0].exact);
  CHECK(heard.news[1].facts.size() == 3);
  CHECK(heard.parts.size() == heard.news.size());
  CHECK(heard.parts.back().complete());
  CHECK_FALSE(ask_slack(subject, {.exact = false}, {}, {}).exact);
  CHECK(told(subject, ranges, {Telling::Form::Json}).starts_with("{"));
}

TEST_CASE("a schedule of exactly one II is asked for by its option, and its ending says that there is none", "[app]") {
  const Subject subject = about("toy_fig1", "toy");
  const Alternatives none = ask_alternatives(subject, {.ii = 1}, {}, {});
  CHECK(none.found.empty());
  CHECK(ended(none).ending == Ending::Negative);
  const Explanation why = ask_explain(subject, {.ii = 1, .relax_seconds = 0}, {}, {});
  CHECK(why.status == Status::Infeasible);
}

TEST_CASE("latencies without ends reach from half to twice the present one, and 16 cycles beyond it", "[app]") {
  const Subject subject = about("toy_fig1", "toy");
  LatencyOptions options{OpId(0)};
  const Cycle present = subject.problem().op(options.op).latency;
  CHECK(latency_span(subject.problem(), options).from == (present + 1) / 2);
  CHECK(latency_span(subject.problem(), options).to >= present + 8);
  options.from = options.to = 7;
  CHECK(latency_span(subject.problem(), options).from == 7);
  CHECK(latency_span(subject.problem(), options).to == 7);
}

TEST_CASE("a parameter that varies is not set, and what cannot vary is a fault of the option", "[app]") {
  InstanceSpec spec = spec_of(load_kernel("gemm_hopper").value(), load_machine("h100").value());
  spec.params["TILE_N"] = 128;
  const Subject subject{make_instance(std::move(spec)).value()};
  const auto family = family_of(subject, {"TILE_N=128,192"});
  REQUIRE(family);
  CHECK(family->each.params.count("TILE_N") == 0);
  CHECK(family->vary.size() == 1);
  const auto wrong = family_of(subject, {"=3", "subtile:"});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().faults.size() >= 2);
}

TEST_CASE("a listed schedule that ships with the kernel takes part once", "[app]") {
  const Subject subject = about("gemm_hopper", "h100");
  const std::vector<Contender> shipped = contenders_with(subject, {});
  std::vector<Contender> listed;
  for (const Contender& c : shipped)
    if (c.schedule) listed.push_back(c);
  CHECK(contenders_with(subject, listed).size() == shipped.size());
  CompareOptions options;
  options.heuristics = {"no-such-heuristic"};
  CHECK(check_heuristics(options).error().faults.front().message.starts_with("--baseline: "));
}

TEST_CASE("the front of open layouts is that of the combination which dominates all others", "[app]") {
  Subject subject = about("layernorm", "h100");
  const LayoutChoices before = subject.instance.choices();
  subject.left_open = {"all"};
  const auto taken = take_only_layouts(subject);
  if (taken) {
    REQUIRE(subject.open);
    const auto only = only_choices(*subject.open);
    CHECK((subject.open->decisions.empty() ? subject.instance.choices() == before : subject.instance.choices() == only));
  } else {
    CHECK_FALSE(taken.error().faults.front().message.empty());
  }
}

TEST_CASE("what the paper leaves open is decided by switches, the last of which counts", "[app]") {
  const auto value_of = [](const PaperOptions& options) {
    const auto settings = paper_settings(options);
    for (const PaperSetting& setting : settings.value())
      if (setting.name == "u") return setting.value;
    return std::string();
  };
  CHECK(value_of({}) == "300");
  CHECK(value_of({.u = 20}) == "20");
  CHECK(value_of({.switches = {"u=40", "u=50"}}) == "50");
  CHECK_FALSE(paper_settings({.switches = {"flor=one"}}));
}

namespace {

/// A schedule of the least II of a GEMM on H100: one program, or few.
Subject scheduled_gemm() {
  Subject subject = about("gemm_hopper", "h100");
  subject.schedule = solver::solve(solve_request(subject)).schedule;
  REQUIRE(subject.schedule);
  return subject;
}

}  // namespace

TEST_CASE("where a period decides, questions are answered for it too; elsewhere they are as before", "[app]") {
  Subject gemm = scheduled_gemm();
  Subject toy = about("toy_fig1", "toy");
  CHECK(asks_for_period(gemm));
  CHECK_FALSE(asks_for_period(toy));
  for (Subject* subject : {&gemm, &toy}) {
    const bool periods = asks_for_period(*subject);
    CAPTURE(subject->problem().kernel);
    subject->constraints = {parse_constraint("at most 2 stages", subject->problem()).value()};
    const Prices prices = ask_price(*subject, {}, {});
    CHECK(prices.periods == periods);
    CHECK(prices.none.period.has_value() == periods);
    subject->constraints.clear();
    const Alternatives alternatives = ask_alternatives(*subject, {.count = 2}, {}, {});
    CHECK(alternatives.least_period.has_value() == periods);
    CHECK(alternatives.found.at(0).contended_period.has_value() == periods);
    const Pareto front = ask_pareto(*subject, {.against = {Resource::Stages}}, {}, {}, {}).value();
    CHECK(front.by_period.empty() == !periods);
    if (periods) CHECK(front.steps.at(0).contended_period);
  }
}

TEST_CASE("slack says of every op how much longer it may take before the period does", "[app]") {
  const Subject gemm = scheduled_gemm();
  const SlackRanges ranges = ask_slack(gemm, {.exact = false}, {}, {});
  REQUIRE(ranges.period);
  for (const OpRange& range : ranges.ops) CHECK(range.growth);
  const auto of = [&](const char* op) { return *ranges.ops.at(gemm.problem().find_op(op).index()).growth; };
  CHECK(of("MMA0") <= 2);  // the tensor cores never rest
  CHECK(of("load_b") > of("MMA0"));
}

TEST_CASE("what if a product were slower: the order's period and the least one grow, and an impossible number is a fault", "[app]") {
  const Subject gemm = scheduled_gemm();
  PeriodOptions options;
  for (const char* text : {"MMA0.duration=+10%", "limits.smem_bytes=1024"})
    options.what_if.push_back(parse_change(text, gemm.instance.kernel(), gemm.instance.machine()).value());
  const LeastPeriod answer = ask_period(gemm, options, {}, {});
  REQUIRE(answer.what_if.size() == 2);
  const PeriodIf &slower = answer.what_if[0], &smaller = answer.what_if[1];
  REQUIRE(slower.in_order);
  REQUIRE(slower.least);
  CHECK(*slower.in_order > answer.cycles + 10);
  CHECK(slower.least->cycles() <= *slower.in_order * 1.001);
  CHECK((!smaller.fault.empty() || !smaller.least));
  CHECK(told(gemm, answer, {}).find("MMA0.duration=+10%") != std::string::npos);
}

TEST_CASE("a price is asked of demands that are made, and of what is said of layouts", "[app]") {
  CHECK_FALSE(has_price({}, {}));
  UserConstraint off;
  off.enabled = false;
  CHECK_FALSE(has_price({off}, {}));
  UserConstraint on;
  CHECK(has_price({on}, {}));
  LayoutChoices said;
  said.layouts["dqs0"] = "panels 32";
  CHECK(has_price({}, said));
}
#endif
