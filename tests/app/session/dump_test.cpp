// Dumps of a compiler in the session: opened, read two ways, audited, solved anew and given back.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "app/session/files.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "app/session/source_document.h"
#include "app/session/view_state.h"
#include "app/session/way_back.h"
#include "app/window/parts/dump_op_model.h"
#include "app/window/parts/header_model.h"
#include "app/window/tabs/audit/audit_model.h"
#include "core/library/dump_text.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

std::string dump(const char* name) { return test::repository_path(std::string("tests/dumps/") + name); }
std::string scores() { return dump("scores.schedule_graph.json"); }

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_dump_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return file(name);
  }
};

struct Opened : Session {
  Opened() : Session(Environment{}) {}
  explicit Opened(const std::string& path) : Session(Environment{}) {
    apply(OpenFile{path});
    if (error()) FAIL(to_string(error()->error));
  }
};

const AuditLine* line_about(const AuditModel& model, const std::string& words) {
  for (const AuditLine& line : model.lines)
    if (line.text.find(words) != std::string::npos) return &line;
  return nullptr;
}

}  // namespace

TEST_CASE("a dump opens like a kernel: problem, stored schedule, reading where the bound is", "[app]") {
  Opened s(scores());
  REQUIRE(s.content().problem);
  REQUIRE(s.content().dump());
  REQUIRE(s.content().entry());
  CHECK(s.content().entry()->name == "stored");
  CHECK(s.content().entry()->schedule.ii == 500);
  CHECK(s.content().entry()->schedule.provenance.kind == "imported");
  CHECK(build_header(s).bound.find("reading: full") != std::string::npos);
  CHECK(build_header(s).subject == "scores · loop 0");
  CHECK(s.settings().recent.front() == scores());
  const SourceOutline choices = s.content().source->outline();
  REQUIRE(choices.loops.size() == 2);
  CHECK(choices.loops[0].current);
  CHECK(choices.loops[0].facts == "8 ops · II 500");
}

TEST_CASE("the reading and the loop are changed as steps of undo, and what was found stays where it was", "[app]") {
  Opened s(scores());
  const std::size_t ops = s.content().problem->ops.size();
  Schedule found = s.content().entry()->schedule;
  found.ops[0].start += found.ii;
  s.apply(AdoptSchedule{found, "by hand"});
  REQUIRE(s.content().schedules.size() == 2);
  s.apply(ShowPart{{{}, {}, "issue-slots"}});
  CHECK(s.content().dump()->reading() == dump::DumpReading::IssueSlots);
  CHECK(s.content().problem->ops.size() > ops);  // storage views are ops of the compiler's reading
  CHECK(build_header(s).bound.find("reading: issue slots") != std::string::npos);
  s.apply(ShowPart{{{}, 1, {}}});
  CHECK(s.content().dump()->the_loop().id == 1);
  s.apply(ShowPart{{{}, 0, "full"}});
  CHECK(s.content().problem->ops.size() == ops);
  CHECK(s.content().schedules.size() == 2);
  for (int i = 0; i < 3; ++i) s.apply(Undo{});
  CHECK(s.content().dump()->reading() == dump::DumpReading::Full);
  CHECK(s.content().schedules.size() == 2);
  s.apply(Redo{});
  CHECK(s.content().dump()->reading() == dump::DumpReading::IssueSlots);
  s.apply(ShowPart{{{}, 77, {}}});
  CHECK(s.error());
}

TEST_CASE("an inner loop is one step from the op that runs it", "[app]") {
  Opened s(scores() + "#1");
  CHECK(s.content().dump()->the_loop().id == 1);
  const dump::DumpLoop& outer = s.content().dump()->the_loop();
  REQUIRE(outer.nodes[0].super);
  CHECK(loop_inside(s.content().dump()->the_dump(), outer.nodes[0]) == 0);
  CHECK_FALSE(loop_inside(s.content().dump()->the_dump(), outer.nodes[1]));
  CHECK(s.content().source->outline().loops[0].name == "loop 0 in 1");
}

TEST_CASE("every format opens, and what has no schedule waits to be solved", "[app]") {
  for (const char* name : {"scores.ddg.json", "flat.schedule_graph.json", "small.curated.json", "cycles.joint.json", "groups.joint.json"}) {
    INFO(name);
    Opened s(dump(name));
    CHECK(s.content().problem);
    CHECK(s.content().dump());
    CHECK(build_audit(s).of_dump);
    CHECK_FALSE(build_audit(s).headline.empty());
    if (!s.content().entry()) {
      CHECK(build_audit(s).note.find("stores no schedule") != std::string::npos);
      CHECK(s.solving().why_no_solve().empty());
    }
  }
}

TEST_CASE("what a joint-solver problem demands of groups is in force", "[app]") {
  Opened s(dump("groups.joint.json"));
  CHECK_FALSE(s.content().constraints.empty());
  CHECK(Opened(scores()).content().constraints.empty());
}

TEST_CASE("every finding of the audit points at what is on the chart", "[app]") {
  Opened s(scores());
  const AuditModel model = build_audit(s);
  CHECK(model.stored == s.content().shown);
  REQUIRE_FALSE(model.lines.empty());
  std::size_t pointing = 0;
  for (const AuditLine& line : model.lines) {
    for (const OpId op : line.shown.ops) CHECK(op.index() < s.content().problem->ops.size());
    for (const EdgeId edge : line.shown.edges) CHECK(edge.index() < s.content().problem->edges.size());
    pointing += !line.shown.why.empty();
  }
  CHECK(pointing >= 3);
  const AuditLine* period = line_about(model, "limited by");
  REQUIRE(period);
  CHECK(period->detail());
  CHECK(period->shown.ops.size() >= 2);
  CHECK_FALSE(period->shown.edges.empty());
  const AuditLine* ring = line_about(model, "slots of");
  REQUIRE(ring);
  CHECK(ring->shown.ops.size() == 1);
  REQUIRE(model.others.size() == 1);
  CHECK(model.others[0].id == 1);
  CHECK(audit_tsv(model).find("period\t") != std::string::npos);
  CHECK(audit_markdown_of(s).find("| period |") != std::string::npos);
  CHECK(audit_command(s) == "heddle audit " + scores());
}

TEST_CASE("the audit says which schedule it is about, and what was solved since", "[app]") {
  Opened s(scores());
  Schedule better = s.content().entry()->schedule;
  better.provenance = {"solver", "", ""};
  s.apply(AdoptSchedule{better, "solver #1"});
  const AuditModel model = build_audit(s);
  CHECK(model.note.find("'stored'") != std::string::npos);
  CHECK(model.note.find("'solver #1'") != std::string::npos);
  if (s.content().entry()->verdict.valid()) CHECK(audit_markdown_of(s).find("| solved |") != std::string::npos);
}

TEST_CASE("of a kernel of our own the audit is the checker's word on the shown schedule", "[app]") {
  Session s(Environment{});
  CHECK(build_audit(s).lines.empty());
  s.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  const AuditModel model = build_audit(s);
  CHECK_FALSE(model.of_dump);
  CHECK(line_about(model, "is what its order sustains"));
  CHECK(audit_command(s).empty());
}

TEST_CASE("a stored schedule goes back unchanged byte for byte, and a changed one changes its loop", "[app]") {
  const Folder folder;
  Opened s(scores());
  s.apply(Export{ExportKind::DumpGraph, folder.file("same.json")});
  CHECK(read(folder.file("same.json")) == read(scores()));
  s.apply(Export{ExportKind::JointSolution, folder.file("no.json")});
  CHECK(s.error());
  CHECK_FALSE(fs::exists(folder.file("no.json")));
  s.apply(DismissError{});
  Schedule later = s.content().entry()->schedule;
  for (Placement& p : later.ops) p.start += later.ii;
  s.apply(AdoptSchedule{later, "later"});
  s.apply(Export{ExportKind::DumpGraph, folder.file("later.json")});
  CHECK(read(folder.file("later.json")) != read(scores()));
  Opened again(folder.file("later.json"));
  CHECK(again.content().entry()->schedule.ii == later.ii);
  s.apply(ShowPart{{{}, {}, "issue-slots"}});
  CHECK(why_not_back(s.content(), ExportKind::DumpGraph).find("full reading") != std::string::npos);
  Opened graph(dump("scores.ddg.json"));
  CHECK(why_not_back(graph.content(), ExportKind::DumpGraph).find("no place for a schedule") != std::string::npos);
}

TEST_CASE("another dump of the same ops is added to be compared, one of other ops replaces what is open", "[app]") {
  const Folder folder;
  Opened s(scores());
  const std::string copy = folder.write("second.json", read(scores()));
  s.apply(OpenFile{copy});
  REQUIRE(s.content().schedules.size() == 2);
  CHECK(s.content().source->path() == scores());
  CHECK(s.content().baseline == std::size_t{1});
  CHECK(s.content().schedules[1]->name == "second.json");
  CHECK(s.view().notice.find("close first") != std::string::npos);
  s.apply(Undo{});
  CHECK(s.content().schedules.size() == 1);
  s.apply(OpenFile{dump("flat.schedule_graph.json")});
  CHECK(s.content().source->path() == dump("flat.schedule_graph.json"));
}

TEST_CASE("a machine of ours is refused for a dump, with the reason", "[app]") {
  Opened s(scores());
  s.apply(OpenMachine{"h100"});
  REQUIRE(s.error());
  CHECK(to_string(s.error()->error).find("no shapes") != std::string::npos);
  CHECK(s.content().dump());
  s.apply(DismissError{});
  s.apply(OpenKernel{"gemm_hopper"});
  CHECK_FALSE(s.error());
  CHECK_FALSE(s.content().dump());
  CHECK_FALSE(s.content().machine);
}

TEST_CASE("a project of a dump comes back as one", "[app]") {
  const Folder folder;
  Opened s(scores() + "#0,issue-slots");
  s.apply(SaveProject{folder.file("a.heddle.json")});
  CHECK_FALSE(s.error());
  Opened again(folder.file("a.heddle.json"));
  REQUIRE(again.content().dump());
  CHECK(again.content().dump()->reading() == dump::DumpReading::IssueSlots);
  CHECK(again.content().schedules.size() == 1);
  CHECK_FALSE(again.projects().unsaved());
}

TEST_CASE("damaged dumps are refused with the place, and what is open stays", "[app]") {
  const Folder folder;
  Opened s(scores());
  const std::string whole = read(scores());
  const auto damaged = [&](const char* from, const char* to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(from).size(), to);
    return folder.write("bad.json", text);
  };
  for (const std::string& path :
       {damaged("\"II\": 500", "\"II\": -1"), damaged("\"src\": 0", "\"src\": 99"), damaged("\"loops\"", "\"loop\""),
        folder.write("cut.json", whole.substr(0, whole.size() / 2)), scores() + "#9", scores() + "#nonsense"}) {
    INFO(path);
    s.apply(OpenFile{path});
    REQUIRE(s.error());
    CHECK_FALSE(s.error()->error.faults.front().message.empty());
    CHECK(s.content().source->path() == scores());
    s.apply(DismissError{});
  }
}

TEST_CASE("the emitter's demands become constraints, once", "[app]") {
  Opened s(scores());
  const std::size_t open = s.sources().open_emitter_rules().size();
  REQUIRE(open > 0);
  s.apply(DemandEmitterRules{});
  CHECK(s.content().constraints.size() == open);
  CHECK(s.sources().open_emitter_rules().empty());
  s.apply(DemandEmitterRules{});
  CHECK(s.content().constraints.size() == open);
  s.apply(Undo{});
  CHECK(s.content().constraints.empty());
}
