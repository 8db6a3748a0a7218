// The headless twin: the line that "Copy as command" gives is run by the real program, and its result is what is on the
// screen.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "app/command/arguments.h"
#include "app/picture/picture.h"
#include "app/session/command_line.h"
#include "app/session/kernel_state.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/view_state.h"
#include "core/answers/alternatives.h"
#include "core/answers/difference.h"
#include "core/answers/explanation.h"
#include "core/answers/pareto.h"
#include "core/base/json.h"
#include "core/chart/gantt_model.h"
#include "core/triton/audit/comparison.h"
#include "tests/support/paths.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;

#ifdef HEDDLE_HAS_SOLVER
namespace {

using test::Person;

constexpr const char* kAttention = "attention_forward_hopper";
/// What this window asks about: attention whose orders are fewer than those of its default, for every line searches them anew.
const std::string kWords = "attention_forward_hopper h100 --param KV=176";

struct Attention : Person {
  Attention() {
    session().apply(OpenPair{kAttention, "h100", false});
    session().apply(SetParam{"KV", 176});
    session().apply(StartSolve{});
    settle();
  }
};

struct Run {
  int code = -1;
  std::string out;
};

/// A shell runs it, in that folder, as if Heddle were installed.
Run run(const std::string& line, const test::FlowFolder& folder) {
  const std::string whole =
      "cd " + shell_word(folder.path.string()) + " && PATH=" + shell_word(HEDDLE_PROGRAMS) + ":\"$PATH\" " + line + " 2>errors.txt";
  INFO(whole);
  Run result;
  FILE* pipe = ::popen(whole.c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

/// How long it took and how hard it was is nobody's result.
Json timeless(const Json& value) {
  if (const auto* members = value.members()) {
    Json out = Json::object();
    for (const auto& [key, member] : *members)
      if (key != "seconds" && key != "queries" && key != "conflicts" && key != "name") out.set(key, timeless(member));
    return out;
  }
  if (const auto* items = value.items()) {
    Json out = Json::array();
    for (const Json& item : *items) out.push(timeless(item));
    return out;
  }
  return value;
}

Json answer_of(const std::string& line, const test::FlowFolder& folder, int code = 0) {
  INFO(line);
  const Run done = run(line + " --json", folder);
  INFO(read((folder.path / "errors.txt").string()));
  CHECK(done.code == code);
  const auto json = parse_json(done.out, line);
  REQUIRE(json);
  return *json;
}

/// What Ctrl+Shift+C gives.
std::string copied(Person& p) {
  p.key(Key::C, {.ctrl = true, .shift = true});
  return p.clipboard();
}

void check_same_solution(const Json& json, const ScheduleEntry& shown) {
  CHECK(*json.find("status")->string() == to_string(shown.status));
  CHECK(*json.find("ii")->integer() == shown.schedule.ii);
  CHECK(*json.find("lower_bound")->integer() == shown.lower_bound);
  CHECK(*json.find("stages")->integer() == stage_count(shown.schedule));
  for (const Json& objective : *json.find("objectives")->items())
    for (const ObjectiveValue& value : shown.objectives)
      if (value.name == *objective.find("name")->string()) CHECK(*objective.find("value")->integer() == value.value);
}

}  // namespace

TEST_CASE("the line of a robust schedule finds it again", "[ui]") {
  const test::FlowFolder folder;
  Person p(kAttention, test::least_ii_solver());
  p.session().apply(StartSolve{true});
  p.settle();
  REQUIRE(p.content().entry());
  const ScheduleEntry& shown = *p.content().entry();
  CHECK(shown.name.starts_with("robust #"));
  CHECK(shown.status == Status::Optimal);
  CHECK(shown.schedule.ii == 2048);
  CHECK(shown.schedule.provenance.note.find("stands wrong numbers best") != std::string::npos);
  const std::string line = copied(p);
  CHECK(line == "heddle solve attention_forward_hopper h100 --robust");
  check_same_solution(answer_of(line, folder), shown);
}

TEST_CASE("the line of a solve solves to the same optimum, and to the same schedule", "[ui]") {
  const test::FlowFolder folder;
  Attention p;
  const std::string line = copied(p);
  CHECK(line == "heddle solve " + kWords);
  const Json json = answer_of(line, folder);
  check_same_solution(json, *p.content().schedules.front());
  for (const Json& op : *json.find("ops")->items()) {
    const Problem& problem = *p.content().problem;
    const OpId id = problem.find_op(*op.find("id")->string());
    REQUIRE(id.valid());
    CHECK(*op.find("start")->integer() == p.content().schedules.front()->schedule.start(id));
  }
}

TEST_CASE("the line of a dropped bar makes the same demands", "[ui]") {
  const test::FlowFolder folder;
  Attention p;
  p.drag("gantt/bar/QK1@0", p.pixels(192));
  p.settle();
  REQUIRE(p.content().schedules.size() == 2);
  const std::string line = copied(p);
  CHECK(line.find("heddle solve " + kWords + " --demand ") == 0);
  CHECK(line.find("pin QK1 at") != std::string::npos);
  check_same_solution(answer_of(line, folder), p.a());
  // Undone is done too: the line is that of the question as it was.
  p.key(Key::Z, {.ctrl = true});
  CHECK(copied(p) == "heddle solve " + kWords);
}

TEST_CASE("the line of a changed latency changes it too", "[ui]") {
  const test::FlowFolder folder;
  Attention p;
  const auto change = parse_change("exp0.latency=+200", *p.content().kernel, *p.content().machine);
  REQUIRE(change);
  p.session().apply(SetChange{*change, true});
  p.settle();
  const std::string line = copied(p);
  INFO(line);
  CHECK(line.find(" --set exp0.latency=") != std::string::npos);
  check_same_solution(answer_of(line, folder), p.a());
}

TEST_CASE("the line of a question gets the same answer", "[ui]") {
  const test::FlowFolder folder;
  Person p("gemm_hopper");
  p.key(Key::E);
  p.settle();
  const auto* why = p.session().question(Topic::Explain).as<Explanation>();
  REQUIRE(why);
  std::string line = copied(p);
  CHECK(line == "heddle explain gemm_hopper h100");
  p.click("explain/command");
  CHECK(p.clipboard() == line);
  CHECK(timeless(answer_of(line, folder)).pretty() == timeless(explanation_json(*p.content().problem, *why)).pretty());

  AskOptions options;
  options.pareto.against = {Resource::Smem, Resource::Registers};
  p.session().apply(Ask{Topic::Pareto, options});
  p.settle();
  const auto* front = p.session().question(Topic::Pareto).as<Pareto>();
  REQUIRE(front);
  line = copied(p);
  CHECK(line == "heddle pareto gemm_hopper h100 --against smem --against registers");
  // Schedules may be others as good; the points may not.
  const Json told = answer_of(line, folder), shown = pareto_json(*p.content().problem, p.content().constraints, *front);
  const auto points = [](const Json& json) {
    std::string text;
    for (const Json& point : *json.find("points")->items())
      text += point.find("ii")->pretty() + point.find("values")->pretty() + point.find("proved")->pretty();
    return text;
  };
  CHECK(points(told) == points(shown));
  CHECK_FALSE(points(told).empty());

  options = {};
  options.alternatives.count = 3;
  options.alternatives.aspect = Aspect::Order;
  p.session().apply(Ask{Topic::Alternatives, options});
  p.settle();
  const auto* others = p.session().question(Topic::Alternatives).as<Alternatives>();
  REQUIRE(others);
  line = copied(p);
  CHECK(line == "heddle alternatives gemm_hopper h100 --count 3 --differ order");
  CHECK(timeless(answer_of(line, folder)).pretty() == timeless(alternatives_json(*p.content().problem, *others)).pretty());
}

TEST_CASE("the line of a comparison finds the same difference, either way round", "[ui]") {
  const test::FlowFolder folder;
  Attention p;
  REQUIRE(run("heddle solve " + kWords + " --least-ii --out other.json", folder).code == 0);
  p.session().apply(OpenSchedule{folder.file("other.json")});
  p.session().apply(SelectSchedule{0});
  p.session().apply(SetBaseline{1});
  p.frame(3);
  const auto check_line = [&](const std::string& line) {
    INFO(line);
    const Json told = answer_of(line, folder, 4);
    const Alignment& alignment = p.session().view().alignment;
    const Difference difference = compare_schedules(*p.content().problem, p.a().schedule, p.b().schedule, alignment);
    CHECK(*told.find("shift")->integer() == difference.shift);
    CHECK(*told.find("first_divergence")->find("sentence")->string() == difference.first->sentence);
    CHECK(*told.find("a")->find("ii")->integer() == p.a().schedule.ii);
    CHECK(*told.find("b")->find("ii")->integer() == p.b().schedule.ii);
    CHECK(*told.find("a")->find("period")->integer() == p.a().period.cycles());
    CHECK(*told.find("b")->find("period")->integer() == p.b().period.cycles());
    const auto& ops = *told.find("ops")->items();
    REQUIRE(ops.size() == difference.ops.size());
    for (const Json& op : ops) {
      const OpId id = p.content().problem->find_op(*op.find("id")->string());
      CHECK(*op.find("delta")->integer() == difference.ops[id.index()].delta);
    }
  };
  std::string line = copied(p);
  CHECK(line.find(" --swap") != std::string::npos);  // the solver's schedule is A
  check_line(line);
  p.key(Key::X);
  line = copied(p);
  CHECK(line.find(" --swap") == std::string::npos);
  check_line(line);
  p.session().apply(SetAlignment{{Alignment::At::Most, {}}});
  p.session().apply(SaveProject{folder.file("pair.heddle.json")});
  p.frame(2);
  p.session().apply(FirstDivergence{});
  line = copied(p);
  CHECK(line == "heddle diff " + folder.file("pair.heddle.json") + " --align most");
  check_line(line);
}

TEST_CASE("the line of a Triton text that was written writes the same text", "[ui]") {
  const test::FlowFolder folder;
  Person p;
  p.drop(test::repository_path("tests/triton/texts/attention_forward.sm90.scheduled.ttgir"));
  p.settle();
  const auto same_file = [&](const char* name) {
    const std::string path = folder.file(name);
    p.session().apply(Export{ExportKind::Ttgir, path});
    REQUIRE_FALSE(p.session().error());
    const std::string line = copied(p), written = read(path);
    INFO(line);
    CHECK(line.find("heddle export ") == 0);
    REQUIRE_FALSE(written.empty());
    std::filesystem::remove(path);
    CHECK(run(line, folder).code == 0);
    CHECK(read(path) == written);
    return written;
  };
  const std::string own = same_file("own.ttgir");
  // What was solved is in no file of its own: the project has it.
  p.session().apply(ShowSide{triton::Whose::BestOfTriton});
  p.frame(4);
  CHECK(export_command(p.session(), {ExportKind::Ttgir, "x.ttgir"}).empty());
  p.session().apply(SaveProject{folder.file("best.heddle.json")});
  p.frame(2);
  CHECK(same_file("best.ttgir") != own);
  CHECK(export_command(p.session(), {ExportKind::Python, "x.py"}).find("--format python --out x.py") != std::string::npos);
}

TEST_CASE("the line of an export writes the same file", "[ui]") {
  const test::FlowFolder folder;
  Person p(kAttention, test::least_ii_solver());  // B is proved
  p.session().apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  p.frame(3);
  // What this window has proved is, to a command that reads it from the project, what the file says.
  const auto as_file_says = [](std::string text) {
    const std::string proved = " · proved";
    for (std::size_t end = text.find(proved); end != std::string::npos; end = text.find(proved, end + 1)) {
      const std::size_t begin = text.rfind("bound ", end);
      REQUIRE(begin != std::string::npos);
      text.replace(begin, end + proved.size() - begin, "the file says proved");
      end = begin;
    }
    return text;
  };
  const auto same_file = [&](Export request, const char* name) {
    request.path = folder.file(name);
    p.session().apply(request);
    const std::string line = copied(p);
    const std::string written = line.find(".heddle.json") == std::string::npos ? read(request.path) : as_file_says(read(request.path));
    INFO(line);
    REQUIRE_FALSE(written.empty());
    CHECK(line.find("heddle export ") == 0);
    std::filesystem::remove(request.path);
    CHECK(run(line, folder).code == 0);
    CHECK(read(request.path) == written);
  };
  same_file({ExportKind::Svg, {}}, "a.svg");
  same_file({ExportKind::Html, {}}, "a.html");
  same_file({ExportKind::Trace, {}}, "a.trace.json");
  same_file({ExportKind::Csv, {}}, "a.csv");
  p.session().apply(SetMode{GanttMode::Pipeline});
  p.frame(4);
  Export part{ExportKind::Svg, {}};
  part.visible_only = part.light = true;
  p.key(Key::W);
  p.frame(40);
  same_file(part, "part.svg");
  same_file({ExportKind::Text, {}}, "a.txt");
  // A over B, from the project that holds both.
  p.session().apply(SetMode{GanttMode::Steady});
  p.session().apply(SetBaseline{0});
  p.session().apply(SaveProject{folder.file("pair.heddle.json")});
  p.frame(3);
  REQUIRE(p.session().view().chart_view == ChartView::Split);
  same_file({ExportKind::Svg, {}}, "pair.svg");
  CHECK(read(folder.file("pair.svg")).find("ping") != std::string::npos);
  CHECK(read(folder.file("pair.svg")).find("the file says proved") != std::string::npos);
}

TEST_CASE("the lines of a kernel write the same text, and find the same of its program", "[ui]") {
  const test::FlowFolder folder;
  Person p("gemm_hopper");
  p.key(Key::F6);
  p.settle();
  std::string line = copied(p);
  CHECK(line == "heddle emit gemm_hopper h100");
  REQUIRE(p.session().kernel().text().answer());
  CHECK(run(line, folder).out == p.session().kernel().text().answer()->emission->source);
  p.session().apply(CheckKernel{20});
  p.settle();
  line = copied(p);
  CHECK(line == "heddle interpret gemm_hopper h100 --interleavings 20");
  const Json told = answer_of(line, folder);
  const KernelCheck& check = *p.session().kernel().checked().answer();
  CHECK(*told.find("interleavings")->integer() == check.done);
  CHECK(*told.find("trips")->integer() == check.trips);
  CHECK(told.find("fault")->is_null() == check.fault.empty());
}

TEST_CASE("the line of a picture makes the same picture, without a project too", "[ui]") {
  const test::FlowFolder folder;
  Person p(kAttention, test::least_ii_solver());
  p.session().apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  p.session().apply(SetMode{GanttMode::Unrolled});
  p.frame(40);
  const std::string line = export_command(p.session(), {ExportKind::Png, folder.file("chart.png")});
  CHECK(line.find("heddle-gui attention_forward_hopper h100 --schedule ") == 0);
  CHECK(line.find("--size 1600x900") != std::string::npos);
  const Run made = run(line, folder);
  if (made.code == 6) return;  // no EGL here
  INFO(read(folder.file("errors.txt")));
  CHECK(made.code == 0);
  const auto picture = read_png(folder.file("chart.png"));
  REQUIRE(picture);
  const probe::Rect center = p.at("pane/center");
  CHECK(picture->width == static_cast<int>(center.x1 - center.x0));
  // The menu bar is a little higher there: this window has the built-in font. Rows that the window scrolls away make it taller.
  CHECK(picture->height >= static_cast<int>(center.y1 - center.y0) - 4);
}

TEST_CASE("no line is offered that would not find what is shown", "[ui]") {
  Person p(kAttention, test::least_ii_solver());
  Schedule moved = p.a().schedule;
  for (Placement& place : moved.ops) place.start += 8;
  p.session().apply(AdoptSchedule{moved, "by hand", false});
  p.frame(2);
  CHECK(shown_as_command(p.session()).empty());
  p.session().apply(SetBaseline{0});
  CHECK(p.session().last_line().empty());
  CHECK(why_not(*find_action("copy_command"), p.session()).find("save the project") == 0);
  p.session().apply(SetBaseline{});
  CHECK(export_command(p.session(), {ExportKind::Svg, "x.svg"}).empty());
  CHECK(export_command(p.session(), {ExportKind::Png, "x.png"}).empty());
  CHECK(ask_command(p.session(), Topic::Slack, {}).empty());
  // What does not depend on the schedule still has one.
  CHECK(ask_command(p.session(), Topic::Explain, {}) == "heddle explain attention_forward_hopper h100");
  p.key(Key::E, {.ctrl = true});
  CHECK_FALSE(why_no_line(p.session()).empty());
  const test::FlowFolder folder;
  p.session().apply(SaveProject{folder.file("hand.heddle.json")});
  CHECK(shown_as_command(p.session()).find("heddle show " + folder.file("hand.heddle.json")) == 0);
}
#endif
