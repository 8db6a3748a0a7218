// The Layout tab: cells, phases, two beside each other, alternatives, texts by themselves; and the way to it from the chart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/actions.h"
#include "app/window/parts/what_if_state.h"
#include "app/window/tabs/layout/layout_state.h"
#include "tests/support/wait.h"
#include "tests/support/window/labels.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

namespace {

constexpr const char* kKernel = "attention_backward_hopper";

struct Layouts : Person {
  explicit Layouts(const char* kernel = kKernel) : Person(kernel, test::least_ii_solver()) {
    session().apply(show_tab(BottomTab::Layout));
    wait();
  }
  explicit Layouts(std::unique_ptr<HeadlessPlatform> platform) : Person(std::move(platform), test::least_ii_solver()) {
    open(kKernel);
    session().apply(show_tab(BottomTab::Layout));
    wait();
  }
  LayoutTabState& state() { return window().ui().of<LayoutTabState>(); }
  void wait() {
    frame(3);
    wait_while([this] { return state().working(); });
    frame(3);
  }
  const LayoutView& a() {
    REQUIRE(state().a.view());
    return *state().a.view();
  }
  /// The middle of a cell.
  std::pair<float, float> cell(std::int64_t row, std::int64_t column, const char* grid = "layout/grid/a") {
    const probe::Rect place = at(grid);
    const LayoutGridView& view = state().grid;
    return {place.x0 + (static_cast<float>(column) + 0.5f - view.left) * view.cell_x,
            place.y0 + (static_cast<float>(row) + 0.5f - view.top) * view.cell_y};
  }
  void show_op(const std::string& op) {
    const OpId id = content().problem->find_op(op);
    REQUIRE(id.valid());
    session().apply(SelectOp{id});
    wait();
    REQUIRE(state().op == op);
  }
  Cycle a_ii() {
    REQUIRE(content().entry());
    return content().entry()->schedule.ii;
  }
  void solve_and_wait() {
    frame(2);
    settle();
    wait();
  }
  /// Presses "Use" of a row of the table.
  void use(const std::string& layout, const std::string& instruction) {
    const auto& all = a().alternatives;
    const auto row = std::find_if(all.begin(), all.end(), [&](const LayoutAlternative& one) {
      return one.layout == layout && choice_text(one.instruction) == instruction;
    });
    REQUIRE(row != all.end());
    const std::string name = "layout/use/" + std::to_string(row - all.begin());
    reveal_use(name);
    click(name);
    solve_and_wait();
    REQUIRE_FALSE(session().error());
  }
  /// Scrolls the table until the name is in view.
  void reveal_use(const std::string& name) {
    for (int i = 0; i < 40 && !has(name); ++i) {
      const std::vector<std::string> seen = names("layout/use/");
      REQUIRE_FALSE(seen.empty());
      wheel(seen.front(), -1);
      frame(2);
    }
    REQUIRE(has(name));
  }
  void show_text(const std::string& text, const std::string& access) {
    state().own = true;
    state().access = access;
    std::snprintf(state().text, sizeof state().text, "%s", text.c_str());
    wait();
  }
};

/// An op of the kernel that moves a tile between registers and shared memory.
std::string some_store(const Problem& problem) {
  for (const Op& op : problem.ops)
    if (const OpPlan* plan = problem.layouts ? problem.layouts->find(op.name) : nullptr)
      for (const OpAccess& access : plan->accesses)
        if (access.store && access.held && access.cost.known) return op.name;
  return {};
}

}  // namespace

TEST_CASE("the layout tab opens with a value of the kernel, its grid, banks and alternatives", "[ui]") {
  Layouts p;
  REQUIRE_FALSE(p.state().rows.empty());
  CHECK(p.has("layout/grid/a"));
  CHECK_FALSE(p.state().value.empty());
  p.show_op(some_store(*p.content().problem));
  REQUIRE(p.a().access);
  CHECK(p.a().alternatives.size() > 1);
  CHECK(p.a().bounds.size() == p.a().alternatives.size());
  CHECK((p.has("layout/banks") || p.has("layout/part/banks")));
}

TEST_CASE("the mouse over a cell says all of it, a click chooses its lane, then its register", "[ui]") {
  Layouts p;
  p.show_op(some_store(*p.content().problem));
  const auto [x, y] = p.cell(9, 5);
  p.move_to(x, y);
  p.frame(3);
  REQUIRE(p.state().cursor);
  CHECK(*p.state().cursor == LayoutCursor{9, 5});
  p.click_at(x, y);
  p.frame(2);
  REQUIRE(p.state().pick);
  const LayoutCell& cell = p.a().at(9, 5);
  CHECK(p.state().pick->lane == cell.lane);
  CHECK(p.state().pick->warp == cell.warp);
  // The banks show the phase in which the cell is moved.
  CHECK(p.state().step == step_of(p.a(), cell));
  p.click("layout/click/register");
  CHECK_FALSE(p.state().pick);
  p.click_at(x, y);
  REQUIRE(p.state().pick);
  CHECK(p.state().pick->whole_register);
  CHECK(p.state().pick->reg == cell.reg);
  p.frame(40);       // two clicks in a row would be a double click
  p.click_at(x, y);  // again: nothing is chosen
  CHECK_FALSE(p.state().pick);
}

TEST_CASE("the grid zooms at the mouse, pans with the right button, fits on Home, and keys move from cell to cell", "[ui]") {
  Layouts p;
  p.show_op(some_store(*p.content().problem));
  const float fitted = p.state().grid.cell_x;
  p.wheel("layout/grid/a", 6);
  CHECK(p.state().grid.cell_x > fitted);
  const float left = p.state().grid.left;
  p.Harness::drag("layout/grid/a", -60, 0, 1);
  CHECK(p.state().grid.left > left);
  p.move_to("layout/grid/a");
  const LayoutCursor before = *p.state().cursor;
  p.key(Key::Right);
  CHECK(*p.state().cursor == LayoutCursor{before.row, before.column + 1});
  p.key(Key::Down);
  CHECK(*p.state().cursor == LayoutCursor{before.row + 1, before.column + 1});
  const double chart = p.window().ui().chart.visible.begin;
  p.key(Key::Home);
  p.frame(2);
  CHECK(p.state().grid.cell_x == Approx(fitted).epsilon(0.05));
  CHECK(p.window().ui().chart.visible.begin == chart);  // the chart did not hear it
}

TEST_CASE("phases are stepped through by buttons and keys, around the ends", "[ui]") {
  Layouts p;
  p.show_text("(64,64):(64,1)", "ldmatrix.x4");
  REQUIRE(p.a().access);
  CHECK(p.a().cost.ways == 8);
  REQUIRE(p.has("layout/banks"));
  CHECK(p.has("layout/bank/31"));
  const std::int64_t steps = phase_steps(p.a());
  p.click("layout/phase/next");
  REQUIRE(p.state().step);
  const std::int64_t now = *p.state().step;
  p.move_to("layout/grid/a");
  p.key(Key::RightBracket);
  CHECK(*p.state().step == (now + 1) % steps);
  p.key(Key::LeftBracket);
  p.key(Key::LeftBracket);
  CHECK(*p.state().step == (now + steps - 1) % steps);
  p.click("layout/phase/worst");
  CHECK_FALSE(p.state().step);
  CHECK(phase_at(p.a(), worst_step(p.a())).ways == 8);
}

TEST_CASE("cells are coloured by warp, lane, register, bank or phase, by buttons and by a key", "[ui]") {
  Layouts p;
  for (const char* word : {"warp", "register", "bank", "phase", "lane"}) {
    p.click(std::string("layout/colour/") + word);
    CHECK(to_string(p.state().colour) == std::string(word));
    p.frame(2);
  }
  p.key(Key::Y, {.shift = true});
  CHECK(p.state().colour == LayoutColour::Register);
}

TEST_CASE("an alternative stands beside what is taken, cell by cell", "[ui]") {
  Layouts p;
  p.show_op(some_store(*p.content().problem));
  if (p.has("layout/part/alternatives")) p.click("layout/part/alternatives");
  p.frame(3);
  // One that is not taken and that can be seen.
  std::string row;
  for (const std::string& name : p.names("layout/alternative/"))
    if (!p.a().alternatives[static_cast<std::size_t>(std::stoi(name.substr(std::string("layout/alternative/").size())))].current &&
        row.empty())
      row = name;
  REQUIRE_FALSE(row.empty());
  p.click(row);
  p.wait();
  CHECK(p.state().beside == LayoutBeside::Alternative);
  REQUIRE(p.has("layout/grid/b"));
  REQUIRE(p.state().b.view());
  CHECK(p.state().b.view()->rows == p.a().rows);
  CHECK(p.state().b.view()->columns == p.a().columns);
  const auto [x, y] = p.cell(3, 3, "layout/grid/b");
  p.move_to(x, y);
  p.frame(2);
  CHECK(*p.state().cursor == LayoutCursor{3, 3});
  p.click("layout/alone");
  p.frame(2);
  CHECK_FALSE(p.has("layout/grid/b"));
}

TEST_CASE("an alternative is used by mouse: it is solved again, II is another, and all of it can be undone", "[ui]") {
  Layouts p;
  const Cycle before = p.a_ii();
  CHECK(before == 2688);
  for (const char* op : {"stage_dq0", "stage_dq1"}) {
    p.show_op(op);
    if (p.has("layout/part/alternatives")) p.click("layout/part/alternatives");
    p.use("panels 128", "st.shared.8");
    CHECK(p.content().choices.instructions.contains(op));
  }
  CHECK(p.a_ii() == 2944);
  CHECK(p.content().entry()->status == Status::Optimal);
  CHECK(p.content().entry()->schedule.layouts == p.content().choices);
  CHECK(p.content().choices.layouts.empty());  // panels of 128 bytes are what there is by default
  CHECK(p.has("layout/chosen/stage_dq0"));
  CHECK(p.has("layout/chosen/stage_dq1"));
  CHECK(p.a().cost.ways == 2);

  // One of the two goes back with its piece above the grid, the other with the row that is taken.
  p.window().ui().of<WhatIfState>().solve_on_release = false;
  p.click("layout/chosen/stage_dq0");
  p.wait();
  CHECK(p.content().bounds->min_ii() == 2816);
  p.click("layout/default");
  p.wait();
  CHECK(p.content().choices.empty());
  CHECK(p.content().bounds->min_ii() == 2688);
  CHECK_FALSE(p.has("layout/chosen/stage_dq1"));
  const auto& rows = p.content().schedules;
  CHECK(std::any_of(rows.begin(), rows.end(),
                    [](const EntryPtr& row) { return row->schedule.ii == 2688 && row->status == Status::Optimal; }));

  p.session().apply(Undo{});
  p.session().apply(Undo{});
  p.wait();
  CHECK(p.a_ii() == 2944);
  CHECK(p.content().entry()->status == Status::Optimal);
  p.click("layout/all_default");
  p.wait();
  CHECK(p.content().choices.empty());
}

TEST_CASE("an alternative that is refused cannot be used", "[ui]") {
  Layouts p;
  p.platform().resize(1600, 1300);
  p.show_op("stage_dq0");
  p.window().ui().maximized = true;
  p.frame(4);
  const auto& all = p.a().alternatives;
  const auto first = std::find_if(all.begin(), all.end(), [](const LayoutAlternative& a) { return !a.refused.empty(); });
  REQUIRE(first != all.end());
  const std::string name = "layout/use/" + std::to_string(first - all.begin());
  p.reveal_use(name);
  const auto problem = p.content().problem;
  p.click(name);
  p.frame(3);
  CHECK(p.content().problem == problem);
  CHECK(p.content().choices.empty());
}

TEST_CASE("the palette uses the alternative that stands beside, and says so where none does", "[ui]") {
  Layouts p;
  p.window().ui().of<WhatIfState>().solve_on_release = false;
  p.show_op("stage_dq0");
  perform(*find_action("layout_use"), p.session(), p.window().ui());
  p.frame(2);
  CHECK(p.session().view().notice.find("click a row") != std::string::npos);
  p.session().apply(dismiss_notice());
  p.state().beside = LayoutBeside::Alternative;
  p.state().alternative = "panels 32";
  p.state().alternative_instruction = "st.shared.8";
  p.wait();
  perform(*find_action("layout_use"), p.session(), p.window().ui());
  p.wait();
  CHECK(p.content().choices.layouts.at("dqs0") == "panels 32");
  // What cannot be is said in a sentence, and what was chosen stays.
  LayoutChoices wrong = p.content().choices;
  wrong.layouts["dqs1"] = "(64,64):(1,64)";
  p.session().apply(ChooseLayouts{wrong, {}, true});
  p.frame(3);
  REQUIRE(p.session().error());
  CHECK(p.content().choices.layouts.size() == 1);
  p.session().apply(DismissError{});
  perform(*find_action("layout_default"), p.session(), p.window().ui());
  p.wait();
  CHECK(p.content().choices.empty());
}

TEST_CASE("A and B of a comparison stand beside each other", "[ui]") {
  Layouts p("attention_forward_hopper");
  p.session().apply(AdoptSchedule{p.content().entry()->schedule, "another", false});
  p.session().apply(SetBaseline{0});
  p.wait();
  REQUIRE(p.has("layout/beside_b"));
  p.click("layout/beside_b");
  p.wait();
  CHECK(p.has("layout/grid/b"));
  REQUIRE(p.state().b.view());
  CHECK(p.state().b.title.starts_with("B: "));
  p.session().apply(SetBaseline{});
  p.wait();
  CHECK(p.state().beside == LayoutBeside::Nothing);
}

TEST_CASE("a layout is typed by itself, with type, shape and access, and its faults stand below the field", "[ui]") {
  Layouts p;
  p.click("layout/own");
  REQUIRE(p.has("layout/text"));
  p.click("layout/text");
  p.type("Sw<3,3,3> o (64,64):(64,1)");
  p.wait();
  CHECK(p.a().rows == 64);
  CHECK_FALSE(p.has("layout/fault/0"));
  p.click("layout/access");
  p.click("layout/access/ldmatrix.x4");
  p.wait();
  REQUIRE(p.a().access);
  CHECK(p.a().cost.ways == 1);
  p.click("layout/type");
  p.click("layout/type/f32");
  p.wait();
  CHECK(p.state().dtype == DType::F32);
  p.click("layout/text");
  p.key(Key::A, {.ctrl = true});
  p.type("Sw<3,3,3> o (64,");
  p.wait();
  CHECK(p.has("layout/fault/0"));
  CHECK_FALSE(p.state().a.view());
  p.click("layout/shape");
  p.type("a lot");
  p.wait();
  CHECK(p.has("layout/fault/1"));
}

TEST_CASE("hostile texts are faults, and the window goes on", "[ui]") {
  Layouts p;
  for (const std::string& text : {std::string("Sw<30,30,30> o (64,64):(64,1)"), std::string("(99999999999999999999):(1)"),
                                  std::string(4000, '('), std::string("{register = [[1, 1], [1, 1]]}"), std::string("\xff\xfe"),
                                  std::string("(64,64):(0,0)"), std::string("panels"), std::string("(4194304,4194304):(1,1)")}) {
    p.show_text(text, "");
    CHECK(p.state().a.answer);
    CHECK_FALSE(p.state().a.view());
    CHECK(p.has("layout/fault/0"));
  }
}

TEST_CASE("the layout of the selected op is a key, a menu entry and a link away, and leads to its lines of CUDA", "[ui]") {
  Layouts p;
  const std::string op = some_store(*p.content().problem);
  p.session().apply(show_tab(BottomTab::Log));
  p.session().apply(SelectOp{p.content().problem->find_op(op)});
  p.frame(3);
  REQUIRE(p.has("inspector/layout"));
  p.click("inspector/layout");
  p.wait();
  CHECK(p.session().view().tab == BottomTab::Layout);
  CHECK(p.state().op == op);
  p.click("layout/cuda");
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Cuda);
  CHECK(p.session().selection().primary() == p.content().problem->find_op(op));
  if (p.has("cuda/layout")) {
    p.click("cuda/layout");
    p.frame(2);
    CHECK(p.session().view().tab == BottomTab::Layout);
  }
  p.session().apply(show_tab(BottomTab::Log));
  p.frame(2);
  p.key(Key::Y);
  p.frame(2);
  CHECK(p.session().view().tab == BottomTab::Layout);
}

TEST_CASE("an op whose lanes meet carries x2 in the chart, and a click on it leads to its layout", "[ui]") {
  const test::FlowFolder folder;
  Layouts p;
  const std::string op = "stage_dq0";
  REQUIRE(p.content().problem->find_op(op).valid());
  p.session().apply(show_tab(BottomTab::Log));
  // What a schedule file would choose: the plain store, without the exchange that keeps its lanes apart.
  std::string text = p.content().entry() ? folder.file("s.json") : std::string();
  p.session().apply(SaveSchedule{text});
  std::ostringstream read;
  read << std::ifstream(text).rdbuf();
  std::string file = read.str();
  file.insert(file.find('{') + 1, "\n\"instructions\": {\"stage_dq0\": \"st.shared.8\", \"stage_dq1\": \"st.shared.8\"},");
  std::ofstream(text) << file;
  p.session().apply(OpenSchedule{text});
  p.settle();
  REQUIRE_FALSE(p.session().error());
  REQUIRE(p.content().problem->layouts);
  const OpPlan* plan = p.content().problem->layouts->find(op);
  REQUIRE(plan);
  REQUIRE(plan->accesses.front().cost.ways == 2);
  const std::vector<std::string> marks = p.names("gantt/ways/");
  REQUIRE_FALSE(marks.empty());
  CHECK(marks.front().find("stage_dq") != std::string::npos);
  p.click(marks.front());
  p.wait();
  CHECK(p.session().view().tab == BottomTab::Layout);
  CHECK(marks.front().find(p.state().op) != std::string::npos);
  CHECK(p.a().cost.ways == 2);
}

TEST_CASE("a demand of a layout is typed like any other, and what it says is kept with the project", "[ui]") {
  const test::FlowFolder folder;
  Layouts p;
  p.session().apply(show_tab(BottomTab::Constraints));
  p.frame(2);
  REQUIRE(p.has("constraint_table/add"));
  p.click("constraint_table/add");
  p.type("layout dqs0 panels 33");
  p.key(Key::Enter);
  p.frame(2);
  CHECK(p.content().choices.empty());  // refused, in a sentence
  p.session().apply(DismissError{});
  p.click("constraint_table/add");
  p.type("layout dqs0 panels 32");
  p.key(Key::Enter);
  p.frame(3);
  p.session().apply(CancelSolve{});  // what it leads to is not the matter here
  CHECK(p.content().choices.layouts.at("dqs0") == "panels 32");
  p.session().apply(SaveProject{folder.file("demand.heddle.json")});
  Session other{Environment{}};
  other.apply(OpenProject{folder.file("demand.heddle.json")});
  CHECK(other.content().choices == p.content().choices);
}

TEST_CASE("B beside A shows B's own layouts, also where B has all by default and other choices are in force", "[ui]") {
  const test::FlowFolder folder;
  Layouts p;
  const std::string file = folder.file("default.json");
  p.session().apply(SaveSchedule{file});
  LayoutChoices narrow;
  narrow.layouts = {{"dqs0", "panels 32"}};
  p.session().apply(ChooseLayouts{narrow, {}, false});
  p.session().apply(OpenSchedule{file, true});
  p.settle();
  REQUIRE(p.content().baseline_entry());
  REQUIRE(p.content().baseline_entry()->schedule.layouts.empty());
  p.show_op("stage_dq0");
  p.click("layout/beside_b");
  p.wait();
  CHECK(p.a().memory_text == "panels 32");
  REQUIRE(p.state().b.view());
  CHECK(p.state().b.view()->memory_text == "panels 128");
}

TEST_CASE("a layout is saved as picture, table and JSON", "[ui]") {
  const test::FlowFolder folder;
  Layouts p;
  p.show_op(some_store(*p.content().problem));
  for (const auto& [name, part] : {std::pair{"l.svg", "<svg"}, {"l.csv", "row,column,warp"}, {"l.json", "\"rows\""}}) {
    p.click("layout/save");
    p.frame(2);
    REQUIRE(p.has("write/path"));
    p.key(Key::A, {.ctrl = true});
    p.type(folder.file(name));
    p.click("write/go");
    p.frame(3);
    std::ostringstream text;
    text << std::ifstream(folder.file(name)).rdbuf();
    CHECK(text.str().find(part) != std::string::npos);
  }
}

TEST_CASE("the layout tab is calm in every theme, at every scale and in small windows", "[ui][calm]") {
  Layouts p(std::make_unique<HeadlessPlatform>(1600, 900, false));
  p.show_op(some_store(*p.content().problem));
  const auto look = [&](const char* what) {
    for (const auto& [width, height] : {std::pair{1600, 900}, {1280, 720}, {1024, 700}, {2200, 1300}})
      for (const ThemeName theme : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast})
        for (const int scale : {100, 150, 200})
          for (const bool whole : {false, true}) {
            // Colours move no label: one size is enough for the other themes. At larger scales the rest of the window has tests of its own.
            if (theme != ThemeName::Dark && (width != 1280 || scale != 100)) continue;
            if (!whole && scale > 100) continue;
            p.platform().resize(width, height);
            p.session().apply(use_theme(theme, false));
            p.session().apply(use_scale(scale, false));
            p.window().ui().maximized = whole;
            p.frame(4);
            for (const std::string& fault : test::label_faults()) {
              INFO(what << " at " << width << " x " << height << ", " << to_string(theme) << ", " << scale << " %");
              FAIL_CHECK(fault);
            }
          }
  };
  look("an op");
  p.state().part = LayoutPart::Alternatives;
  look("alternatives");
  p.show_text("Sw<3,3,3> o (64,64):(64,1)", "ldmatrix.x4");
  look("a text");
  p.show_text("Sw<3,3,3> o (64,64", "ldmatrix.x4");
  look("a text with a fault");
}
#endif
