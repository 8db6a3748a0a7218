// A Triton kernel in the window: dropped, three schedules on one axis, shown one by one, its lines, its audit; logs and folders.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/commands.h"
#include "app/session/triton_origins.h"
#include "app/window/frame/triton_pane.h"
#include "app/window/parts/triton_return_state.h"
#include "app/window/tabs/triton/triton_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }
std::string gemm() { return text_of("gemm_descriptors.sm90.scheduled.ttgir"); }

std::string read_all(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

Environment without_comparison() {
  Environment environment;
  environment.triton.compare = nullptr;
  return environment;
}

}  // namespace

TEST_CASE("a dropped Triton text is read two ways, and its text stands beside the chart", "[ui]") {
  Harness h(test::solve_toy, 1600, 900, without_comparison());
  h.drop(gemm());
  h.frame(4);
  REQUIRE(h.session().content().triton());
  REQUIRE(h.has("dump/reading/free"));
  h.click("dump/reading/free");
  h.frame(3);
  CHECK(h.session().content().triton()->reading() == triton::TextReading::Free);
  h.click("dump/reading/triton");
  h.frame(3);
  h.session().apply(SelectOp{OpId(0)});
  h.frame(3);
  REQUIRE(h.has("inspector/ttgir"));
  REQUIRE(h.has("inspector/python"));
  h.click("inspector/ttgir");
  h.frame(4);
  REQUIRE(h.has("editor/text"));
  const std::string before = h.window().ui().of<TritonPaneState>().field.text;
  CHECK(before.find("tt.func") != std::string::npos);
  h.click("editor/text");
  h.type("nothing of this");
  h.key(Key::Tab);
  h.key(Key::Tab);
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.window().ui().of<TritonPaneState>().field.text == before);
  h.click("editor/close");
  h.frame(2);
  CHECK_FALSE(h.has("editor/text"));
  h.click("inspector/python");
  h.frame(2);
  CHECK(std::string(ImGui::GetClipboardText()).find("kernels.py:") == 0);
}

TEST_CASE("Triton's text is none to save: the palette offers it and does nothing", "[ui]") {
  Harness h(test::solve_toy, 1600, 900, without_comparison());
  h.drop(gemm());
  h.frame(4);
  for (const char* action : {"save_kernel_text", "save_kernel_as"}) {
    h.key(Key::P, {.ctrl = true, .shift = true});
    h.type("save kernel");
    REQUIRE(h.has(std::string("palette/action/") + action));
    h.click(std::string("palette/action/") + action);
    h.key(Key::Escape);
    h.frame(2);
    CHECK(h.window().ui().path_prompt.ask == Prompt::Nothing);
  }
}

TEST_CASE("a folder of several kernels asks which one", "[ui]") {
  const test::FlowFolder folder;
  for (const char* name : {"gemm_descriptors.sm90.final.ttgir", "attention_forward.sm90.final.ttgir"}) {
    fs::create_directories(folder.path / "cache" / name);
    fs::copy_file(text_of(name), folder.path / "cache" / name / "kernel.ttgir");
  }
  Harness h(test::solve_toy, 1600, 900, without_comparison());
  h.drop(folder.file("cache"));
  h.frame(4);
  REQUIRE(h.session().content().triton());
  const std::vector<std::string> offers = h.names("center/offer/");
  REQUIRE(offers.size() == 2);
  h.click(offers[0]);
  h.frame(4);
  CHECK(h.session().content().triton()->program().ok());
  CHECK(h.has("dump/offers"));
}

TEST_CASE("a text without a loop says so in the middle, and its audit is there", "[ui]") {
  Harness h(test::solve_toy, 1024, 640, without_comparison());
  h.drop(text_of("swiglu_elementwise.sm90.scheduled.ttgir"));
  h.frame(4);
  REQUIRE(h.session().content().triton());
  CHECK_FALSE(h.session().content().kernel);
  CHECK(h.has("audit/headline"));
  for (const BottomTab tab : {BottomTab::Triton, BottomTab::Explain, BottomTab::Graph, BottomTab::Cuda, BottomTab::Compare}) {
    h.session().apply(show_tab(tab));
    h.frame(3);
  }
  h.key(Key::K, {.ctrl = true});
  h.frame(3);
  CHECK(h.has("editor/text"));
}

TEST_CASE("the Triton tab says what it is for where no Triton kernel is open", "[ui]") {
  Harness h(test::solve_toy);
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  h.wait_for_solver();
  h.session().apply(show_tab(BottomTab::Triton));
  h.frame(3);
  CHECK(h.has("triton/open"));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("flow: a Triton text dropped, three charts on one axis, each of them chosen", "[ui]") {
  test::Person p;
  p.drop(gemm());
  p.frame(3);
  REQUIRE(p.content().entry());  // Triton's own, at once
  p.settle();
  REQUIRE(p.has("gantt/pair"));
  CHECK(p.has("gantt/title"));
  CHECK(p.has("gantt_b/title"));
  CHECK(p.has("gantt_c/title"));
  REQUIRE(p.has("triton/row/2"));
  // A click on the title of another one makes it the chosen one.
  p.click("gantt_c/title");
  p.frame(4);
  CHECK(p.a().name == row_name(triton::Whose::BestOfMachine));
  // And one on a bar selects its op there.
  const std::vector<std::string> bars = p.names("gantt/bar/");
  REQUIRE_FALSE(bars.empty());
  p.click(bars.front());
  p.frame(4);
  CHECK(p.a().name == row_name(triton::Whose::Tritons));
  CHECK_FALSE(p.session().selection().empty());
  p.click("triton/row/1");
  p.frame(4);
  CHECK(p.a().name == row_name(triton::Whose::BestOfTriton));
  // A pan in one chart is one of all.
  const auto seen = p.window().ui().chart.visible;
  p.Harness::drag("gantt_c/rows", 40, 0, 1);
  p.frame(3);
  CHECK(p.window().ui().chart.visible.begin != seen.begin);
  CHECK(p.window().ui().chart_b.visible == p.window().ui().chart.visible);
  p.click("compare/a");
  p.frame(4);
  CHECK_FALSE(p.has("gantt_c/title"));
  p.key(Key::G);
  p.key(Key::G);
  p.key(Key::G);
  p.frame(3);
  CHECK(p.session().view().chart_view == ChartView::Three);
  p.click("triton/copy");
  CHECK(p.clipboard().find("num_stages") != std::string::npos);
  p.click("triton/markdown");
  CHECK(p.clipboard().find('|') != std::string::npos);
  p.click("triton/command");
  CHECK(p.clipboard().find("heddle compare") == 0);
}

TEST_CASE("flow: the chosen schedule is given back to Triton, and the line for Python is copied", "[ui]") {
  const test::FlowFolder folder;
  test::Person p;
  p.drop(gemm());
  p.settle();
  REQUIRE(p.session().view().tab == BottomTab::Triton);
  p.click("triton/row/0");
  p.frame(4);
  p.session().apply(show_tab(BottomTab::Triton));
  const auto write = [&](const std::string& path) {
    p.window().ui().path_prompt.ask = Prompt::TtgirPath;
    p.window().ui().path_prompt.just_opened = true;
    p.frame(4);
    REQUIRE(p.has("write/path"));
    p.key(Key::A, {.ctrl = true});
    p.type(path);
    p.frame(2);
    p.click("write/go");
    p.frame(4);
  };
  // Triton's own changes nothing.
  write(folder.file("own.ttgir"));
  REQUIRE(fs::exists(folder.file("own.ttgir")));
  CHECK(read_all(folder.file("own.ttgir")) == read_all(gemm()));
  // It is not written over the text that it is of.
  const std::string copy = folder.file("copy.ttgir");
  fs::copy_file(gemm(), copy);
  p.drop(copy);
  p.settle();
  write(copy);
  CHECK(p.session().error());
  p.session().apply(DismissError{});
  p.frame(3);
  CHECK(read_all(copy) == read_all(gemm()));
  // A schedule of the free reading has no place there, and says so.
  p.session().apply(ShowSide{triton::Whose::BestOfMachine});
  p.frame(4);
  CHECK(way_back_of(p.session(), p.window().ui()).why_not.find("free reading") != std::string::npos);
  p.session().apply(ShowSide{triton::Whose::BestOfTriton});
  p.frame(4);
  const WayBack& way = way_back_of(p.session(), p.window().ui());
  CAPTURE(way.why_not, way.broken.size());
  REQUIRE(way.given);
  CHECK(way.changes.size() == way.given->changes.size());
  p.platform().resize(1600, 1400);
  p.frame(4);
  p.click("triton/use");
  CHECK(p.clipboard() == "import heddle_triton; heddle_triton.use(\"" + folder.path.string() + "\")");
  p.click("triton/finish");
  CHECK(p.clipboard().find("heddle_triton.py finish") != std::string::npos);
}

TEST_CASE("a text that breaks a rule of Triton's passes says which in the tab, and a click selects the op", "[ui]") {
  const test::FlowFolder folder;
  std::string edited = read_all(text_of("attention_forward.sm90.scheduled.ttgir"));
  const std::size_t at = edited.find("loop.stage = 2", edited.find("%p_17 = math.exp2"));
  edited.replace(at, 14, "loop.stage = 1");
  std::ofstream(folder.file("edited.ttgir")) << edited;
  Harness h(test::solve_toy, 1600, 1400, without_comparison());
  h.drop(folder.file("edited.ttgir"));
  h.frame(4);
  h.session().apply(show_tab(BottomTab::Triton));
  h.frame(4);
  const WayBack& way = way_back_of(h.session(), h.window().ui());
  if (way.why_not.empty()) {
    REQUIRE_FALSE(way.broken.empty());
    CHECK(way.broken.front().text.find("triton-order: ") == 0);
    CHECK(way.broken.front().line > 0);
    REQUIRE(h.has("triton/change/0"));
    h.click("triton/change/0");
    h.frame(2);
    CHECK_FALSE(h.session().selection().empty());
  }
  // The button is grey: no dialog comes.
  REQUIRE(h.has("triton/write"));
  h.click("triton/write");
  h.frame(3);
  CHECK_FALSE(h.has("write/path"));
}

TEST_CASE("a low window says whether the schedule can be given back, with its buttons, above the table", "[ui]") {
  test::Person p;
  p.drop(gemm());
  p.settle();
  p.platform().resize(1024, 640);
  p.session().apply(show_tab(BottomTab::Triton));
  p.frame(6);
  REQUIRE(p.has("triton/verdict"));
  REQUIRE(p.has("triton/write"));
  REQUIRE(p.has("constraints/add"));
  p.platform().resize(1600, 1400);
  p.frame(6);
  CHECK_FALSE(p.has("triton/verdict"));
  CHECK(p.has("triton/write"));
}

TEST_CASE("a low window shows the chosen one of the three alone, and says so", "[ui]") {
  test::Person p;
  p.drop(gemm());
  p.settle();
  p.platform().resize(1024, 420);
  p.frame(6);
  CHECK_FALSE(p.has("gantt_c/title"));
}
#endif
