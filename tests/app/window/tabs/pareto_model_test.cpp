// A front as rows and points.
#include "app/window/tabs/pareto/pareto_model.h"
#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// II 2 with 2 stages proved, II 3 with 1 stage as found, fewer than one stage impossible, and a cap that nothing was found for.
Pareto handmade(const Problem& problem) {
  Pareto front;
  front.against = {Resource::Stages};
  front.steps.push_back({{kNoCap}, Status::Optimal, 2, "TC: S + O need 2 cycles", test::toy_schedule(problem, true), {2}});
  Schedule one = test::toy_schedule(problem, false);
  front.steps.push_back({{1}, Status::Feasible, 2, "some reason", one, {1}});
  return front;
}

AskFunction answering(const Pareto& (*make)(const Problem&)) {
  return [make](const Question& q, std::stop_token, const AskListener&) -> AnyAnswer { return make(q.subject->problem()); };
}

const Pareto& from_file(const Problem& problem) {
  static Pareto front;
  front = handmade(problem);
  return front;
}

void settle(Session& session) {
  REQUIRE(test::wait_until([&] { return !(session.live().active() || session.asking()); }, [&] { session.pump(); }));
}

struct Toy {
  Session session;
  explicit Toy(AskFunction ask = answering(from_file)) : session(environment(std::move(ask))) {
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
  }
  static Environment environment(AskFunction ask) {
    Environment e;
    e.solve = test::solve_toy;
    e.ask = std::move(ask);
    return e;
  }
};

}  // namespace

TEST_CASE("points, what is only found, and what is shown each have their mark", "[app]") {
  const Toy toy;
  const Problem& problem = *toy.session.content().problem;
  Pareto front = handmade(problem);
  front.steps.push_back({{0}, Status::Infeasible, 0, "nobody expects that", std::nullopt, {}});
  ParetoModel model = build_pareto(problem, front, toy.session.content());
  REQUIRE(model.rows.size() == 2);
  CHECK(model.rows[0].kind == ParetoRow::Kind::Proved);
  CHECK(model.rows[0].current);
  CHECK(model.rows[0].standing == "proved");
  CHECK(model.rows[1].kind == ParetoRow::Kind::Found);
  CHECK(model.rows[1].ii == 3);
  CHECK(model.rows[1].standing == "not proved, II ≥ 2");
  CHECK(model.shown.empty());
  CHECK(model.least_ii == 2);
  front.steps[1].schedule.reset();
  front.steps[1].values.clear();
  front.steps[1].status = Status::Unknown;
  model = build_pareto(problem, front, toy.session.content());
  CHECK(model.rows[1].kind == ParetoRow::Kind::BoundOnly);
  CHECK(model.rows[1].drawn());
  front.steps[1].status = Status::Infeasible;
  model = build_pareto(problem, front, toy.session.content());
  CHECK(model.rows[1].kind == ParetoRow::Kind::Impossible);
  const std::string table = pareto_as_text(model);
  CHECK(table.find("2\t2\tproved") != std::string::npos);
  CHECK(table.find("-\t<=1\timpossible, proved") != std::string::npos);
}

TEST_CASE("a schedule that is none of the points is marked where it lies", "[app]") {
  const Toy toy;
  const Problem& problem = *toy.session.content().problem;
  Pareto front = handmade(problem);
  front.steps.erase(front.steps.begin());
  front.steps[0].caps = {kNoCap};
  const ParetoModel model = build_pareto(problem, front, toy.session.content());
  CHECK(model.shown == std::vector<std::int64_t>{2});
  CHECK(model.shown_ii == 2);
  CHECK(model.shown_name == "solver #1");
}

TEST_CASE("a point is taken over once and found again afterwards", "[app]") {
  Toy toy;
  toy.session.apply(Ask{Topic::Pareto, {}});
  settle(toy.session);
  REQUIRE(toy.session.answered(Topic::Pareto));
  const auto next = next_point(toy.session, 1);
  REQUIRE(next);
  REQUIRE(next->is<AdoptSchedule>());
  toy.session.apply(*next);
  REQUIRE(toy.session.content().schedules.size() == 2);
  CHECK(toy.session.content().entry()->schedule.ii == 3);
  CHECK(toy.session.content().entry()->status == Status::Feasible);
  CHECK(toy.session.content().entry()->lower_bound == 2);
  CHECK_FALSE(next_point(toy.session, 1));
  const auto back = next_point(toy.session, -1);
  REQUIRE(back);
  CHECK(back->is<SelectSchedule>());
  toy.session.apply(*back);
  CHECK(toy.session.content().schedules.size() == 2);
  CHECK(toy.session.content().entry()->schedule.ii == 2);
}

TEST_CASE("points sort by II, by resource and by standing", "[app]") {
  ParetoModel model;
  model.against = {Resource::Smem, Resource::Registers};
  const auto row = [](Cycle ii, std::int64_t smem, std::int64_t registers, ParetoRow::Kind kind) {
    ParetoRow r;
    r.ii = ii;
    r.amounts = {smem, registers};
    r.kind = kind;
    return r;
  };
  model.rows = {row(2, 9, 5, ParetoRow::Kind::Found), row(1, 7, 6, ParetoRow::Kind::Proved), row(3, 8, 4, ParetoRow::Kind::Proved)};
  const std::vector<Column<ParetoRow>> columns = pareto_columns(model);
  const auto order = [&](const char* column, bool descending) {
    ParetoModel sorted = model;
    sort_by(sorted.rows, std::span(columns), {column, descending});
    std::vector<Cycle> iis;
    for (const ParetoRow& r : sorted.rows) iis.push_back(r.ii);
    return iis;
  };
  CHECK(order("", true) == std::vector<Cycle>{2, 1, 3});
  CHECK(order("II", false) == std::vector<Cycle>{1, 2, 3});
  CHECK(order("smem", false) == std::vector<Cycle>{1, 3, 2});
  CHECK(order("registers", true) == std::vector<Cycle>{1, 2, 3});
  CHECK(order("status", false) == std::vector<Cycle>{1, 3, 2});
}

TEST_CASE("amounts are written in the units of the field", "[app]") {
  CHECK(resource_text(163840, Resource::Smem) == "160 KiB");
  CHECK(resource_text(100, Resource::Smem) == "100 B");
  CHECK(resource_text(1100, Resource::Smem) == "1.1 KiB");
  CHECK(resource_text(256, Resource::Tmem) == "256 columns");
  CHECK(cap_text(98303, Resource::Smem) == "< 96 KiB");
  CHECK(cap_text(160, Resource::Registers) == "≤ 160");
}

TEST_CASE("a front stays after an undo, and a second sweep goes on from the first", "[app]") {
  static std::vector<std::size_t> known;
  known.clear();
  Toy toy([](const Question& q, std::stop_token, const AskListener&) -> AnyAnswer {
    known.push_back(q.known.size());
    return handmade(q.subject->problem());
  });
  Session& session = toy.session;
  const auto change = [&](const char* text) {
    session.apply(SetChange{parse_change(text, *session.content().kernel, *session.content().machine).value()});
  };
  Ask ask{Topic::Pareto, {}};
  ask.options.pareto.against = {Resource::Stages};
  session.apply(ask);
  settle(session);
  CHECK(session.answered(Topic::Pareto));
  change("P.latency=3");
  CHECK_FALSE(session.answered(Topic::Pareto));
  session.apply(Undo{});
  CHECK(session.answered(Topic::Pareto));
  session.apply(Redo{});
  CHECK_FALSE(session.answered(Topic::Pareto));
  // Taking the change back is the same question again, although the problem was made anew.
  session.apply(RemoveChange{0});
  CHECK(session.answered(Topic::Pareto));
  session.apply(ask);
  settle(session);
  CHECK(known == std::vector<std::size_t>{0, 2});
  // Asked about another problem meanwhile: nothing is known there, and the old answer comes back with the old numbers.
  change("P.latency=3");
  session.apply(ask);
  settle(session);
  CHECK(known.back() == 0);
  CHECK(session.answered(Topic::Pareto));
  session.apply(Undo{});
  CHECK(session.answered(Topic::Pareto));
  // Other resources are another question; the first answer is remembered.
  Ask other = ask;
  other.options.pareto.against = {Resource::Warps};
  CHECK_FALSE(session.remembers(Topic::Pareto, other.options));
  session.apply(other);
  settle(session);
  const std::size_t asked = known.size();
  CHECK(session.remembers(Topic::Pareto, ask.options));
  session.apply(ask);
  CHECK_FALSE(session.asking());
  CHECK(known.size() == asked);
  CHECK(session.question(Topic::Pareto).options.pareto.against == ask.options.pareto.against);
}

TEST_CASE("schedules of the old numbers stay, judged anew and without what was proved", "[app]") {
  Toy toy;
  Session& session = toy.session;
  REQUIRE(session.content().entry()->status == Status::Optimal);
  const auto change = [&](const char* text) {
    session.apply(SetChange{parse_change(text, *session.content().kernel, *session.content().machine).value()});
  };
  change("O.latency=2");
  REQUIRE(session.content().schedules.size() == 1);
  CHECK(session.content().entry()->verdict.valid());
  CHECK(session.content().entry()->status == Status::Feasible);
  CHECK_FALSE(session.content().entry()->lower_bound);
  change("O.latency=3");
  CHECK(session.content().changes.size() == 1);
  CHECK_FALSE(session.content().entry()->verdict.valid());
  CHECK(session.content().entry()->status == Status::Invalid);
  session.apply(Undo{});
  session.apply(Undo{});
  CHECK(session.content().entry()->status == Status::Optimal);
  CHECK(session.content().entry()->lower_bound == 2);
  change("S.latency=1000000000000");
  CHECK(session.content().changes.empty());
  CHECK(session.error());
}

TEST_CASE("another machine keeps changes and schedules, judged for it", "[app]") {
  Toy toy;
  Session& session = toy.session;
  session.apply(SetChange{parse_change("P.latency=1", *session.content().kernel, *session.content().machine).value()});
  const Schedule before = session.content().entry()->schedule;
  session.apply(SwitchMachine{"h100"});
  CHECK_FALSE(session.error());
  CHECK(session.content().machine->name == "h100");
  REQUIRE(session.content().problem);
  CHECK(session.content().problem->machine == "h100");
  CHECK(session.content().changes.size() == 1);
  // Issuing takes longer there than this schedule allows: it stays in the list, and is shown for what it is.
  REQUIRE(session.content().schedules.size() == 1);
  REQUIRE(session.content().entry());
  CHECK(same_program(session.content().entry()->schedule, before));
  CHECK(session.content().entry()->schedule.machine == "h100");
  CHECK(session.content().entry()->status == Status::Invalid);
  CHECK_FALSE(session.content().entry()->verdict.valid());
  CHECK_FALSE(session.content().entry()->lower_bound);
  session.apply(SwitchMachine{"no such machine"});
  CHECK(session.error());
  CHECK(session.content().machine->name == "h100");
  CHECK(session.content().problem);
  session.apply(DismissError{});
  session.apply(Undo{});
  CHECK(session.content().machine->name == "toy");
  CHECK(session.content().entry()->verdict.valid());
}

TEST_CASE("a schedule that fits another machine stays valid, and a machine without room changes nothing", "[app]") {
  Session session{Environment{}};
  session.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  REQUIRE(session.content().entry());
  session.apply(SwitchMachine{"h200"});
  CHECK_FALSE(session.error());
  CHECK(session.content().machine->name == "h200");
  REQUIRE(session.content().entry());
  CHECK(session.content().entry()->verdict.valid());
  CHECK(session.content().entry()->status == Status::Feasible);
  for (const char* too_small : {"toy", "b200"}) {
    session.apply(SwitchMachine{too_small});
    CHECK(session.error());
    CHECK(session.content().machine->name == "h200");
    CHECK(session.content().entry()->verdict.valid());
    session.apply(DismissError{});
  }
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("the real front of the toy: two points, both proved", "[app]") {
  Toy toy(built_in_answers());
  Ask ask{Topic::Pareto, {}};
  ask.options.pareto.against = {Resource::Stages};
  toy.session.apply(ask);
  settle(toy.session);
  const QuestionState& asked = toy.session.question(Topic::Pareto);
  const auto* front = asked.as<Pareto>();
  REQUIRE(front);
  const ParetoModel model = build_pareto(*asked.problem, *front, toy.session.content());
  REQUIRE(std::count_if(model.rows.begin(), model.rows.end(), [](const ParetoRow& r) { return r.kind == ParetoRow::Kind::Proved; }) == 2);
  CHECK(model.rows[0].ii == 2);
  CHECK(model.rows[0].amounts == std::vector<std::int64_t>{2});
  CHECK(model.rows[1].ii == 3);
  CHECK(model.headline == "II against stages: 2 points, complete and proved");
}
#endif
