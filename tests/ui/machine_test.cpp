// The Machine tab: a number edited in its table is the machine's text edited, and is one step of undo.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "app/session/texts.h"
#include "app/session/view_state.h"
#include "app/window/kit/actions.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

namespace {

void type_value(Person& p, const std::string& name, const std::string& value, Key end = Key::Enter) {
  p.click(name);
  p.frame(3);
  p.key(Key::A, {.ctrl = true});
  p.type(value);
  p.key(end);
  p.frame(4);
}

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a number typed into the machine's table is its text edited, and one undo takes it back", "[ui]") {
  Person p("gemm_hopper");
  p.session().apply(show_tab(BottomTab::Machine));
  p.frame(4);
  const std::string before = p.session().texts().text_of(SourceOf::Machine)->text;
  const Cycle ii = p.a().schedule.ii;
  p.click("machine/filter");
  p.type("TC capacity");
  p.frame(4);
  REQUIRE(p.has("machine/value/TC capacity"));
  type_value(p, "machine/value/TC capacity", "2");
  CHECK(p.session().texts().text_of(SourceOf::Machine)->text != before);
  CHECK(p.content().machine->units[0].capacity == 2);
  CHECK(p.content().bounds->min_ii() < ii);  // solved when it has rested a moment; here the clock stands still
  CHECK(p.session().texts().text_unsaved(SourceOf::Machine));
  p.key(Key::Z, {.ctrl = true});
  p.frame(4);
  CHECK(p.session().texts().text_of(SourceOf::Machine)->text == before);
  CHECK(p.content().machine->units[0].capacity == 1);
}

TEST_CASE("Escape leaves a number of the machine as it was, and nonsense is a fault that is said", "[ui]") {
  Person p("gemm_hopper");
  p.session().apply(show_tab(BottomTab::Machine));
  p.frame(4);
  const std::string before = p.session().texts().text_of(SourceOf::Machine)->text;
  type_value(p, "machine/value/machine sm_count", "7", Key::Escape);
  CHECK(p.session().texts().text_of(SourceOf::Machine)->text == before);
  type_value(p, "machine/value/machine sm_count", "many");
  CHECK_FALSE(p.session().texts().text_of(SourceOf::Machine)->faults.empty());
  CHECK(p.content().machine->sm_count == 132);  // the last text without faults is what is shown
  REQUIRE(p.has("machine/value/machine sm_count"));
  type_value(p, "machine/value/machine sm_count", "100");
  CHECK(p.session().texts().text_of(SourceOf::Machine)->faults.empty());
  CHECK(p.content().machine->sm_count == 100);
}

TEST_CASE("files made of a machine that was edited and not saved say so, and carry the whole kernel's numbers", "[ui]") {
  const test::FlowFolder folder;
  Person p("gemm_hopper");
  const auto written = [&](ExportKind kind, const char* name) {
    Export request;
    request.kind = kind;
    request.path = folder.file(name);
    p.session().apply(request);
    return content_of(request.path);
  };
  const std::string mark = "edited and not saved", whole = "whole kernel, predicted: ";
  for (const auto& [kind, name] : {std::pair{ExportKind::Svg, "a.svg"}, {ExportKind::Html, "a.html"}, {ExportKind::Trace, "a.json"}}) {
    const std::string text = written(kind, name);
    INFO(name);
    CHECK(text.find(mark) == std::string::npos);
    CHECK(text.find(whole) != std::string::npos);
    CHECK(text.find("1 CTA per SM") != std::string::npos);
  }
  CHECK(content_of(folder.file("a.html")).find("\"store0\"") != std::string::npos);  // of the epilogue
  std::string text = p.session().texts().text_of(SourceOf::Machine)->text;
  text.replace(text.find("\"sm_count\": 132"), 15, "\"sm_count\": 100");
  p.session().apply(EditSource{SourceOf::Machine, text});
  p.settle();
  for (const auto& [kind, name] :
       {std::pair{ExportKind::Svg, "b.svg"}, {ExportKind::Html, "b.html"}, {ExportKind::Trace, "b.json"}, {ExportKind::Text, "b.txt"}}) {
    INFO(name);
    CHECK(written(kind, name).find(mark) != std::string::npos);
  }
  p.session().apply(SaveSchedule{folder.file("s.json")});
  CHECK(content_of(folder.file("s.json")).find(mark) != std::string::npos);
}
#endif
