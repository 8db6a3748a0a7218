// Reasons, ranges and alternatives as the panels show them: handmade answers, and real ones on shipped kernels.
#include <algorithm>
#include <catch2/catch.hpp>

#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/chart/chart_overlay.h"
#include "app/window/chart/inspector_model.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/parts/explain_model.h"
#include "app/window/tabs/alternatives/alternatives_model.h"
#include "app/window/tabs/slack/slack_model.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// A session on the real solver or fakes; waits for both kinds of jobs.
struct Fixture {
  explicit Fixture(SolveFunction solve = test::solve_toy, AskFunction ask = built_in_answers()) : session(environment(solve, ask)) {
    session.apply(limit_searches(kMostSearchSeconds));  // a slow machine takes longer, and answers the same
  }

  static Environment environment(SolveFunction solve, AskFunction ask) {
    Environment e;
    e.solve = std::move(solve);
    e.ask = std::move(ask);
    e.solver_name = "fake 1.0";
    return e;
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !(session.live().active() || session.asking()); }, [&] { session.pump(); }));
  }
  Session session;
};

Change capacity(const char* unit, std::int64_t value) {
  Change change;
  change.kind = ChangeKind::Capacity;
  change.unit = unit;
  change.value = value;
  return change;
}

/// What the toy's solver might say about II 1.
Explanation handmade() {
  Explanation e;
  e.status = Status::Optimal;
  e.ii = 2;
  e.refuted = 1;
  e.together = true;
  e.members.resize(2);
  e.members[0].family = "unit";
  e.members[0].what = "TC does one op at a time: S (1054 cycles)";
  e.members[0].ops = {OpId(0u), OpId(2u)};
  e.members[0].unit = UnitId(0u);
  e.members[0].needed = true;
  e.members[0].without = "TC: 2 at slot 0";
  e.members[1].family = "dependence";
  e.members[1].what = "dependences S -1-> P";
  e.members[1].edges = {EdgeId(0u)};
  e.ways_out.resize(3);
  e.ways_out[0] = {0, "capacity of TC", "1", "2", Status::Optimal, 1, "MUFU", 0.1};
  e.ways_out[0].changes = {capacity("TC", 2)};
  e.ways_out[1] = {1, "latency of S -> P", "1", "0", Status::Optimal, 2, "", 0.1};
  e.ways_out[2] = {1, "distance of S -> P", "1", "2", Status::Unknown, 0, "", 0.1};
  e.assumptions = {"at most 4 stages"};
  return e;
}

AskFunction answering(Explanation answer) {
  return [answer](const Question&, std::stop_token, const AskListener&) -> AnyAnswer { return answer; };
}

bool mentions(const std::vector<std::string>& texts, const char* part) {
  for (const std::string& text : texts)
    if (text.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("text is made readable without touching names", "[app]") {
  CHECK(pretty("QK -1054-> max needs 2048 of 12 cycles") == "QK → (1 054) max needs 2 048 of 12 cycles");
  CHECK(pretty("op1234 and x_5000 stay, 0.1234 too") == "op1234 and x_5000 stay, 0.1234 too");
  CHECK(pretty("") == "");
  CHECK(pretty("99999999999999999999999") == "99999999999999999999999");
}

TEST_CASE("a structured answer becomes a card per member with its ways out", "[app]") {
  Fixture f(test::solve_toy, answering(handmade()));
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  f.session.apply(AskWhy{});
  CHECK(f.session.view().tab == BottomTab::Explain);
  f.settle();
  const ExplainModel model = build_explain(f.session);
  CHECK(model.solved);
  CHECK(model.title == "Why II 1 is impossible");
  // Nothing is claimed that was not shown.
  CHECK(model.note == "2 rules that cannot hold together · not shown to be minimal");
  REQUIRE(model.cards.size() == 3);
  CHECK(model.cards[0].sentence == "TC does one op at a time: S (1 054 cycles)");
  CHECK(model.cards[0].detail == "Needed: the others alone can be met. This is what then breaks the rule: TC: 2 at slot 0");
  CHECK(model.cards[0].shown.ops == handmade().members[0].ops);
  CHECK(model.cards[0].shown.lanes == std::vector<std::string>{"TC"});
  REQUIRE(model.cards[0].steps.size() == 1);
  CHECK(model.cards[0].steps[0].change == "capacity of TC 1 → 2");
  CHECK(model.cards[0].steps[0].result == "II 1, proved; then MUFU binds");
  CHECK(model.cards[0].steps[0].attempt.has_value());
  CHECK(model.cards[1].detail == "Whether it is needed was not decided");
  CHECK(model.cards[1].shown.edges == std::vector<EdgeId>{EdgeId(0u)});
  CHECK(model.cards[1].shown.ops.size() == 2);
  REQUIRE(model.cards[1].steps.size() == 2);
  CHECK(model.cards[1].steps[0].result == "no gain, proved");
  CHECK(model.cards[1].steps[1].result == "not decided in time");
  CHECK_FALSE(model.cards[1].steps[1].attempt);
  CHECK_FALSE(model.cards[1].steps[1].why_not.empty());
  CHECK(mentions(model.remarks, "at most 4 stages"));
  CHECK(explain_as_text(model).find("capacity of TC 1 → 2\tII 1, proved; then MUFU binds") != std::string::npos);
}

TEST_CASE("reasons that were verified are called minimal and re-checked", "[app]") {
  Explanation e = handmade();
  e.verified = true;
  for (ExplanationMember& member : e.members) member.needed = true;
  Fixture f(test::solve_toy, answering(e));
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  f.session.apply(AskWhy{});
  f.settle();
  CHECK(build_explain(f.session).note == "2 rules that cannot hold together · minimal, re-checked");
}

TEST_CASE("why is asked once, after a running solve, and again when the question has changed", "[app]") {
  int asked = 0;
  Fixture f(test::solve_toy, [&asked](const Question&, std::stop_token, const AskListener&) -> AnyAnswer {
    ++asked;
    return handmade();
  });
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.session.apply(AskWhy{});
  f.settle();
  f.settle();
  CHECK(asked == 1);
  f.session.apply(AskWhy{});
  f.settle();
  CHECK(asked == 1);
  f.session.apply(SetChange{capacity("TC", 3)});
  CHECK(build_explain(f.session).outdated);
  CHECK_FALSE(build_explain(f.session).solved);
  f.session.apply(AskWhy{});
  f.settle();
  CHECK(asked == 2);
}

TEST_CASE("conflicts that hold II up are a reason with a way out, which puts other layouts in force", "[app]") {
  Question question;
  InstanceSpec spec = spec_of(load_kernel("attention_backward_hopper").value(), load_machine("h100").value());
  spec.choices.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {}}}};
  question.subject = Subject{make_instance(std::move(spec)).value()};
  question.options.timeout_seconds = static_cast<double>(kMostSearchSeconds);
  const AnyAnswer answer = built_in_answers()(question, {}, [](const AnswerSoFar&) {});
  const auto& explanation = std::get<Explanation>(answer);
  CHECK(explanation.ii == 2944);
  const auto all = std::find_if(explanation.ways_out.begin(), explanation.ways_out.end(),
                                [](const WayOut& way) { return way.what == "all of these layouts"; });
  REQUIRE(all != explanation.ways_out.end());
  CHECK(all->ii == 2688);
  CHECK(all->can_be_tried());

  Fixture f(test::solve_toy, answering(handmade()));
  f.session.apply(OpenPair{"attention_backward_hopper", "h100", false});
  f.settle();
  REQUIRE(f.session.content().problem);
  f.session.apply(TryRelaxation{{}, {}, {}, all->choices});
  CHECK(f.session.content().choices == all->choices);
  CHECK(choices_of(*f.session.content().problem) == all->choices);
  f.session.apply(Undo{});
  CHECK(f.session.content().choices.empty());
  LayoutChoices nonsense;
  nonsense.layouts = {{"dqs0", "panels 31"}};
  f.session.apply(TryRelaxation{{}, {}, {}, nonsense});
  CHECK(f.session.error().has_value());
  CHECK(f.session.content().choices.empty());
}

TEST_CASE("trying a way out solves again and makes the old schedule B, in one step of undo", "[app]") {
  Fixture f(test::solve_toy, answering(handmade()));
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  REQUIRE(f.session.content().schedules.size() == 1);
  f.session.apply(TryRelaxation{{capacity("TC", 2)}, {}, {}});
  CHECK(f.session.content().changes.size() == 1);
  f.settle();
  CHECK(f.session.content().schedules.size() == 2);
  CHECK(f.session.content().shown == 1u);
  CHECK(f.session.content().baseline == 0u);
  // The same number again replaces the change.
  f.session.apply(TryRelaxation{{capacity("TC", 4)}, {}, {}});
  REQUIRE(f.session.content().changes.size() == 1);
  CHECK(f.session.content().changes[0].value == 4);
  f.settle();
  // Out of range: refused with the reason, nothing changes.
  f.session.apply(TryRelaxation{{capacity("no such unit", 2)}, {}, {}});
  CHECK(f.session.error().has_value());
  CHECK(f.session.content().changes.size() == 1);
  f.session.apply(TryRelaxation{{}, 7u, {}});
  f.session.apply(TryRelaxation{});
  CHECK(f.session.content().changes.size() == 1);
}

TEST_CASE("a constraint can be widened or dropped as a way out", "[app]") {
  Fixture f;
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  UserConstraint most;
  most.kind = ConstraintKind::MaxStages;
  most.high = 1;
  f.session.apply(AddConstraint{most, false});
  f.session.apply(TryRelaxation{{}, 0u, 2});
  REQUIRE(f.session.content().constraints.size() == 1);
  CHECK(f.session.content().constraints[0].high == 2);
  f.settle();
  f.session.apply(TryRelaxation{{}, 0u, {}});
  CHECK_FALSE(f.session.content().constraints[0].enabled);
  f.settle();
}

TEST_CASE("a highlight makes everything else step back and never outlives its problem", "[app]") {
  Fixture f;
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  CHECK_FALSE(build_overlay(f.session).focus.active());
  f.session.apply(show_highlight({"because", {OpId(1u), OpId(99u), OpId{}}, {EdgeId(0u), EdgeId(77u)}, {"TC"}}));
  const ChartOverlay overlay = build_overlay(f.session);
  CHECK(overlay.focus.active());
  CHECK(overlay.focus.has(OpId(1u)));
  CHECK_FALSE(overlay.focus.has(OpId(0u)));
  CHECK_FALSE(overlay.focus.has(OpId(99u)));
  CHECK(overlay.focus.has(EdgeId(0u)));
  f.session.apply(OpenPair{"gemm_hopper", "h100", false});
  CHECK(f.session.view().highlight.why.empty());
}

TEST_CASE("what limits II is the unit, the recurrence, or said to be neither", "[app]") {
  Fixture f;
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  f.session.apply(toggle_critical());
  const ChartOverlay overlay = build_overlay(f.session);
  CHECK(overlay.critical.find("TC is busy in all 2 cycles") != std::string::npos);
  CHECK(overlay.focus.lanes == std::vector<std::string>{"TC"});

  const Content& content = f.session.content();
  Bounds bounds = *content.bounds;
  const Schedule& schedule = content.entry()->schedule;
  for (UnitLoad& load : bounds.units) load.bound = 1;
  bounds.rec_mii = 2;
  bounds.critical = {{EdgeId(0u)}, 2, 1, 2};
  const CriticalModel recurrence = build_critical(*content.problem, bounds, schedule, content.entry()->period);
  CHECK(recurrence.legend.find("the recurrence") != std::string::npos);
  CHECK(recurrence.cycle.size() == 1);
  CHECK(recurrence.lanes.empty());
  bounds.rec_mii = 1;
  const CriticalModel neither = build_critical(*content.problem, bounds, schedule, content.entry()->period);
  CHECK(neither.legend.find("set by the interaction: see Explain") != std::string::npos);
  Schedule slow = schedule;
  slow.ii = 50;
  CHECK(build_critical(*content.problem, bounds, slow, content.entry()->period).legend.find("nothing limits II 50") != std::string::npos);
}

TEST_CASE("slack as rows: what is proved is marked, what is not says so", "[app]") {
  Fixture f;
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  const Content& content = f.session.content();
  SlackRanges answer;
  answer.ii = 2;
  answer.anchor = OpId(0u);
  answer.stages = 3;
  answer.legal = answer.exact = true;
  for (unsigned v = 0; v < 3; ++v) {
    OpRange range;
    range.op = OpId(v);
    range.start = content.entry()->schedule.start(OpId(v));
    range.path_earliest = range.earliest.bound = v == 0 ? 0 : -1200;
    range.path_latest = range.latest.bound = v == 0 ? 0 : 1600;
    range.alone = {0, kUnlimited};
    if (v == 0) range.earliest.seen = range.latest.seen = 0;
    if (v == 1) range.earliest.seen = -1200, range.latest.seen = 1100;
    answer.ops.push_back(range);
  }
  SlackModel model = build_slack(*content.problem, content.entry()->schedule, answer);
  REQUIRE(model.rows.size() == 3);
  CHECK(model.proved == 1);
  CHECK(model.low == -1200);
  CHECK(model.rows[0].anchor);
  CHECK(column_of(slack_columns(), "room").text(model.rows[0]) == "0");
  CHECK(column_of(slack_columns(), "slack+").text(model.rows[0]) == "free");
  CHECK(column_of(slack_columns(), "earliest").text(model.rows[1]) == "-1 200 ✓");
  CHECK(column_of(slack_columns(), "latest").text(model.rows[1]) == "≥ 1 100");
  CHECK(column_of(slack_columns(), "latest").text(model.rows[2]) == "-");
  CHECK(model.histogram.front().ops == 1);
  CHECK(model.histogram.back().ops == 2);
  sort_by(model.rows, column_of(slack_columns(), "latest"), false);
  CHECK(model.rows.back().op == OpId(2u));
  sort_by(model.rows, column_of(slack_columns(), "room"), true);
  CHECK(model.rows.back().op == OpId(0u));
  const std::string text = slack_as_text(model.rows);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  filter_slack(model.rows, "no such op");
  CHECK(model.rows.empty());

  InspectorModel inspector;
  inspector.op = OpId(1u);
  add_range(answer, inspector);
  REQUIRE(inspector.range.size() == 2);
  CHECK(inspector.range[0] == "over all schedules at II 2: -1 200 .. 1 100, the earliest proved");
}

TEST_CASE("real answers on the toy: reasons, ranges and alternatives", "[app]") {
  Fixture f(built_in_solver());
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  f.settle();
  f.session.apply(AskWhy{});
  f.settle();
  const ExplainModel model = build_explain(f.session);
  CHECK(model.solved);
  CHECK(model.note == "1 reason, by arithmetic");
  REQUIRE_FALSE(model.cards.front().steps.empty());
  REQUIRE(model.cards.front().steps.front().attempt);
  f.session.apply(*model.cards.front().steps.front().attempt);
  f.settle();
  CHECK(f.session.content().entry()->schedule.ii == 1);
  CHECK(f.session.content().baseline_entry()->schedule.ii == 2);
  f.session.apply(Undo{});

  f.session.apply(Ask{Topic::Slack, {}});
  f.settle();
  REQUIRE(build_overlay(f.session).slack);
  const SlackModel slack =
      build_slack(*f.session.content().problem, f.session.content().entry()->schedule, *build_overlay(f.session).slack);
  CHECK(slack.proved == slack.rows.size());

  f.session.apply(Ask{Topic::Alternatives, {}});
  f.settle();
  const auto* alternatives = f.session.question(Topic::Alternatives).as<Alternatives>();
  REQUIRE(alternatives);
  const AlternativesModel rows = build_alternatives(*f.session.content().problem, *alternatives);
  REQUIRE_FALSE(rows.rows.empty());
  CHECK(rows.rows[0].distance == "-");
  CHECK_FALSE(rows.headline.empty());
  f.session.apply(AdoptSchedule{alternatives->found[0].schedule, rows.rows[0].name, true});
  const std::size_t count = f.session.content().schedules.size();
  f.session.apply(AdoptSchedule{alternatives->found[0].schedule, rows.rows[0].name, true});
  CHECK(f.session.content().schedules.size() == count);
}

TEST_CASE("real reasons on a GEMM and on attention forward can be tried and hold what they promise", "[app]") {
  for (const char* kernel : {"gemm_hopper", "attention_forward_hopper"}) {
    CAPTURE(kernel);
    Fixture f(built_in_solver());
    f.session.apply(OpenPair{kernel, "h100", true});
    f.settle();
    f.session.apply(AskWhy{});
    f.settle();
    const auto* answer = f.session.question(Topic::Explain).as<Explanation>();
    REQUIRE(answer);
    REQUIRE_FALSE(answer->ways_out.empty());
    const WayOut best = answer->ways_out.front();
    REQUIRE(best.status == Status::Optimal);
    REQUIRE(best.can_be_tried());
    f.session.apply(TryRelaxation{best.changes, best.constraint, best.limit});
    f.settle();
    CHECK(f.session.content().entry()->schedule.ii == best.ii);
    CHECK(f.session.content().entry()->verdict.valid());
    CHECK(f.session.content().baseline == 0u);
  }
}
