// Choices of layouts and instructions in schedule files, in projects, and as words of a command line.
#include <filesystem>

#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/formats/choices_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/library/inputs.h"
#include "core/library/library.h"
#include "core/library/project_json.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

const char* const kKernel = "attention_backward_hopper";

LayoutChoices conflicted() {
  LayoutChoices choices;
  choices.layouts = {{"dqs1", "panels 64"}};
  choices.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {1, 2}}}};
  return choices;
}

Problem problem_of(const LayoutChoices& choices) {
  return resolve(load_kernel(kKernel).value(), load_machine("h100").value(), {}, {}, choices).value();
}

/// Some schedule of the right form; whether it is legal does not matter.
Schedule any_schedule(const Problem& problem) {
  Schedule s;
  s.ii = 4000;
  Cycle at = 0;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) s.ops.push_back({at += 100, GroupId(problem.ops[v].variable_latency ? 0 : 1)});
  s.groups = {{"producer", 1, 24}, {"consumer A", 4, 240}};
  for (const Channel& channel : problem.channels) s.depths.push_back(channel.only_if_crossing ? 0 : 1);
  s.layouts = choices_of(problem);
  return s;
}

struct TemporaryFile {
  std::string path;
  TemporaryFile(const char* name, const std::string& text) : path((std::filesystem::temp_directory_path() / name).string()) {
    REQUIRE(write_file(path, text));
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
};

std::string faults_of_file(const Problem& problem, const std::string& layouts, const std::string& instructions) {
  std::string text = schedule_text(problem, any_schedule(problem));
  text.insert(text.rfind('}'), ", \"layouts\": " + layouts + ", \"instructions\": " + instructions);
  const auto schedule = parse_schedule(text, "s.json", problem);
  const auto head = parse_schedule_head(text, "s.json");
  return std::string(schedule ? "no fault" : to_string(schedule.error())) + (head ? "" : " | " + to_string(head.error()));
}

}  // namespace

TEST_CASE("a schedule file carries what was chosen, and says nothing of what is as today", "[core]") {
  const Problem problem = problem_of(conflicted()), today = problem_of({});
  const std::string text = schedule_text(problem, any_schedule(problem));
  CHECK(text.find(R"("layouts": {"dqs1": "panels 64"})") != std::string::npos);
  CHECK(text.find(R"("stage_dq0": "st.shared.8")") != std::string::npos);
  CHECK(text.find(R"("stage_dq1": {"name": "st.shared.8", "exchange": [1, 2]})") != std::string::npos);
  std::vector<Fault> warnings;
  const auto again = parse_schedule(text, "s.json", problem, &warnings);
  REQUIRE(again);
  CHECK(warnings.empty());
  CHECK(again->layouts == conflicted());
  CHECK(same_program(*again, any_schedule(problem)));
  CHECK(parse_schedule_head(text, "s.json")->layouts == conflicted());

  const std::string plain = schedule_text(today, any_schedule(today));
  CHECK(plain.find("layouts") == std::string::npos);
  CHECK(plain.find("instructions") == std::string::npos);
}

TEST_CASE("a schedule that solvers leave without choices is written with those of its problem", "[core]") {
  const Problem problem = problem_of(conflicted());
  Schedule schedule = any_schedule(problem);
  schedule.layouts = {};
  CHECK(parse_schedule(schedule_text(problem, schedule), "s.json", problem)->layouts == conflicted());
}

TEST_CASE("a schedule that is read against a problem of other choices warns", "[core]") {
  const Problem problem = problem_of(conflicted()), today = problem_of({});
  std::vector<Fault> warnings;
  REQUIRE(parse_schedule(schedule_text(problem, any_schedule(problem)), "s.json", today, &warnings));
  REQUIRE(warnings.size() == 1);
  CHECK(to_string(warnings[0]) ==
        "s.json: /layouts: the schedule is for layouts and instructions dqs1=panels 64, stage_dq0=st.shared.8, "
        "stage_dq1=st.shared.8,1,2, the problem has the default ones");
  CHECK(warnings[0].part == "other layouts");
}

TEST_CASE("bad choices in a schedule file are faults with their places", "[core]") {
  const Problem problem = problem_of({});
  CHECK(faults_of_file(problem, "7", "{}").find("s.json: /layouts: expected an object, found 7") != std::string::npos);
  CHECK(faults_of_file(problem, R"({"dqs0": 7})", "{}").find("s.json: /layouts/dqs0: expected a") != std::string::npos);
  CHECK(faults_of_file(problem, R"({"dqs0": ""})", "{}").find("s.json: /layouts/dqs0: expected a layout of 1 to 4096 characters") !=
        std::string::npos);
  CHECK(faults_of_file(problem, "{\"dqs0\": \"" + std::string(1 << 20, '(') + "\"}", "{}").find("found 1048576") != std::string::npos);
  CHECK(faults_of_file(problem, "{}", R"({"x": {"exchange": [2, 3]}})").find("s.json: /instructions/x: missing key 'name'") !=
        std::string::npos);
  for (const char* exchange : {"[2]", "[5, 1]", "[2, 3, 4]", "[-1, 2]", "\"2\"", "[2, 21]"}) {
    CAPTURE(exchange);
    CHECK(faults_of_file(problem, "{}", std::string(R"({"x": {"name": "st.shared.8", "exchange": )") + exchange + "}}")
              .find("s.json: /instructions/x") != std::string::npos);
  }
  std::string many = "{";
  for (int i = 0; i < 5000; ++i) many += (i > 0 ? ", \"v" : "\"v") + std::to_string(i) + "\": \"rows\"";
  CHECK(faults_of_file(problem, many + "}", "{}") != "no fault");
}

TEST_CASE("words of a command line become choices", "[core]") {
  LayoutChoices choices;
  std::vector<Fault> faults;
  add_layout("dqs0=Sw<3,2,3> o (64,64):(64,1)", choices, faults);
  add_instruction("stage_dq0=st.shared.8,2,3", choices, faults);
  add_instruction("S0=wgmma.ss.bf16", choices, faults);
  CHECK(faults.empty());
  CHECK(choices.layouts.at("dqs0") == "Sw<3,2,3> o (64,64):(64,1)");
  CHECK(choices.instructions.at("stage_dq0") == InstructionChoice{"st.shared.8", {2, 3}});
  CHECK(instruction_text(choices.instructions.at("stage_dq0")) == "st.shared.8,2,3");
  for (const char* bad : {"", "=", "x", "x=", "=x", "stage_dq0=st.shared.8", "a=b,1", "a=b,9,1", "a=b,1,x", "a=b,1,2,3"}) {
    CAPTURE(bad);
    faults.clear();
    add_instruction(bad, choices, faults);
    CHECK(faults.size() == 1);
  }
  faults.clear();
  add_layout("dqs0=rows", choices, faults);
  CHECK(to_string(faults.at(0)) == "chooses for 'dqs0' twice");
  CHECK(faults.at(0).part == "layout");
}

TEST_CASE("a schedule is loaded with its own choices, over which those of the command line go", "[core]") {
  const Problem problem = problem_of(conflicted());
  const TemporaryFile file("heddle_choices_test.json", schedule_text(problem, any_schedule(problem)));
  std::vector<Fault> warnings;
  InputNames names;
  names.kernel = kKernel;
  names.machine = "h100";
  names.schedule = file.path;
  const auto inputs = load_inputs(names, warnings);
  REQUIRE(inputs);
  CHECK(warnings.empty());
  CHECK(inputs->choices() == conflicted());
  CHECK(problem_text(inputs->problem()) == problem_text(problem));
  CHECK(problem_text(problem_with(*inputs, Changes{}).value()) == problem_text(problem));

  names.instructions = {"stage_dq0=st.shared.8,2,3"};
  const auto other = load_inputs(names, warnings);
  REQUIRE(other);
  CHECK(other->choices().instructions.at("stage_dq0").exchange == LaneExchange{2, 3});
  CHECK(other->choices().layouts == conflicted().layouts);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].pointer == "/instructions");
}

TEST_CASE("faults of choices name the word of the command line, or the schedule's file", "[core]") {
  std::vector<Fault> warnings;
  InputNames names;
  names.kernel = kKernel;
  names.machine = "h100";
  names.layouts = {"k0=rows"};
  names.instructions = {"stage_dq0=st.shared.16"};
  const auto inputs = load_inputs(names, warnings);
  REQUIRE(!inputs);
  const std::string said = to_string(inputs.error());
  CHECK(said.find("k0=rows: 'k0' is read by wgmma of 'S0'") != std::string::npos);
  CHECK(said.find("stage_dq0=st.shared.16: 'stage_dq0' cannot be written as st.shared.16 while") != std::string::npos);
  const auto about = [&](const std::string& part) {
    return std::count_if(inputs.error().faults.begin(), inputs.error().faults.end(), [&](const Fault& f) { return f.part == part; });
  };
  CHECK(about("layout") == 1);
  CHECK(about("instruction") == 1);

  const Problem problem = problem_of({});
  Schedule schedule = any_schedule(problem);
  schedule.layouts.layouts = {{"k0", "rows"}};
  const TemporaryFile file("heddle_choices_fault_test.json", schedule_text(problem, schedule));
  names.layouts = names.instructions = {};
  names.schedule = file.path;
  const auto from_file = load_inputs(names, warnings);
  REQUIRE(!from_file);
  CHECK(from_file.error().faults.at(0).file == file.path);
  CHECK(from_file.error().faults.at(0).pointer == "/layouts/k0");
}

TEST_CASE("a misspelt choice in a schedule of the same kernel is a fault, one of another kernel's values is not looked at", "[core]") {
  const Problem problem = problem_of({});
  Schedule schedule = any_schedule(problem);
  schedule.layouts.layouts = {{"dsq0", "panels 64"}};
  schedule.layouts.instructions = {{"stage_qd0", {"st.shared.8", {}}}};
  std::string text = schedule_text(problem, schedule);
  const auto said_of = [&] {
    const TemporaryFile file("heddle_choices_misspelt_test.json", text);
    std::vector<Fault> warnings;
    InputNames names;
    names.kernel = kKernel;
    names.machine = "h100";
    names.schedule = file.path;
    const auto inputs = load_inputs(names, warnings);
    return inputs ? std::string() : to_string(inputs.error());
  };
  const std::string said = said_of();
  CHECK(said.find("heddle_choices_misspelt_test.json: /layouts/dsq0: kernel 'attention_backward_hopper' has no value 'dsq0'") !=
        std::string::npos);
  CHECK(said.find("/instructions/stage_qd0: kernel 'attention_backward_hopper' has no op 'stage_qd0'") != std::string::npos);
  const std::string own = "\"kernel\": \"" + std::string(kKernel) + "\"";
  REQUIRE(text.find(own) != std::string::npos);
  text.replace(text.find(own), own.size(), "\"kernel\": \"another\"");
  CHECK(said_of().find("dsq0") == std::string::npos);
}

TEST_CASE("a project keeps its choices", "[core]") {
  Project project;
  project.spec.kernel = std::make_shared<const Kernel>(load_kernel(kKernel).value());
  project.spec.machine = std::make_shared<const Machine>(load_machine("h100").value());
  project.spec.choices = conflicted();
  project.problem = std::make_shared<const Problem>(problem_of(conflicted()));
  const std::string text = project_text(project, "/tmp");
  const auto again = parse_project(text, "p.heddle.json", "/tmp");
  REQUIRE(again);
  CHECK(again->spec.choices == conflicted());
  CHECK(problem_hash(*again->problem) == problem_hash(*project.problem));
}

TEST_CASE("shipped schedules are no contenders of a problem with other port cycles", "[core]") {
  for (const Contender& contender : shelf_contenders(problem_of(conflicted()))) {
    CAPTURE(contender.name);
    CHECK(!contender.schedule);
    CHECK(contender.why_not.find("made for default layouts and instructions") != std::string::npos);
  }
}
