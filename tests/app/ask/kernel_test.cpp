// Kernels as command line and window both ask for them: a whole chain of refusals, and no end without its reason.
#include <algorithm>
#include <catch2/catch.hpp>

#include "app/ask/kernel.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

Instance instance_of(const char* kernel) {
  return make_instance(spec_of(load_kernel(kernel).value(), load_machine("h100").value())).value();
}

Constraints demands(const Instance& instance, const std::vector<std::string>& sentences) {
  Constraints made;
  for (const std::string& sentence : sentences) made.push_back(parse_constraint(sentence, instance.problem()).value());
  return made;
}

std::vector<std::string> names(const Constraints& constraints) {
  std::vector<std::string> list;
  for (const UserConstraint& c : constraints) list.push_back(c.name);
  return list;
}

/// What is said of the refusals, without the sentences of the rules.
std::vector<std::string> asked_instead(const KernelAnswer& answer) {
  std::vector<std::string> list;
  for (const KernelRefused& link : answer.chain)
    for (const UserConstraint& demand : link.demands) list.push_back(demand.name);
  return list;
}

/// Any compiler's, with so many bytes of spills.
codegen::CompileFunction spilling(std::int64_t bytes) {
  return [bytes](const std::string&, const std::string&) {
    codegen::Compiled compiled;
    compiled.compiler = "fake 1.0";
    compiled.report.spill_stores = bytes;
    return Result<codegen::Compiled>(std::move(compiled));
  };
}

Subject gemm() {
  Subject subject{instance_of("gemm_hopper")};
  subject.schedule = read_schedule(test::repository_path("tests/schedules/gemm_hopper_h100.json"), subject.problem()).value();
  return subject;
}

}  // namespace

TEST_CASE("a schedule that is given becomes a kernel as far as it is asked for, and nothing is solved", "[app]") {
  KernelRequest request;
  request.compile = spilling(0);
  for (const KernelGoal goal : {KernelGoal::Program, KernelGoal::Text, KernelGoal::Compiled}) {
    request.goal = goal;
    const KernelAnswer answer = ask_kernel(gemm(), request, {}, {});
    REQUIRE(answer.made);
    CHECK(answer.chain.empty());
    CHECK(answer.made->built.program.roles.size() == 3);
    CHECK(answer.made->built.emission.source.empty() == (goal == KernelGoal::Program));
    CHECK(answer.made->built.compiled.compiler == (goal == KernelGoal::Compiled ? "fake 1.0" : ""));
  }
}

TEST_CASE("a build without solver says so once, and what stood in the way", "[app]") {
  Subject subject{instance_of("gemm_hopper")};
  const auto said_once = [](const KernelAnswer& answer) {
    return std::count_if(answer.said.begin(), answer.said.end(),
                         [](const std::string& line) { return line.find("no solver") != line.npos; }) == 1;
  };
  const KernelAnswer none = ask_kernel(subject, {}, {}, {});
  CHECK_FALSE(none.made);
  REQUIRE(none.error);
  CHECK(none.error->kind == ErrorKind::Environment);
  CHECK(said_once(none));
  // A kernel with faults is still one.
  KernelRequest request;
  request.goal = KernelGoal::Compiled;
  request.compile = spilling(8);
  request.again = true;
  const KernelAnswer spilled = ask_kernel(gemm(), request, {}, {});
  REQUIRE(spilled.made);
  CHECK(spilled.made->built.faults.front().rule == "spills");
  CHECK(said_once(spilled));
  // Where nothing is to be solved anyway, it is not missed.
  request.again = false;
  CHECK_FALSE(ask_kernel(gemm(), request, {}, {}).error);
}

TEST_CASE("what the compiler objects to is asked for with fewer registers, then with fewer stages, and the last kernel is the last word",
          "[app]") {
  Subject subject = gemm();
  const Schedule given = *subject.schedule;
  std::vector<Constraints> searches;
  KernelRequest request;
  request.goal = KernelGoal::Compiled;
  request.again = true;
  request.compile = spilling(8);
  request.solve = [&](Subject& now, const std::stop_token&) {
    searches.push_back(now.constraints);
    return SolveOutcome{};
  };
  const KernelAnswer answer = ask_kernel(subject, request, {}, {});
  REQUIRE(answer.made);
  CHECK(answer.last_word);
  CHECK(answer.made->schedule.ii == given.ii);
  REQUIRE(searches.size() == 2);
  CHECK(searches[0].front().kind == ConstraintKind::MaxRegisters);
  CHECK(searches[1].size() == 1);  // instead of, and not besides
  CHECK(searches[1].front().kind == ConstraintKind::MaxStages);
  CHECK(answer.said.back() == "no such schedule can be written: what was compiled before is the last word");
  CHECK(answer.chain.size() == 2);

  request.deadline = Deadline(0);
  searches.clear();
  const KernelAnswer late = ask_kernel(subject, request, {}, {});
  REQUIRE(late.made);
  CHECK(searches.empty());
  CHECK(late.said.back() == "time is up: what was compiled before is the last word");
}

TEST_CASE("a chain can be stopped while it solves and while it compiles", "[app]") {
  Subject subject = gemm();
  std::stop_source stop;
  KernelRequest request;
  request.goal = KernelGoal::Compiled;
  request.again = true;
  request.compile = spilling(8);
  request.solve = [&](Subject&, const std::stop_token& token) {
    CHECK_FALSE(token.stop_requested());
    stop.request_stop();
    SolveOutcome outcome;
    outcome.schedule = gemm().schedule;
    return outcome;
  };
  const KernelAnswer solving = ask_kernel(subject, request, stop.get_token(), {});
  CHECK(solving.cancelled);
  CHECK_FALSE(solving.made);
  CHECK(solving.said.back() == "stopped");
  stop = std::stop_source();
  int compiled = 0;
  request.compile = [&](const std::string& source, const std::string& arch) {
    ++compiled;
    stop.request_stop();
    return spilling(8)(source, arch);
  };
  const KernelAnswer compiling = ask_kernel(subject, request, stop.get_token(), {});
  CHECK(compiling.cancelled);
  CHECK_FALSE(compiling.made);
  CHECK(compiled == 1);
  CHECK(ask_kernel(subject, request, stop.get_token(), {}).cancelled);  // from the start
  // A solver that was stopped by itself.
  request.compile = spilling(8);
  request.solve = [](Subject&, const std::stop_token&) {
    SolveOutcome outcome;
    outcome.cancelled = true;
    return outcome;
  };
  CHECK(ask_kernel(subject, request, {}, {}).cancelled);
}

TEST_CASE("where no schedule is found, the solver's reason is the chain's", "[app]") {
  KernelRequest request;
  request.solve = [](Subject&, const std::stop_token&) {
    SolveOutcome outcome;
    outcome.explanation = "TC: too much of it";
    return outcome;
  };
  const KernelAnswer answer = ask_kernel(Subject{instance_of("gemm_hopper")}, request, {}, {});
  CHECK_FALSE(answer.made);
  CHECK(answer.said == std::vector<std::string>{"no such schedule was found: TC: too much of it"});
}

TEST_CASE("a solver that does not do what it is asked ends the chain with what stands in the way", "[app]") {
  Subject subject{instance_of("attention_forward_unspecialized_hopper")};
  KernelRequest request;
  int searches = 0;
  request.solve = [&](Subject& now, const std::stop_token&) {
    ++searches;
    SolveOutcome outcome;
    const std::string file = "kernels/schedules/attention_forward_unspecialized_hopper/fa3-unspecialized.json";
    outcome.schedule = read_schedule(test::repository_path(file), now.problem()).value();
    return outcome;
  };
  const KernelAnswer* ended = nullptr;
  std::vector<std::string> heard;
  const KernelAnswer answer = ask_kernel(subject, request, {}, {[&](const News& news, const KernelAnswer* so_far) {
                                           heard.push_back(news.line);
                                           ended = so_far;
                                         }});
  CHECK(searches == 1);
  CHECK_FALSE(answer.made);
  CHECK(ended);
  CHECK(heard.size() == 1);
  REQUIRE(answer.chain.size() == 1);
  CHECK(answer.chain.back().demands.empty());
  CHECK(answer.said == complaints(answer.chain.back().refusals));
  CHECK(answer.said.back().find("no demand avoids it: ") != std::string::npos);
}

#ifdef HEDDLE_HAS_SOLVER
namespace {

/// Both gates beside their ups can be written; who is apart is refused by name.
constexpr const char *kFirst = "G0 and U0 in one group", *kSecond = "G1 and U1 in one group";

Schedule solved(const Instance& instance, const std::vector<std::string>& sentences) {
  solver::SolveRequest request;
  request.problem = instance.problem();
  request.constraints = demands(instance, sentences);
  return solver::solve(request).schedule.value();
}

/// A solver that keeps them apart one after the other, as long as nobody demands it otherwise.
SolveOutcome contrary(const solver::SolveRequest& request, const std::stop_token& stop) {
  solver::SolveRequest more = request;
  const auto demanded = [&](const char* name) {
    return std::any_of(request.constraints.begin(), request.constraints.end(), [&](const UserConstraint& c) { return c.name == name; });
  };
  const auto add = [&](const char* sentence) { more.constraints.push_back(parse_constraint(sentence, request.problem).value()); };
  if (!demanded(kFirst)) add("G0 and U0 apart"), add(kSecond);
  if (demanded(kFirst) && !demanded(kSecond)) add("G1 and U1 apart");
  return solver::solve(more, stop);
}

}  // namespace

TEST_CASE("a chain of two refusals is followed to its end by command line and window alike", "[app]") {
  const Instance instance = instance_of("swiglu_dual_gemm_hopper");
  Subject subject{instance};
  KernelRequest request;
  request.solve = [](Subject& now, const std::stop_token& stop) { return contrary(solve_request(now), stop); };
  std::vector<std::string> lines;
  const Listener<KernelAnswer> listener{[&](const News& news, const KernelAnswer*) {
    if (!news.line.empty()) lines.push_back(news.line);
  }};
  const KernelAnswer line = ask_kernel(subject, request, {}, listener);
  REQUIRE(line.made);
  CHECK(lines == line.said);
  CHECK(asked_instead(line) == std::vector<std::string>{kFirst, kSecond});
  CHECK(line.chain.size() == 2);
  CHECK(names(line.made->demands) == std::vector<std::string>{kFirst, kSecond});
  CHECK_FALSE(line.made->built.emission.source.empty());

  // From the first of these schedules, which is on the screen.
  subject.schedule = solved(instance, {"G0 and U0 apart", kSecond});
  CHECK(ask_kernel(subject, request, {}, {}).chain.back().demands.empty());  // it is kept
  request.again = true;
  const KernelAnswer window = ask_kernel(subject, request, {}, {});
  REQUIRE(window.made);
  CHECK(window.said == line.said);
  CHECK(asked_instead(window) == asked_instead(line));
  CHECK(window.made->built.emission.source == line.made->built.emission.source);
}
#endif
