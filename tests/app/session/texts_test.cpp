// Texts of kernel and machine in the session: edited, saved, watched, kept safe.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "app/session/sweep_state.h"
#include "app/session/texts.h"
#include "core/base/atomic_file.h"
#include "core/formats/kernel_json.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

/// A session on a kernel file of its own, with a clock that is turned by hand.
struct Desk {
  fs::path folder = fs::temp_directory_path() / ("heddle_texts_test_" + std::to_string(::getpid()));
  std::shared_ptr<double> time = std::make_shared<double>(0.0);
  std::string kernel = (folder / "mine.json").string();
  std::string text;
  std::unique_ptr<Session> session;

  explicit Desk(const char* shipped = "toy_fig1", const char* machine = "toy") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    text = read_file(find_in_library(Shelf::Kernels, shipped).value()).value();
    write(text);
    session = std::make_unique<Session>(environment());
    session->apply(OpenPair{kernel, machine, false});
    REQUIRE(session->content().problem);
  }
  ~Desk() {
    session.reset();
    fs::remove_all(folder);
  }
  Environment environment() {
    Environment environment;
    environment.solve = test::solve_toy;
    environment.solver_name = "fake 1.0";
    environment.clock = [time = time] { return *time; };
    environment.autosave_folder = (folder / "autosave").string();
    return environment;
  }
  /// As another program would, so that its time is another one.
  void write(const std::string& content) const {
    static int written = 0;
    std::ofstream(kernel) << content;
    fs::last_write_time(kernel, fs::file_time_type::clock::now() + std::chrono::seconds(++written));
  }
  void wait(double seconds) {
    for (double left = seconds; left > 0; left -= 0.25) *time += 0.25, session->pump();
  }
  void type(const std::string& now, SourceOf of = SourceOf::Kernel) { session->apply(EditSource{of, now, true}); }
  std::string with(const std::string& what, const std::string& by) const {
    std::string out = text;
    const std::size_t at = out.find(what);
    REQUIRE(at != std::string::npos);
    return out.replace(at, what.size(), by);
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !session->live().active(); }, [&] { session->pump(); }));
  }
};

}  // namespace

TEST_CASE("a text is what is shown as soon as it has no faults, and until then its faults are told", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  REQUIRE(s.texts().text_of(SourceOf::Kernel));
  CHECK(s.texts().text_of(SourceOf::Kernel)->text == desk.text);
  CHECK_FALSE(s.texts().text_unsaved(SourceOf::Kernel));
  const auto before = s.content().kernel;

  desk.type(desk.with("\"kind\"", "\"kin\""));
  CHECK_FALSE(s.texts().text_of(SourceOf::Kernel)->faults.empty());
  CHECK(s.content().kernel == before);
  CHECK(s.texts().text_trouble().find("kernel's text") != std::string::npos);
  CHECK(s.solving().why_no_solve() == s.texts().text_trouble());  // never solved stale
  CHECK(s.texts().text_unsaved(SourceOf::Kernel));

  desk.type(desk.with("\"toy_fig1\"", "\"mine\""));
  CHECK(s.texts().text_of(SourceOf::Kernel)->faults.empty());
  CHECK(s.content().kernel->name == "mine");
  CHECK(s.content().problem->kernel == "mine");
  CHECK(s.solving().why_no_solve().empty());
}

TEST_CASE("typing is one step of undo, and solved when it pauses", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  for (const char* name : {"\"m\"", "\"mi\"", "\"mine\""}) {
    desk.type(desk.with("\"toy_fig1\"", name));
    *desk.time += 0.1;
    s.pump();
  }
  CHECK(s.content().schedules.empty());
  CHECK_FALSE(s.live().active());
  desk.wait(1);
  desk.settle();
  CHECK(s.content().schedules.size() == 1);
  CHECK(s.content().entry()->schedule.kernel == "mine");
  s.apply(Undo{});
  CHECK(s.content().kernel->name == "toy_fig1");
  CHECK(s.texts().text_of(SourceOf::Kernel)->text == desk.text);
  s.apply(Redo{});
  CHECK(s.content().kernel->name == "mine");
  desk.wait(2);
  desk.type(desk.with("\"toy_fig1\"", "\"later\""));
  s.apply(Undo{});
  CHECK(s.content().kernel->name == "mine");  // after a pause it is another step
}

TEST_CASE("schedules of the same ops stay through an edit, and through the faults on the way", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  s.apply(StartSolve{});
  desk.settle();
  REQUIRE(s.content().schedules.size() == 1);
  desk.type(desk.with("\"toy_fig1\"", "\"toy_fig"));
  CHECK(s.content().schedules.size() == 1);
  desk.type(desk.with("\"name\": \"S\"", "\"name\": \"SS\""));
  desk.type(desk.with("\"toy_fig1\"", "\"other\""));
  REQUIRE(s.content().schedules.size() == 1);
  CHECK(s.content().entry()->schedule.kernel == "other");
  CHECK(s.content().entry()->verdict.valid());
}

TEST_CASE("a file that changes on disk is read again; an own text is kept and told", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  desk.write(desk.with("\"toy_fig1\"", "\"from_disk\""));
  desk.wait(1.5);
  CHECK(s.content().kernel->name == "from_disk");
  CHECK(s.view().notice.find("read again") != std::string::npos);
  CHECK_FALSE(s.texts().text_unsaved(SourceOf::Kernel));
  s.apply(Undo{});
  CHECK(s.content().kernel->name == "toy_fig1");

  desk.type(desk.with("\"toy_fig1\"", "\"own\""));
  desk.write(desk.with("\"toy_fig1\"", "\"from_disk_too\""));
  desk.wait(1.5);
  CHECK(s.content().kernel->name == "own");
  CHECK(s.view().notice.find("your own text is kept") != std::string::npos);
  s.apply(ReadSourceAgain{SourceOf::Kernel});
  CHECK(s.content().kernel->name == "from_disk_too");
}

TEST_CASE("a solve looks at the file first", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  desk.write(desk.with("\"toy_fig1\"", "\"newer\""));
  s.apply(StartSolve{});
  desk.settle();
  CHECK(s.content().kernel->name == "newer");
  REQUIRE(s.content().entry());
  CHECK(s.content().entry()->schedule.kernel == "newer");
}

TEST_CASE("a file with faults leaves what is shown, and says so", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  desk.write("{ this is no kernel");
  desk.wait(1.5);
  CHECK(s.content().kernel->name == "toy_fig1");
  CHECK(s.texts().text_of(SourceOf::Kernel)->faults.size() == 1);
  desk.write(desk.with("\"toy_fig1\"", "\"mended\""));
  desk.wait(1.5);
  CHECK(s.content().kernel->name == "mended");
}

TEST_CASE("a text is saved to its file or another one, but not over what ships", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  const std::string edited = desk.with("\"toy_fig1\"", "\"saved\"");
  desk.type(edited);
  s.apply(SaveSource{SourceOf::Kernel});
  CHECK(read_file(desk.kernel).value() == edited);
  CHECK_FALSE(s.texts().text_unsaved(SourceOf::Kernel));
  CHECK_FALSE(s.projects().worth_asking());
  const std::string other = (desk.folder / "other.json").string();
  s.apply(SaveSource{SourceOf::Kernel, other});
  CHECK(s.content().kernel->source == other);
  s.apply(SaveSource{SourceOf::Kernel, find_in_library(Shelf::Kernels, "toy_fig1").value()});
  REQUIRE(s.error());
  CHECK(s.error()->error.faults.front().message.find("ships with Heddle") != std::string::npos);
  CHECK(read_file(find_in_library(Shelf::Kernels, "toy_fig1").value()).value() == desk.text);
}

TEST_CASE("a machine's number is edited in its text", "[app]") {
  Desk desk("gemm_hopper", "h100");
  Session& s = *desk.session;
  std::string machine = s.texts().text_of(SourceOf::Machine)->text;
  const std::size_t at = machine.find("\"sm_count\": 132");
  REQUIRE(at != std::string::npos);
  machine.replace(at, 15, "\"sm_count\": 114");
  desk.type(machine, SourceOf::Machine);
  CHECK(s.content().machine->sm_count == 114);
  CHECK(s.texts().text_unsaved(SourceOf::Machine));
  CHECK(s.sweep().why_no_tune().find("save the machine first") != std::string::npos);
  const std::string own = (desk.folder / "h100_pcie.json").string();
  s.apply(SaveSource{SourceOf::Machine, own});
  CHECK(load_machine(own).value().sm_count == 114);
}

TEST_CASE("a new kernel has no file, and is the user's work", "[app]") {
  Desk desk;
  Session& s = *desk.session;
  s.apply(NewKernel{brief_kernel_text(kernel_of(*find_pattern("gemm"), {{"bias", "yes"}}, "mine").value())});
  REQUIRE(s.content().problem);
  CHECK(s.content().kernel->name == "mine");
  CHECK(s.content().machine->name == "h100");
  CHECK(s.texts().text_unsaved(SourceOf::Kernel));
  CHECK(s.projects().worth_asking());
  s.apply(SaveSource{SourceOf::Kernel});
  REQUIRE(s.error());  // it has no file yet
  s.apply(DismissError{});
  s.apply(NewKernel{"{}"});
  CHECK(s.error());
  CHECK(s.content().kernel->name == "mine");
}

TEST_CASE("projects and lost work keep texts that no file holds, faults and all", "[app]") {
  Desk desk;
  {
    Session& s = *desk.session;
    desk.type(desk.with("\"toy_fig1\"", "\"mine\""));
    desk.type(desk.with("\"toy_fig1\"", "\"half"));
    REQUIRE_FALSE(s.texts().text_of(SourceOf::Kernel)->faults.empty());
    s.apply(SaveProject{(desk.folder / "p.heddle.json").string()});
    REQUIRE_FALSE(s.error());
  }
  Session again(desk.environment());
  again.apply(OpenProject{(desk.folder / "p.heddle.json").string()});
  REQUIRE(again.content().problem);
  CHECK(again.content().kernel->name == "mine");
  CHECK(again.texts().text_of(SourceOf::Kernel)->text == desk.with("\"toy_fig1\"", "\"half"));
  CHECK_FALSE(again.texts().text_of(SourceOf::Kernel)->faults.empty());
  CHECK(again.content().kernel->source == desk.kernel);
}
