// Schedules with layouts and instructions of their own in the session.
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/session.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

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
