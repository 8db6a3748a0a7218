// Projects, notes and exports with mouse and keyboard.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/session/autosave.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/window/frame/project_dialogs.h"
#include "app/window/parts/tabs.h"
#include "tests/support/fake_solver.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_project_ui_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

struct Solved : Harness {
  Solved() : Harness(test::solve_toy) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
  void fill(const std::string& field, const std::string& text) {
    click(field);
    key(Key::A, {.ctrl = true});
    type(text);
  }
};

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("Ctrl+S asks for a name once, and dropping the file brings everything back", "[ui]") {
  const Folder folder;
  const std::string path = folder.file("toy.heddle.json");
  {
    Solved h;
    h.click("ops/P");
    h.key(Key::N);
    REQUIRE(h.has("note/text"));
    h.type("mind the gap");
    h.key(Key::Enter);
    h.frame(3);
    REQUIRE(h.session().content().notes.size() == 1);
    h.key(Key::S, {.ctrl = true});
    REQUIRE(h.has("write/path"));
    h.fill("write/path", path);
    h.click("write/go");
    REQUIRE_FALSE(h.session().error());
    CHECK_FALSE(h.session().projects().unsaved());
    h.session().apply(ToggleFlag{1});
    CHECK(h.session().projects().unsaved());
    h.key(Key::S, {.ctrl = true});
    CHECK_FALSE(h.has("write/path"));
    CHECK_FALSE(h.session().projects().unsaved());
  }
  Harness h(test::solve_toy);
  h.drop(path);
  CHECK(h.session().content().notes.size() == 1);
  CHECK(h.session().content().flags.size() == 1);
  CHECK(h.has("schedules/0"));
  CHECK(h.has("gantt/note/0"));
  h.session().apply(show_tab(BottomTab::Log));
  CHECK(h.has("notes/0"));
}

TEST_CASE("a note is edited and deleted where it hangs", "[ui]") {
  Solved h;
  h.session().apply(AddNote{{"first", "S", 0}});
  h.frame(2);
  h.click("gantt/note/0");
  REQUIRE(h.has("note/text"));
  h.fill("note/text", "second");
  h.click("note/save");
  CHECK(h.session().content().notes.front().text == "second");
  h.click("gantt/note/0");
  h.click("note/delete");
  CHECK(h.session().content().notes.empty());
  h.key(Key::Z, {.ctrl = true});
  CHECK(h.session().content().notes.size() == 1);
}

TEST_CASE("Ctrl+E writes what is on screen, says so, and copies the command", "[ui]") {
  const Folder folder;
  Solved h;
  h.key(Key::E, {.ctrl = true});
  REQUIRE(h.has("export/svg"));
  h.fill("export/path", folder.file("a.svg"));
  h.click("export/go");
  CHECK(read(folder.file("a.svg")).find("<svg") != std::string::npos);
  h.click("export/trace");
  CHECK(std::string(h.window().ui().of<ExportDialogState>().path) == folder.file("a.trace.json"));
  h.click("export/go");
  CHECK(read(folder.file("a.trace.json")).find("traceEvents") != std::string::npos);
  h.click("export/csv");
  h.click("export/go");
  CHECK(fs::exists(folder.file("a.csv")));
  h.click("export/text");
  h.click("export/go");
  CHECK(fs::exists(folder.file("a.txt")));
  CHECK(h.session().view().exported.size() == 4);
  h.click("export/command");
  CHECK(std::string(ImGui::GetClipboardText()).find("heddle export toy_fig1 toy") == 0);
  h.key(Key::Escape);
  CHECK_FALSE(h.has("export/svg"));
}

TEST_CASE("without a renderer a picture is refused in words", "[ui]") {
  const Folder folder;
  Solved h;
  h.session().apply(Export{ExportKind::Png, folder.file("a.png")});
  h.frame(2);
  REQUIRE(h.session().error());
  CHECK_FALSE(fs::exists(folder.file("a.png")));
}

TEST_CASE("leaving with unsaved work asks, and staying stays", "[ui]") {
  Solved h;
  h.session().apply(AddNote{{"mine", "S", 0}});
  h.key(Key::Q, {.ctrl = true});
  REQUIRE(h.has("leave/stay"));
  h.click("leave/stay");
  CHECK_FALSE(h.has("leave/stay"));
  CHECK_FALSE(h.session().view().quit);
  h.key(Key::Q, {.ctrl = true});
  h.click("leave/discard");
  CHECK(h.session().view().quit);
}

TEST_CASE("recovered work is thrown away only after a question", "[ui]") {
  const Folder folder;
  const std::string autosave = folder.file("autosave");
  std::string text;
  {
    Solved h;
    h.session().apply(AddNote{{"mine", "S", 0}});
    h.session().apply(SaveProject{folder.file("p.heddle.json")});
    text = read(folder.file("p.heddle.json"));
  }
  std::string name;
  {
    Autosave live(autosave);
    name = fs::path(live.file()).filename().string();
  }
  const std::string mine = "." + std::to_string(::getpid()) + ".";
  const std::string lost = autosave + "/" + name.replace(name.find(mine), mine.size(), ".999999999.");
  fs::create_directories(autosave);
  std::ofstream(lost) << text;
  Environment environment;
  environment.autosave_folder = autosave;
  Harness h(test::solve_toy, 1600, 900, std::move(environment));
  h.frame(3);
  REQUIRE(h.session().projects().recoveries().size() == 1);
  CHECK(h.at("recovery/discard/0").x1 <= h.at("recovery/restore/0").x0);  // what takes nothing away is where Dismiss is elsewhere
  h.click("recovery/discard/0");
  REQUIRE(h.has("discard/keep"));
  CHECK(fs::exists(lost));
  h.click("discard/keep");
  CHECK(h.session().projects().recoveries().size() == 1);
  h.click("recovery/discard/0");
  h.click("discard/go");
  h.frame(2);
  CHECK(h.session().projects().recoveries().empty());
  CHECK_FALSE(fs::exists(lost));
}

TEST_CASE("the time limit of searches is a field", "[ui]") {
  Solved h;
  h.click("toolbar/limit");
  REQUIRE(h.has("limit/seconds"));
  h.fill("limit/seconds", "0");
  h.click("limit/set");
  REQUIRE(h.has("limit/seconds"));  // a second at least
  h.fill("limit/seconds", "300");
  h.click("limit/set");
  CHECK_FALSE(h.has("limit/seconds"));
  CHECK(h.session().settings().search_seconds == 300);
}

TEST_CASE("projects call the tabs what the window calls them", "[ui]") {
  for (const Tab& tab : tabs()) CHECK(parse_tab(tab.id) == tab.tab);
  CHECK(parse_tab("paper") == BottomTab::Compare);  // in projects of before, it was a tab of its own
  CHECK_FALSE(parse_tab("nonsense"));
}
