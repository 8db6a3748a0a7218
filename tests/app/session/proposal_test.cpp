// Drops as constraints: pins with their frames, groups with theirs, one step of undo each; and everything undone.
#include "app/session/proposal.h"
#include "app/session/environment.h"

#include <catch2/catch.hpp>
#include <random>

#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/legal_band.h"
#include "app/window/parts/constraint_list.h"
#include "core/formats/constraints_json.h"
#include "core/schedule/constraint_text.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

Environment with(SolveFunction solve) {
  Environment environment;
  environment.solve = std::move(solve);
  environment.ask = {};
  environment.solver_name = "fake 1.0";
  return environment;
}

void settle(Session& session) {
  REQUIRE(test::wait_until([&] { return !(session.live().active() || session.asking()); }, [&] { session.pump(); }));
}

/// The toy: S at 0, P at 1, O at 3, II 2.
struct Toy {
  explicit Toy(SolveFunction solve = test::solve_toy) : session(with(std::move(solve))) {
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
    REQUIRE(session.content().entry());
  }
  const Content& content() const { return session.content(); }
  Session session;
};

/// Everything of the document that a person can change.
std::string fingerprint(const Content& c) {
  std::string text = c.kernel ? c.kernel->name : "-";
  text += c.machine ? c.machine->name : "-";
  for (const auto& [name, value] : c.overrides) text += name + std::to_string(value) + ";";
  for (const UserConstraint& u : c.constraints) text += u.name + (u.enabled ? "+" : "-") + describe(u) + ";";
  for (const Change& change : c.changes) text += describe(change) + (change.enabled ? "+" : "-");
  for (const EntryPtr& e : c.schedules)
    text += e->name + std::to_string(e->schedule.ii) + to_string(e->status) + std::to_string(e->verdict.violations.size()) + ";";
  text += c.shown ? std::to_string(*c.shown) : "none";
  text += c.baseline ? std::to_string(*c.baseline) : "none";
  for (const Note& note : c.notes) text += note.text;
  return text;
}

}  // namespace

TEST_CASE("a dropped bar pins its op and holds another one still", "[app]") {
  Toy toy;
  toy.session.apply(MoveOp{OpId(2), 4, {}});
  REQUIRE(toy.content().constraints.size() == 2);
  CHECK(is_frame(toy.content().constraints[0]));
  CHECK(toy.content().constraints[0].ops == std::vector<std::string>{"S"});
  CHECK(toy.content().constraints[0].low == 0);
  CHECK(toy.content().constraints[1].name == "pin O at 4");
  // The next drop needs no second frame, and replaces the pin of the same op.
  toy.session.apply(MoveOp{OpId(1), 2, {}});
  toy.session.apply(MoveOp{OpId(2), 5, {}});
  CHECK(toy.content().constraints.size() == 3);
  // With its last pin the frame goes.
  toy.session.apply(PinOps{{OpId(1), OpId(2)}, false});
  CHECK(toy.content().constraints.empty());
}

TEST_CASE("a drop before cycle 0 takes all pins along", "[app]") {
  Toy toy;
  const Proposal early = propose_move(*toy.content().problem, {}, toy.content().entry()->schedule, MoveOp{OpId(0), -3, {}});
  REQUIRE(early.constraints.size() == 2);
  CHECK(early.name == "pin S at 0");
  CHECK(early.constraints[0].low == 4);  // P, which was at 1
  CHECK(early.constraints[0].name == "frame: pin P at 4");
  // What is shown is the old schedule: its cycle 1 is the pins' cycle 4.
  CHECK(frame_shift(*toy.content().problem, early.constraints, toy.content().entry()->schedule) == 3);
  const Proposal next = propose_move(*toy.content().problem, early.constraints, toy.content().entry()->schedule, MoveOp{OpId(2), 3, {}});
  CHECK(next.name == "pin O at 6");
}

TEST_CASE("a group by its number is held to what was seen", "[app]") {
  Toy toy;
  Schedule schedule = toy.content().entry()->schedule;
  schedule.groups.resize(2);
  schedule.ops[2].group = GroupId(1);
  const Proposal joined = propose_move(*toy.content().problem, {}, schedule, MoveOp{OpId(0), 0, GroupId(1), false});
  REQUIRE(joined.constraints.size() == 2);
  CHECK(joined.constraints[0].name == "frame: O in group 1");
  CHECK(joined.name == "S in group 1");
  const Proposal both = propose_move(*toy.content().problem, {}, schedule, MoveOp{OpId(0), 2, GroupId(1), true});
  CHECK(both.constraints.size() == 4);
  CHECK(both.name == "pin S at 2, in group 1");
}

TEST_CASE("the schedule of a drop is named after it, compared with the former one, and gone with one undo", "[app]") {
  Toy toy;
  const std::string before = fingerprint(toy.content());
  toy.session.apply(MoveOp{OpId(2), 3, {}});
  settle(toy.session);
  REQUIRE(toy.content().schedules.size() == 2);
  CHECK(toy.content().entry()->name == "pin O at 3");
  CHECK(toy.content().baseline == std::size_t{0});
  const std::string after = fingerprint(toy.content());
  toy.session.apply(Undo{});
  CHECK(fingerprint(toy.content()) == before);
  CHECK_FALSE(toy.session.live().active());
  toy.session.apply(Redo{});
  CHECK(fingerprint(toy.content()) == after);
  CHECK_FALSE(toy.session.live().active());
  // The same again gets a name of its own.
  toy.session.apply(MoveOp{OpId(2), 3, {}});
  settle(toy.session);
  CHECK(toy.content().entry()->name == "pin O at 3 (2)");
}

TEST_CASE("a drop while another one is being solved takes its place", "[app]") {
  Toy toy;
  std::atomic<int> started = 0;
  Session session(with([&](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listen) {
    ++started;
    return request.constraints.size() == 2 ? test::solve_until_cancelled(request, stop, listen) : test::solve_toy(request, stop, listen);
  }));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(MoveOp{OpId(2), 4, {}});
  CHECK(session.live().active());
  // A job that is overtaken before its thread has begun does not count as started.
  REQUIRE(test::wait_until([&] { return started >= 2; }));
  session.apply(MoveOp{OpId(1), 1, {}});
  settle(session);
  CHECK(started == 3);
  CHECK(session.content().entry()->name == "pin P at 1");
  CHECK(session.content().constraints.size() == 3);
  session.close(test::kPatience);
}

TEST_CASE("an infeasible drop leaves what is shown, and asks why", "[app]") {
  Environment environment = with([](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listen) {
    if (request.constraints.empty()) return test::solve_toy(request, stop, listen);
    SolveOutcome outcome;
    outcome.status = Status::Infeasible;
    outcome.explanation = "no schedule at any II, because these cannot hold together: user: pin O at 1; latency of S";
    return outcome;
  });
  std::atomic<int> asked = 0;
  environment.ask = [&](const Question& q, std::stop_token, const AskListener&) -> AnyAnswer {
    ++asked;
    CHECK(q.topic == Topic::Explain);
    Explanation explanation;
    explanation.status = Status::Infeasible;
    explanation.members.push_back({"user", "pin O at 1", {OpId(2)}, {}, {}, true, "", -1});
    return explanation;
  };
  Session session(environment);
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(MoveOp{OpId(2), 1, {}});
  settle(session);
  CHECK(session.live().refuted());
  CHECK(asked == 1);
  CHECK(session.content().schedules.size() == 1);
  CHECK(session.content().shown == std::size_t{0});
  CHECK(session.view().tab == BottomTab::Explain);
  const ConstraintList list = build_constraint_list(session);
  REQUIRE(list.rows.size() == 2);
  CHECK(list.refuted);
  CHECK_FALSE(list.rows[0].guilty);
  CHECK(list.rows[1].guilty);
  CHECK(list.rows[1].status == "to blame");
  // The place that was asked for stays on the chart.
  const ChartOverlay overlay = build_overlay(session);
  REQUIRE(overlay.proposed.size() == 1);
  CHECK(overlay.proposed[0].op == OpId(2));
  CHECK(overlay.proposed[0].start == 1);
  session.apply(Undo{});
  CHECK(session.content().constraints.empty());
  CHECK(session.content().entry()->status == Status::Optimal);
  session.close(test::kPatience);
}

TEST_CASE("prices belong to the constraints they were asked about", "[app]") {
  Environment environment = with(test::solve_toy);
  environment.ask = [](const Question& q, std::stop_token, const AskListener&) -> AnyAnswer {
    Prices prices;
    prices.all.status = Status::Optimal;
    prices.all.ii = 4;
    prices.all.lower_bound = 4;
    Cycle ii = 2;
    for (const UserConstraint& c : q.subject->constraints) {
      if (!c.enabled) continue;
      ConstraintPrice price{c.name, describe(c), {}};
      price.without.status = Status::Optimal;
      price.without.ii = price.without.lower_bound = ii;
      ii += 2;
      prices.constraints.push_back(price);
    }
    return prices;
  };
  Session session(environment);
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(PinOps{{OpId(0), OpId(2)}, true});
  CHECK(build_constraint_list(session).rows[0].price == "?");
  session.apply(Ask{Topic::Price, {}});
  settle(session);
  const ConstraintList list = build_constraint_list(session);
  CHECK(list.rows[0].price == "+2");
  CHECK(list.rows[1].price == "+0");
  session.apply(ToggleConstraint{1});
  CHECK(build_constraint_list(session).rows[0].price_old);
  CHECK(build_constraint_list(session).rows[1].price.empty());
  CHECK(constraints_tsv(list).find("pin S at 0\t+2\theld") != std::string::npos);
  session.close(test::kPatience);
}

TEST_CASE("a constraints file brings its changed numbers, and takes them away with one undo", "[app]") {
  Toy toy;
  const std::string before = fingerprint(toy.content());
  const Cycle latency = toy.content().problem->op(OpId(0)).latency;
  UserConstraint pin;
  pin.ops = {"O"};
  pin.low = 9;
  Change change;
  change.op = "S";
  change.value = latency + 3;
  const std::string path = "proposal_test.constraints.json";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file);
  const std::string text = constraints_text({pin}, {change});
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  toy.session.apply(OpenConstraints{path});
  REQUIRE_FALSE(toy.session.error());
  CHECK(toy.content().changes.size() == 1);
  CHECK(toy.content().problem->op(OpId(0)).latency == latency + 3);
  CHECK(toy.content().constraints.size() == 1);
  toy.session.apply(SaveConstraints{path + ".again"});
  const auto again = read_constraints(path + ".again", *toy.content().problem);
  REQUIRE(again);
  CHECK(again->size() == 1);
  toy.session.apply(Undo{});
  CHECK(fingerprint(toy.content()) == before);
  CHECK(toy.content().problem->op(OpId(0)).latency == latency);
  std::remove(path.c_str());
  std::remove((path + ".again").c_str());
}

TEST_CASE("random edits, all undone, leave the document as it was, and all done again as it had become", "[app]") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    INFO("seed " << seed);
    Toy toy;
    std::mt19937 random(seed);
    const auto pick = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
    const std::string before = fingerprint(toy.content());
    for (int i = 0; i < 40; ++i) {
      const OpId op(static_cast<std::size_t>(pick(3)));
      const auto row = static_cast<std::size_t>(pick(4));
      switch (pick(11)) {
        case 0: toy.session.apply(MoveOp{op, pick(9) - 3, {}}); break;
        case 1: toy.session.apply(MoveOp{op, 0, GroupId(static_cast<std::size_t>(pick(2))), false}); break;
        case 2: toy.session.apply(TogglePin{op}); break;
        case 3: toy.session.apply(ToggleConstraint{row}); break;
        case 4: toy.session.apply(RemoveConstraint{row}); break;
        case 5: {
          UserConstraint cap;
          cap.kind = ConstraintKind::MaxStages;
          cap.high = 1 + pick(4);
          toy.session.apply(AddConstraint{cap, pick(2) == 0});
          break;
        }
        case 6: {
          Change change;
          change.op = toy.content().problem->op(op).name;
          change.value = 1 + pick(5);
          toy.session.apply(SetChange{change});
          break;
        }
        case 7: toy.session.apply(RemoveChange{row}); break;
        case 8: toy.session.apply(AddNote{{"note " + std::to_string(i), "", i}}); break;
        case 9: toy.session.apply(RenameSchedule{row, "row " + std::to_string(i)}); break;
        case 10: toy.session.apply(RemoveSchedule{row}); break;
      }
      settle(toy.session);
    }
    const std::string after = fingerprint(toy.content());
    int steps = 0;
    for (; toy.session.next_undo(); ++steps) toy.session.apply(Undo{});
    CHECK_FALSE(toy.content().kernel);  // the opening is undone too
    int back = 0;
    for (; toy.session.next_redo(); ++back) toy.session.apply(Redo{});
    CHECK(back == steps);
    CHECK(fingerprint(toy.content()) == after);
    // One step opened and solved the toy: undone to there it is as it was before the edits.
    for (int i = 0; i < steps - 1; ++i) toy.session.apply(Undo{});
    CHECK(fingerprint(toy.content()) == before);
    toy.session.close(test::kPatience);
  }
}
