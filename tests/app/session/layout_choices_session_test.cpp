// Schedules with layouts and instructions of their own in the session, and layouts that are chosen there.
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "app/session/texts.h"
#include "core/answers/layout_choice.h"
#include "core/base/atomic_file.h"
#include "core/formats/kernel_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/project_json.h"
#include "core/problem/resolve.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

LayoutChoices choices() {
  LayoutChoices chosen;
  chosen.layouts = {{"dqs1", "panels 32"}};
  chosen.instructions = {{"stage_dq0", {"st.shared.8", {}}}};
  return chosen;
}

/// The shipped schedule with choices, in a file that goes again.
struct File {
  std::string path = (fs::temp_directory_path() / ("heddle_choices_session_" + std::to_string(::getpid()) + ".json")).string();
  File() {
    const Kernel kernel = load_kernel("attention_backward_hopper").value();
    const Machine machine = load_machine("h100").value();
    const Problem today = resolve(kernel, machine).value(), other = resolve(kernel, machine, {}, {}, choices()).value();
    std::string shipped;
    for (const LibraryEntry& entry : list_library(Shelf::Schedules))
      if (entry.name.starts_with("attention_backward_hopper/")) shipped = entry.path;
    Schedule schedule = read_schedule(shipped, today).value();
    schedule.ii += 1024;  // room for the conflict; whether it is legal does not matter
    schedule.claim.reset();
    schedule.layouts = choices();
    REQUIRE(write_file(path, schedule_text(other, schedule)));
  }
  ~File() { fs::remove(path); }
};

}  // namespace

TEST_CASE("a schedule brings its layouts and instructions with it, into saved files and command lines too", "[app]") {
  const File file;
  Session session{Environment{}};
  session.apply(OpenSchedule{file.path});
  REQUIRE(session.content().problem);
  CHECK(session.content().choices == choices());
  CHECK(choices_of(*session.content().problem) == choices());
  REQUIRE(session.content().entry());
  CHECK(session.content().entry()->schedule.layouts == choices());
  const std::string line = command_line(session, "analyze");
  CHECK(line.find("--layout 'dqs1=panels 32'") != std::string::npos);
  CHECK(line.find("--instruction stage_dq0=st.shared.8") != std::string::npos);

  // A number that is changed, and one that is changed back, leave the choices.
  session.apply(SetParam{"HEADS", 8});
  CHECK(choices_of(*session.content().problem) == choices());

  // Without choices it is the problem of today again.
  session.apply(OpenPair{"attention_backward_hopper", "h100", false});
  CHECK(session.content().choices.empty());
  CHECK(choices_of(*session.content().problem).empty());
}

TEST_CASE("a schedule of other layouts can be compared with what is shown", "[app]") {
  const File file;
  Session session{Environment{}};
  std::string shipped;
  for (const LibraryEntry& entry : list_library(Shelf::Schedules))
    if (entry.name.starts_with("attention_backward_hopper/")) shipped = entry.path;
  session.apply(OpenSchedule{shipped});
  session.apply(OpenSchedule{file.path, true});
  REQUIRE(session.content().baseline_entry());
  CHECK(session.content().choices.empty());
  CHECK(session.content().baseline_entry()->schedule.layouts == choices());
  CHECK(session.content().entry()->schedule.layouts.empty());
}

TEST_CASE("a saved schedule and a kept project have the choices", "[app]") {
  const File file;
  const std::string saved = file.path + ".saved.json", project = file.path + ".heddle.json";
  Session session{Environment{}};
  session.apply(OpenSchedule{file.path});
  session.apply(SaveSchedule{saved});
  CHECK(parse_schedule_head(read_file(saved).value(), saved)->layouts == choices());
  session.apply(SaveProject{project});
  Session other{Environment{}};
  other.apply(OpenProject{project});
  CHECK(other.content().choices == choices());
  REQUIRE(other.content().problem);
  CHECK(problem_hash(*other.content().problem) == problem_hash(*session.content().problem));
  fs::remove(saved);
  fs::remove(project);
}

namespace {

/// The shipped schedule of attention backward on H100, open.
struct Shipped {
  Session session{Environment{}};
  Shipped() {
    for (const LibraryEntry& entry : list_library(Shelf::Schedules))
      if (entry.name.starts_with("attention_backward_hopper/")) session.apply(OpenSchedule{entry.path});
    REQUIRE(content().entry());
    REQUIRE(content().entry()->verdict.valid());
    REQUIRE(content().choices.empty());
  }
  const Content& content() { return session.content(); }
};

LayoutChoices plain_stores() {
  LayoutChoices chosen;
  chosen.instructions = {{"stage_dq0", {"st.shared.8", {}}}, {"stage_dq1", {"st.shared.8", {}}}};
  return chosen;
}

}  // namespace

TEST_CASE("what a constraints file demands of layouts is in force when it is opened, as it was when it was saved", "[app]") {
  const std::string path = (fs::temp_directory_path() / ("heddle_layout_demands_" + std::to_string(::getpid()) + ".json")).string();
  Shipped s;
  s.session.apply(ChooseLayouts{plain_stores(), {}, false});
  s.session.apply(SaveConstraints{path});
  Shipped other;
  other.session.apply(OpenConstraints{path});
  REQUIRE_FALSE(other.session.error());
  CHECK(other.content().choices == plain_stores());
  CHECK(problem_hash(*other.content().problem) == problem_hash(*s.content().problem));
  CHECK(other.content().entry()->schedule.layouts == plain_stores());
  other.session.apply(Undo{});
  CHECK(other.content().choices.empty());
  fs::remove(path);
}

TEST_CASE("layouts are chosen in one step of undo: the kernel is resolved again, and its schedules are judged again", "[app]") {
  Shipped s;
  const Cycle before = s.content().bounds->min_ii();
  s.session.apply(ChooseLayouts{plain_stores(), {}, false});
  REQUIRE_FALSE(s.session.error());
  CHECK(s.content().choices == plain_stores());
  CHECK(choices_of(*s.content().problem) == plain_stores());
  CHECK(s.content().bounds->min_ii() == before + 256);
  REQUIRE(s.content().schedules.size() == 1);
  CHECK_FALSE(s.content().entry()->verdict.valid());
  CHECK(s.content().entry()->schedule.layouts == plain_stores());
  REQUIRE(s.session.next_undo());
  CHECK(*s.session.next_undo() == "stage_dq0 st.shared.8 · stage_dq1 st.shared.8");
  CHECK(cli_equivalent(s.session, ChooseLayouts{}).value().find("--instruction stage_dq0=st.shared.8") != std::string::npos);

  s.session.apply(Undo{});
  CHECK(s.content().choices.empty());
  CHECK(s.content().bounds->min_ii() == before);
  CHECK(s.content().entry()->verdict.valid());
  s.session.apply(Redo{});
  CHECK(s.content().choices == plain_stores());

  // By default again, which is another step; what was known of the schedule then is known again.
  s.session.apply(ChooseLayouts{{}, {}, false});
  CHECK(s.content().choices.empty());
  CHECK(s.content().entry()->verdict.valid());
  CHECK(s.content().entry()->schedule.layouts.empty());
  CHECK(*s.session.next_undo() == "layouts by default");
}

TEST_CASE("layouts that cannot be are faults in words, and everything stays as it was", "[app]") {
  Shipped s;
  s.session.apply(ChooseLayouts{choices(), {}, false});
  const auto problem = s.content().problem;
  const std::string step = *s.session.next_undo();
  const auto refused = [&](const char* value, const char* layout, const char* op, const InstructionChoice& instruction) {
    LayoutChoices next = s.content().choices;
    if (*value) next.layouts[value] = layout;
    if (*op) next.instructions[op] = instruction;
    s.session.apply(ChooseLayouts{next, {}, true});
    REQUIRE(s.session.error());
    CHECK(s.content().problem == problem);
    CHECK(s.content().choices == choices());
    CHECK(*s.session.next_undo() == step);
    std::string text = to_string(s.session.error()->error);
    CHECK(text.find("/layouts") == std::string::npos);  // there is no file in which that would be
    s.session.apply(DismissError{});
    return text;
  };
  CHECK(refused("dqs0", "nonsense", "", {}).find("nonsense") != std::string::npos);
  CHECK(refused("nobody", "panels 32", "", {}).find("no value 'nobody'") != std::string::npos);
  CHECK(refused("dqs0", "(64,64):(1,64)", "", {}).find("TMA") != std::string::npos);
  CHECK(refused("dqs0", std::string(5000, '(').c_str(), "", {}) != "");
  CHECK(refused("", "", "stage_dq0", {"stmatrix.x4", {}}).find("stage_dq0") != std::string::npos);
  CHECK(refused("", "", "stage_dq0", {"st.shared.8", {4, 20}}).find("stage_dq0") != std::string::npos);
  CHECK(refused("", "", "S0", {"st.shared.8", {}}).find("S0") != std::string::npos);
}

TEST_CASE("a layout under which another op's chosen instruction no longer fits is refused", "[app]") {
  // layernorm whose result comes back to registers instead of leaving by TMA: no one but its two ops asks how it lies.
  Kernel kernel = load_kernel("layernorm").value();
  TileValue back = *kernel.find_value("yh");
  back.name = "back";
  kernel.values.push_back(back);
  TileOp read;
  read.name = "read_back";
  read.kind = "smem_load";
  read.inputs.resize(1);
  read.inputs[0].value = "ys";
  read.outputs = {"back"};
  REQUIRE(kernel.body.back().name == "store_y");
  kernel.body.back() = read;
  Session session{Environment{}};
  session.apply(OpenMachine{"h100"});
  session.apply(NewKernel{kernel_text(kernel)});
  REQUIRE(session.content().problem);
  const Content& content = session.content();
  LayoutChoices chosen;
  chosen.instructions["read_back"] = {"ld.shared.16", {}};
  session.apply(ChooseLayouts{chosen, {}, false});
  REQUIRE_FALSE(session.error());
  const LayoutUse use{"ys", "(8,1024):(1,8)", "stage", {"st.shared.2", {}}};
  session.apply(ChooseLayouts{with_use(*content.kernel, *content.machine, *content.problem, content.choices, use), {}, false});
  REQUIRE(session.error());
  INFO(to_string(session.error()->error));
  CHECK(to_string(session.error()->error).find("'read_back' cannot be written as ld.shared.16") != std::string::npos);
  CHECK(content.choices == chosen);
  // Without that choice there is an instruction that fits.
  session.apply(DismissError{});
  session.apply(ChooseLayouts{with_use(*content.kernel, *content.machine, *content.problem, {}, use), {}, false});
  CHECK_FALSE(session.error());
  CHECK(content.choices.layouts.contains("ys"));
}

TEST_CASE("layouts that were chosen stay with other numbers, parameters and machines that know them", "[app]") {
  Shipped s;
  s.session.apply(ChooseLayouts{plain_stores(), {}, false});
  s.session.apply(SetParam{"HEADS", 8});
  CHECK(choices_of(*s.content().problem) == plain_stores());
  s.session.apply(SwitchMachine{"h200"});
  CHECK(s.content().machine->name == "h200");
  CHECK(choices_of(*s.content().problem) == plain_stores());
  s.session.apply(OpenMachine{"h100"});
  CHECK(choices_of(*s.content().problem) == plain_stores());
  // One that has no such instruction is refused, and the other stays.
  s.session.apply(SwitchMachine{"b200"});
  CHECK(s.session.error());
  CHECK(s.content().machine->name == "h100");
  CHECK(choices_of(*s.content().problem) == plain_stores());
}

TEST_CASE("layouts that somebody chose here are work that is kept safe and asked about, those of a file are not", "[app]") {
  const File file;
  const std::string folder = file.path + ".autosave", project = file.path + ".p.heddle.json";
  fs::create_directories(folder);
  double now = 100;
  Environment environment;
  environment.autosave_folder = folder;
  environment.clock = [&now] { return now; };
  Session session{std::move(environment)};
  session.apply(OpenSchedule{file.path});
  CHECK_FALSE(session.projects().worth_asking());
  session.apply(ChooseLayouts{plain_stores(), {}, false});
  CHECK(session.projects().worth_asking());
  const auto kept = [&] {
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".json" && read_file(entry.path().string()).value().find("stage_dq1") != std::string::npos)
        if (const auto read = read_project(entry.path().string()); read && read->spec.choices == plain_stores()) return true;
    return false;
  };
  CHECK(test::wait_until(kept, [&] { now += 1, session.pump(); }));
  session.apply(SaveProject{project});
  CHECK_FALSE(session.projects().worth_asking());
  session.apply(ChooseLayouts{{}, {}, false});
  CHECK(session.projects().worth_asking());
  session.apply(OpenProject{project});
  CHECK(session.content().choices == plain_stores());
  CHECK(session.close(test::kPatience));
  fs::remove_all(folder);
  fs::remove(project);
}

TEST_CASE("a kernel's text that no longer goes with the layouts takes them back, and says so", "[app]") {
  Shipped s;
  s.session.apply(ChooseLayouts{plain_stores(), {}, false});
  std::string text = s.session.texts().text_of(SourceOf::Kernel)->text;
  for (std::size_t at = text.find("stage_dq0"); at != std::string::npos; at = text.find("stage_dq0", at + 1))
    text.replace(at, 9, "stage_xx0");
  s.session.apply(EditSource{SourceOf::Kernel, text});
  REQUIRE(s.content().problem);
  CHECK(s.content().problem->find_op("stage_xx0").valid());
  CHECK(s.content().choices.empty());
  const auto& log = s.session.log();
  CHECK(
      std::any_of(log.begin(), log.end(), [](const LogEntry& line) { return line.text.find("as by default again") != std::string::npos; }));
}
