// A calm window: whatever tab is shown, in every theme and at three sizes, no two labels overlap, none is cut beside empty space, and no
// half row is seen.
#include <catch2/catch.hpp>
#include <set>

#include "app/session/proposal_commands.h"
#include "app/window/parts/tabs.h"
#include "core/chart/gantt_model.h"
#include "tests/ui/labels.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

namespace {

/// With the fonts that people see.
std::unique_ptr<HeadlessPlatform> real_fonts() { return std::make_unique<HeadlessPlatform>(1600, 900, false); }

void look_everywhere(Person& p) {
  std::set<std::string> seen;
  for (const auto& [width, height] : {std::pair{1600, 900}, {1024, 700}, {2200, 1300}})
    for (const ThemeName theme : {ThemeName::Dark, ThemeName::Light, ThemeName::HighContrast}) {
      p.platform().resize(width, height);
      p.session().apply(use_theme(theme, false));
      for (const Tab& tab : tabs()) {
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
  look_everywhere(p);
}

TEST_CASE("the same with answers in the tabs, an op selected and a change in force", "[ui][calm]") {
  Person p(real_fonts());
  p.open("attention_forward_hopper");
  const Problem& problem = *p.content().problem;
  AskOptions of_op;
  of_op.op = problem.find_op("exp0");
  of_op.from = 400;
  of_op.to = 1200;
  p.session().apply(SelectOp{of_op.op});
  for (const Topic topic : {Topic::Explain, Topic::Latency, Topic::Sensitivity, Topic::Pareto, Topic::Alternatives, Topic::Compare}) {
    p.session().apply(Ask{topic, topic == Topic::Latency ? of_op : AskOptions{}});
    p.settle();
  }
  p.session().apply(WriteKernel{});
  p.settle();
  p.session().apply(SetMode{GanttMode::Pipeline});
  look_everywhere(p);
}

TEST_CASE("the text beside the chart is calm too", "[ui][calm]") {
  Person p(real_fonts());
  p.open("gemm_hopper");
  p.session().apply(show_editor(SourceOf::Kernel));
  std::string faulty = p.session().text_of(SourceOf::Kernel)->text;
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
#endif
