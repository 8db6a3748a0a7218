// A and B in the session, and what is made of them for the window.
#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/window/chart/compare_model.h"

#include <catch2/catch.hpp>

#include "app/session/command_line.h"
#include "app/session/session.h"
#include "app/window/chart/chart_overlay.h"
#include "core/chart/gantt_model.h"
#include "tests/app/cli_support.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

std::string ping_pong() { return test::repository_path("tests/schedules/attention_ping_pong.json"); }

/// The ping-pong schedule, and the same with rescale0 and sum0 exchanged as another row.
struct Two {
  Session session{Environment{}};
  Two() {
    session.apply(OpenSchedule{ping_pong()});
    REQUIRE(session.content().entry());
    Schedule other = session.content().entry()->schedule;
    const Problem& p = *session.content().problem;
    other.ops[p.find_op("rescale0").index()].start = 2896;
    other.ops[p.find_op("sum0").index()].start = 2826;
    session.apply(AdoptSchedule{other, "exchanged", false});
    REQUIRE(session.content().schedules.size() == 2);
  }
  CompareModel model() {
    GanttOptions options;
    options.mode = session.view().mode;
    options.iterations = session.iterations();
    const GanttModel chart = build_gantt(*session.content().problem, session.content().entry()->schedule, options);
    auto model = build_compare(session, chart, build_overlay(session));
    REQUIRE(model);
    return *model;
  }
};

}  // namespace

TEST_CASE("making the shown schedule B brings back what was shown before as A", "[app]") {
  Two two;
  Session& s = two.session;
  s.apply(SelectSchedule{0});
  s.apply(SetBaseline{0});
  CHECK(s.content().shown == std::size_t{1});
  CHECK(s.content().baseline == std::size_t{0});
  CHECK(s.view().chart_view == ChartView::Split);
  s.apply(SwapBaseline{});
  CHECK(s.content().shown == std::size_t{0});
  s.apply(SetBaseline{0});  // A again: the two change places
  CHECK(s.content().baseline == std::size_t{0});
  s.apply(SelectSchedule{0});  // showing B does too
  CHECK(s.content().shown == std::size_t{0});
  CHECK(s.content().baseline == std::size_t{1});
  s.apply(SetBaseline{});
  CHECK_FALSE(s.content().baseline);
  s.apply(SetBaseline{99});
  CHECK_FALSE(s.content().baseline);
}

TEST_CASE("a lone schedule cannot be compared with itself", "[app]") {
  Session s{Environment{}};
  s.apply(OpenSchedule{ping_pong()});
  s.apply(SetBaseline{0});
  CHECK_FALSE(s.content().baseline);
  CHECK(s.content().shown == std::size_t{0});
  s.apply(SwapBaseline{});
  s.apply(FirstDivergence{});
  CHECK(s.selection().empty());
}

TEST_CASE("the first divergence is selected, pointed at and brought into view", "[app]") {
  Two two;
  Session& s = two.session;
  s.apply(SetBaseline{0});
  s.apply(FirstDivergence{});
  const Problem& p = *s.content().problem;
  CHECK(s.selection().contains(p.find_op("rescale0")));
  CHECK(s.selection().contains(p.find_op("sum0")));
  CHECK(s.selection().primary() == s.view().highlight.ops.front());
  CHECK(s.view().highlight.why.find("first divergence: consumer A: after cvt0") == 0);
  CHECK(s.view().zoom_to_selection);
  s.apply(SwapBaseline{});
  CHECK(s.view().highlight.why.empty());
}

TEST_CASE("a schedule file that breaks a rule points at its first violation", "[app]") {
  Session s{Environment{}};
  s.apply(OpenSchedule{ping_pong()});
  Schedule broken = s.content().entry()->schedule;
  const OpId pv = s.content().problem->find_op("PV0");
  broken.ops[pv.index()].start = 2000;  // long before its operands
  s.apply(AdoptSchedule{broken, "broken", false});
  CHECK_FALSE(s.content().entry()->verdict.valid());
  s.apply(FirstViolation{});
  CHECK_FALSE(s.selection().empty());
  CHECK(s.view().highlight.ops == s.content().entry()->verdict.violations.front().ops);
  s.apply(SelectSchedule{0});
  s.apply(ClearSelection{});
  s.apply(FirstViolation{});  // nothing to point at
  CHECK(s.selection().empty());
}

TEST_CASE("the model of a comparison says what differs, aligned as asked", "[app]") {
  Two two;
  Session& s = two.session;
  s.apply(SetBaseline{0});
  const Problem& p = *s.content().problem;
  CompareModel model = two.model();
  CHECK(model.difference.shift == 0);
  CHECK(model.overlay_a.differing == std::vector<OpId>{p.find_op("sum0"), p.find_op("rescale0")});
  CHECK(model.axis.empty());
  CHECK(model.relation == "different programs");
  CHECK(model.title_b.find("FA3-like ping-pong · II 2 176") == 0);
  CHECK(model.others.size() == model.chart_b.bars.size());
  CHECK(std::count_if(model.others.begin(), model.others.end(), [](const OtherBar& bar) { return bar.differs; }) == 2);
  CHECK(std::none_of(model.others.begin(), model.others.end(), [](const OtherBar& bar) { return bar.elsewhere; }));

  const GanttModel chart = build_gantt(p, s.content().entry()->schedule);
  CHECK(filtered(model, chart, {true, {}}).size() == 2);
  CHECK(filtered(model, chart, {false, {}}).size() == p.ops.size());
  CHECK(filtered(model, chart, {true, CycleRange{1000, 1100}}).empty());
  CHECK(filtered(model, chart, {true, CycleRange{650, 716}}).size() == 2);
  std::vector<OpDifferenceRow> rows = filtered(model, chart, {false, {}});
  const std::vector<Column<OpDifferenceRow>> columns = op_difference_columns(p);
  sort_by(rows, std::span(columns), {"delta", true});
  CHECK(rows.front().op == p.find_op("rescale0"));
  const std::string tsv = compare_tsv(p, model, rows);
  CHECK(tsv.find("rescale0\t-70\t70 earlier\t2896\t720\t1\tconsumer A\t2826") != std::string::npos);
  CHECK(tsv.find("II\t2176\t2176\t") != std::string::npos);

  s.apply(SetAlignment{{Alignment::At::Op, p.find_op("sum0")}});
  model = two.model();
  CHECK(model.difference.shift == -64);
  CHECK(model.axis == "aligned at sum0: B shown 64 cycles earlier");
  const auto bar =
      std::find_if(model.chart_b.bars.begin(), model.chart_b.bars.end(), [&](const GanttBar& b) { return b.op == p.find_op("sum0"); });
  CHECK(bar->begin == 2826 - 2176);
  s.apply(SetAlignment{{Alignment::At::Op, OpId(99)}});
  CHECK(s.view().alignment.op == p.find_op("sum0"));
}

TEST_CASE("two windows of different length say how their axis is read", "[app]") {
  Two two;
  Session& s = two.session;
  Schedule longer = s.content().entry()->schedule;
  longer.ii = 2300;
  s.apply(AdoptSchedule{longer, "longer", true});
  CHECK(s.content().baseline == std::size_t{2});
  CHECK(two.model().axis == "one window of each: A ends at 2 176, B at 2 300");
  s.apply(SetMode{GanttMode::Unrolled});
  CHECK(two.model().axis == "one clock for both: B falls back 124 cycles every iteration");
}

TEST_CASE("a comparison as a command names files, or the project, and nothing that it would not find", "[app]") {
  Two two;
  Session& s = two.session;
  s.apply(SetBaseline{0});
  // One of the two is in no file, and no solver would come to just that one.
  CHECK(compare_command(s).empty());
  CHECK(why_no_line(s).find("save the project") == 0);
  const test::ScratchFolder folder;
  const std::string project = folder.path("two.heddle.json");
  s.apply(SaveProject{project});
  CHECK(compare_command(s) == "heddle diff " + project);
  s.apply(SetAlignment{{Alignment::At::Most, {}}});
  CHECK(compare_command(s) == "heddle diff " + project + " --align most");
  // The file has other ones as A and B.
  s.apply(SwapBaseline{});
  CHECK(compare_command(s).empty());
  s.apply(OpenSchedule{ping_pong()});
  s.apply(SetBaseline{0});
  REQUIRE(s.content().entry()->file == ping_pong());
  CHECK(compare_command(s).find("heddle diff attention_forward_hopper h100 ") == 0);
  CHECK(compare_command(s).find("attention_ping_pong.json " + ping_pong()) != std::string::npos);
}
