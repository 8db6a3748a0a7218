// A calm window: whatever tab is shown, in every theme and at four sizes, no two labels overlap, none is cut beside empty space or until it
// could mean something else, and no half row is seen.
#include <catch2/catch.hpp>
#include <set>
#include <span>

#include "app/session/proposal_commands.h"
#include "app/session/texts.h"
#include "app/window/kit/probe.h"
#include "app/window/parts/tabs.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/schedules/compare_state.h"
#include "core/chart/gantt_model.h"
#include "core/problem/changes.h"
#include "tests/support/paths.h"
#include "tests/support/window/labels.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

namespace {

/// With the fonts that people see.
std::unique_ptr<HeadlessPlatform> real_fonts() { return std::make_unique<HeadlessPlatform>(1600, 900, false); }

enum class Themes { Each, OneSize };

/// Colours move no label: where a state is one of many, one size is enough for the other themes.
void look_everywhere(Person& p, Themes themes = Themes::OneSize, std::span<const Tab> where = tabs()) {
  std::set<std::string> seen;
  for (const auto& [width, height] : {std::pair{1600, 900}, {1024, 700}, {2200, 1300}, {900, 600}})
    for (const ThemeName theme : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast}) {
      if (themes == Themes::OneSize && theme != ThemeName::Dark && width != 1024) continue;
      p.platform().resize(width, height);
      p.session().apply(use_theme(theme, false));
      for (const Tab& tab : where) {
        p.session().apply(show_tab(tab.tab));
        p.frame(2);
        if (p.session().asking()) p.settle();  // some tabs ask by themselves
        p.frame(5);
        for (const std::string& fault : test::label_faults()) {
          INFO(tab.label << " at " << width << " x " << height << ", " << to_string(theme));
          if (seen.insert(fault).second) FAIL_CHECK(fault);
        }
      }
    }
}

}  // namespace

TEST_CASE("no two labels overlap and none is cut beside empty space, in every tab, theme and size", "[ui][calm]") {
  Person p(real_fonts());
  p.open("attention_forward_hopper");
  look_everywhere(p, Themes::Each);
}

TEST_CASE("the same with answers in the tabs, an op selected and a change in force", "[ui][calm]") {
  Person p(real_fonts());
  p.open("attention_forward_hopper");
  const Problem& problem = *p.content().problem;
  AskOptions of_op;
  of_op.latency.op = problem.find_op("exp0");
  of_op.latency.from = 400;
  of_op.latency.to = 1200;
  p.session().apply(SelectOp{of_op.latency.op});
  for (const Topic topic : {Topic::Explain, Topic::Latency, Topic::Sensitivity, Topic::Pareto, Topic::Alternatives, Topic::Compare,
                            Topic::Family, Topic::Paper}) {
    p.session().apply(Ask{topic, topic == Topic::Latency ? of_op : AskOptions{}});
    p.settle();
  }
  p.session().apply(WriteKernel{});
  p.settle();
  p.session().apply(toggle_barriers());
  p.session().apply(toggle_tensor());
  p.session().apply(toggle_queues());
  p.session().apply(SetMode{GanttMode::Pipeline});
  look_everywhere(p);
  for (const CompareView view : {CompareView::Race, CompareView::Paper}) {
    p.window().ui().of<CompareTabState>().view = view;
    look_everywhere(p, Themes::OneSize, std::span(find_tab("compare"), 1));
  }
}

TEST_CASE("the same with A over B, and a sheet and a notice over the chart", "[ui][calm]") {
  Person p(real_fonts());
  p.open("attention_forward_hopper");
  p.session().apply(OpenSchedule{test::repository_path("kernels/schedules/attention_forward_hopper/fa3.json"), true});
  p.settle();
  REQUIRE(p.content().baseline_entry());
  look_everywhere(p);
  p.session().apply(toggle_legend());
  p.session().apply(show_notice("something that has to be said"));
  look_everywhere(p);
}

TEST_CASE("the same with a Triton kernel, its three schedules and its text beside the chart", "[ui][calm]") {
  Person p(real_fonts());
  p.session().apply(OpenFile{test::repository_path("kernels/triton/attention_forward.sm90.ttgir")});
  p.settle();
  p.session().apply(SelectOp{OpId(2)});
  p.session().apply(SetBaseline{});
  Constraints rules = p.content().constraints;  // their sentences name all ops
  for (std::size_t i = rules.size(); i-- > 0;) p.session().apply(RemoveConstraint{i});
  look_everywhere(p);
  p.session().apply(show_tab(BottomTab::Triton));
  p.session().apply(show_editor(SourceOf::Kernel));
  p.platform().resize(1600, 900);
  p.frame(6);
  CHECK(test::label_faults() == std::vector<std::string>());
}

TEST_CASE("the text beside the chart is calm too", "[ui][calm]") {
  Person p(real_fonts());
  p.open("gemm_hopper");
  p.session().apply(show_editor(SourceOf::Kernel));
  std::string faulty = p.session().texts().text_of(SourceOf::Kernel)->text;
  faulty.replace(faulty.find("\"mma\""), 5, "\"mna\"");
  p.session().apply(EditSource{SourceOf::Kernel, faulty, true});
  std::set<std::string> seen;
  for (const auto& [width, height] : {std::pair{1600, 900}, {1024, 700}, {2200, 1300}}) {
    p.platform().resize(width, height);
    p.frame(6);
    for (const std::string& fault : test::label_faults())
      if (seen.insert(fault).second) FAIL_CHECK(width << " x " << height << ": " << fault);
  }
}

TEST_CASE("the header is calm with a long name, parameters, changed numbers and an edited machine", "[ui][calm]") {
  Person p(real_fonts());
  p.open("gemm_hopper");
  std::set<std::string> seen;
  const auto look = [&](const char* with) {
    for (const auto& [width, height] : {std::pair{1600, 900}, {1024, 700}, {2200, 1300}})
      for (const ThemeName theme : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast}) {
        p.platform().resize(width, height);
        p.session().apply(use_theme(theme, false));
        p.frame(6);
        INFO(with << ", " << width << " x " << height << ", " << to_string(theme));
        for (const std::string& fault : test::label_faults())
          if (seen.insert(fault).second) FAIL_CHECK(fault);
        // Nothing of it leaves the window, and the field at its right end is whole.
        for (const auto& [name, box] : probe::last_frame())
          if (name.starts_with("toolbar/") && box.x1 > static_cast<float>(width)) FAIL_CHECK(name << " leaves the window");
        const probe::Rect find = p.at("toolbar/find");
        for (const auto& [name, box] : probe::last_frame())
          if (name.starts_with("toolbar/") && name != "toolbar/find" && box.x1 > find.x0 + 1) FAIL_CHECK(name << " lies over the search");
      }
  };
  look("a short name");
  p.session().apply(SetParam{"TILE_N", 128});
  p.settle();
  look("a parameter");
  const auto change = parse_change("TC.capacity=2", *p.content().kernel, *p.content().machine);
  REQUIRE(change);
  p.session().apply(SetChange{*change, true});
  p.settle();
  look("a changed number");
  std::string machine = p.session().texts().text_of(SourceOf::Machine)->text;
  machine.replace(machine.find("\"sm_count\": 132"), 15, "\"sm_count\": 100");
  p.session().apply(EditSource{SourceOf::Machine, machine});
  p.settle();
  look("an edited machine");
  std::string kernel = p.session().texts().text_of(SourceOf::Kernel)->text;
  kernel.replace(kernel.find("\"gemm_hopper\""), 13, "\"gemm_with_bias_gelu_scales_and_a_residual_in_tiles_of_128_by_256_for_hopper\"");
  p.session().apply(EditSource{SourceOf::Kernel, kernel});
  p.settle();
  look("a long name");
  p.session().apply(StartSolve{});
  p.frame(3);
  look("while solving");
  p.settle();
}
#endif
