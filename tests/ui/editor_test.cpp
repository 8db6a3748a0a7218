// A kernel of one's own in the window: made from a pattern, typed, undone, saved, all with mouse and keys.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "app/session/kernel_state.h"
#include "app/session/texts.h"
#include "app/window/frame/editor_state.h"
#include "app/window/kit/focus.h"
#include "app/window/tabs/graph/graph_state.h"
#include "core/base/atomic_file.h"
#include "core/library/library.h"
#include "tests/support/wait.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

namespace {

EditorState& editor(Person& p) { return p.window().ui().of<EditorState>(); }

/// The keyboard is in the text, behind the first place where it has these words.
void put_caret(Person& p, const std::string& behind) {
  EditorState& s = editor(p);
  const std::size_t at = s.field.text.find(behind);
  REQUIRE(at != std::string::npos);
  s.field.jump = at + behind.size();
  p.frame(4);
  REQUIRE(s.field.active);
  REQUIRE(s.field.caret == at + behind.size());
}

const SourceText& text(Person& p) { return *p.session().texts().text_of(SourceOf::Kernel); }

}  // namespace

TEST_CASE("flow 11, a kernel of one's own: New, GEMM with bias and GELU, solved, generated, verified, saved", "[ui]") {
  test::FlowFolder folder;
  Person p;
  p.frame(3);
  p.click("welcome/new");
  p.frame(3);
  p.click("new/gemm/bias");
  p.click("new/gemm/activation");
  p.frame(2);
  p.click("new/gemm/activation/gelu");
  p.frame(2);
  p.click("new/name");
  p.type("mine");
  p.click("new/create");
  p.settle();
  REQUIRE(p.content().problem);
  CHECK(p.content().kernel->name == "mine");
  CHECK(p.content().kernel->reference == "C = gelu(A @ B + Bias)");
  CHECK(p.a().status == Status::Optimal);
  REQUIRE(p.has("editor/text"));
  CHECK(p.session().texts().text_unsaved(SourceOf::Kernel));

  p.key(Key::F6);
  p.settle();
  REQUIRE(p.session().kernel().text().answer());
  CHECK(p.session().kernel().text().answer()->emission);
  p.key(Key::F6, {false, true});
  p.settle();
  REQUIRE(p.session().kernel().checked().answer());

  p.click("editor/save");
  p.frame(3);
  REQUIRE(p.has("write/path"));
  const std::string file = folder.file("mine.json");
  p.session().apply(SaveSource{SourceOf::Kernel, file});
  p.frame(2);
  CHECK(load_kernel(file).value().name == "mine");
  CHECK_FALSE(p.session().texts().text_unsaved(SourceOf::Kernel));
  CHECK(p.gestures < 15);
}

TEST_CASE("what is wrong with an option is said beside it, and nothing is made", "[ui]") {
  Person p;
  p.frame(3);
  p.key(Key::N, {true});
  p.frame(3);
  p.click("new/gemm/n");
  p.type("7");
  p.frame(2);
  p.click("new/create");
  p.frame(3);
  CHECK(p.has("new/create"));
  CHECK_FALSE(p.content().kernel);
  p.click("new/cancel");
  p.frame(2);
  CHECK_FALSE(p.has("new/create"));
}

TEST_CASE("typing in the text shows faults at once, mended ones go, and undo is one step of the document", "[ui]") {
  Person p;
  p.open("gemm_hopper");
  p.key(Key::K, {true});
  p.frame(3);
  const std::string before = text(p).text;
  put_caret(p, "\"max_groups\": 3");
  p.type("x");
  p.frame(2);
  CHECK(text(p).faults.size() == 1);
  CHECK(p.has("editor/fault/0"));
  CHECK(p.content().entry());  // what it said before stays
  p.key(Key::Backspace);
  p.frame(2);
  CHECK(text(p).faults.empty());
  CHECK(text(p).text == before);
  put_caret(p, "\"value\": 256");
  p.key(Key::Backspace);
  p.key(Key::Backspace);
  p.key(Key::Backspace);
  p.type("128");
  p.frame(2);
  CHECK(p.content().kernel->find_param("TILE_N")->value == 128);
  p.key(Key::Escape);  // leaves the field and takes nothing back
  p.frame(2);
  CHECK(p.content().kernel->find_param("TILE_N")->value == 128);
  put_caret(p, "\"value\": 128");
  while (text(p).text != before) {
    REQUIRE(p.session().next_undo());
    p.key(Key::Z, {true});
    p.frame(2);
  }
  CHECK(editor(p).field.text == before);
  CHECK(p.content().kernel->find_param("TILE_N")->value == 256);
}

TEST_CASE("words are offered while typing, and Tab takes one", "[ui]") {
  Person p;
  p.open("gemm_hopper");
  p.key(Key::K, {true});
  p.frame(3);
  put_caret(p, "\"name\": \"MMA0\", \"kind\": \"mma");
  for (int i = 0; i < 3; ++i) p.key(Key::Backspace);
  p.type("tma_");
  p.frame(2);
  REQUIRE(p.has("editor/offers"));
  p.key(Key::Down);
  p.frame(1);
  p.key(Key::Tab);
  p.frame(2);
  CHECK(editor(p).field.text.find("\"name\": \"MMA0\", \"kind\": \"tma_store\"") != std::string::npos);
  CHECK_FALSE(p.has("editor/offers"));
}

TEST_CASE("the graph edits the same document: an op added, its kind, its operand, removed, and one undo for each", "[ui]") {
  Person p("attention_forward_hopper", test::least_ii_solver());
  p.session().apply(show_tab(BottomTab::Graph));
  p.session().apply(SelectOp{p.content().problem->find_op("exp0")});
  p.frame(3);
  p.click("graph/edit");
  p.frame(3);
  const std::string before = text(p).text;
  const std::size_t ops = p.content().problem->ops.size();
  p.click("graph/edit/insert");
  p.frame(3);
  p.click("graph/edit/insert/elementwise");
  p.settle();
  REQUIRE(text(p).faults.empty());
  CHECK(p.content().problem->ops.size() == ops + 1);
  CHECK(text(p).text.find("\"kind\": \"elementwise\"") != std::string::npos);
  p.session().apply(show_editor(SourceOf::Kernel));
  p.frame(3);
  CHECK(editor(p).field.text == text(p).text);
  p.click("graph/edit/remove");
  p.settle();
  CHECK(p.content().problem->ops.size() == ops);
  p.session().apply(Undo{});
  CHECK(p.content().problem->ops.size() == ops + 1);
  p.session().apply(Undo{});
  CHECK(text(p).text == before);
  p.frame(3);
  CHECK(editor(p).field.text == before);
}

TEST_CASE("the form beside the graph stays where it is when Graphviz is done", "[ui]") {
  Person p("attention_forward_hopper", test::least_ii_solver());
  GraphState& graph = p.window().ui().of<GraphState>();
  graph.edit = true;
  p.session().apply(show_tab(BottomTab::Graph));
  p.frame(1);
  REQUIRE_FALSE(graph.model);
  const float at_first = p.at("graph/edit/insert").y0;
  REQUIRE(test::wait_until([&] { return graph.model; }, [&] { p.frame(1); }));
  CHECK(p.at("graph/edit/insert").y0 == at_first);
}

TEST_CASE("in a long list a few letters find a word, and Enter takes it", "[ui]") {
  Person p("attention_forward_hopper", test::least_ii_solver());
  p.session().apply(show_tab(BottomTab::Graph));
  p.session().apply(SelectOp{p.content().problem->find_op("exp0")});
  p.window().ui().of<GraphState>().edit = true;
  p.frame(3);
  const std::size_t ops = p.content().problem->ops.size();
  p.click("graph/edit/insert");
  p.type("elmw");
  p.frame(2);
  CHECK(p.names("graph/edit/insert/") == std::vector<std::string>{"graph/edit/insert/elementwise", "graph/edit/insert/filter"});
  p.key(Key::Enter);
  p.settle();
  CHECK_FALSE(p.has("graph/edit/insert/filter"));
  CHECK(p.content().problem->ops.size() == ops + 1);
  CHECK(text(p).text.find("\"kind\": \"elementwise\"") != std::string::npos);
}

TEST_CASE("the text and the chart point at each other", "[ui]") {
  Person p;
  p.open("gemm_hopper");
  p.key(Key::K, {true});
  p.frame(3);
  put_caret(p, "\"name\": \"MMA1\"");
  p.frame(2);
  REQUIRE(p.session().selection().primary().valid());
  CHECK(p.content().problem->op(p.session().selection().primary()).name == "MMA1");
}
#endif
