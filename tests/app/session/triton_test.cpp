// Triton kernels in the session: opened, read two ways, three schedules side by side, lines of their source, audit.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "app/session/files.h"
#include "app/session/open_place.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "app/session/source_document.h"
#include "app/session/sweep_state.h"
#include "app/session/texts.h"
#include "app/session/triton_origins.h"
#include "app/session/triton_state.h"
#include "app/session/way_back.h"
#include "app/window/chart/three_model.h"
#include "app/window/parts/header_model.h"
#include "app/window/parts/triton_op_model.h"
#include "app/window/parts/ttgir_tokens.h"
#include "app/window/tabs/audit/audit_model.h"
#include "app/window/tabs/triton/triton_model.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }
std::string gemm() { return text_of("gemm_descriptors.sm90.scheduled.ttgir"); }
std::string attention() { return text_of("attention_forward.sm90.scheduled.ttgir"); }

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_triton_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return file(name);
  }
};

Environment without_comparison() {
  Environment environment;
  environment.triton.compare = nullptr;
  return environment;
}

struct Opened : Session {
  explicit Opened(const std::string& path, Environment environment = without_comparison()) : Session(std::move(environment)) {
    apply(OpenFile{path});
    if (error()) FAIL(to_string(error()->error));
  }
  void settle() {
    pump();  // which may begin it
    REQUIRE(test::wait_until([&] { return !triton().active(); }, [&] { pump(); }));
    pump();
  }
};

#ifdef HEDDLE_HAS_SOLVER
Environment with_comparison() { return Environment{}; }
const std::vector<triton::Whose> kAll(triton::kAllWhose.begin(), triton::kAllWhose.end());
#endif

}  // namespace

TEST_CASE("a Triton text opens on the machine of its target, read as Triton's passes can run it", "[app]") {
  Opened s(gemm());
  REQUIRE(s.content().triton());
  REQUIRE(s.content().problem);
  CHECK(s.content().machine->name == "h100");
  CHECK(s.content().triton()->reading() == triton::TextReading::Triton);
  CHECK(build_header(s).subject.find("h100") != std::string::npos);
  CHECK(build_header(s).bound.find("reading: Triton's") != std::string::npos);
  CHECK(s.settings().recent.front() == gemm());
  CHECK(s.view().tab == BottomTab::Triton);
  CHECK(s.view().chart_view == ChartView::Three);
  const SourceOutline model = s.content().source->outline();
  CHECK(model.format.find("sm_90") != std::string::npos);
  CHECK(model.offers.empty());
  REQUIRE(model.readings.size() == 2);
  CHECK(model.readings[0].current);
}

TEST_CASE("a text is opened as a kernel, as a pair with another machine, and by its reading", "[app]") {
  Session s(without_comparison());
  s.apply(OpenKernel{gemm()});
  REQUIRE(s.content().triton());
  s.apply(OpenPair{gemm(), "h200", false});
  REQUIRE(s.content().machine);
  CHECK(s.content().machine->name == "h200");
  s.apply(OpenFile{gemm() + "#free"});
  REQUIRE(s.content().triton());
  CHECK(s.content().triton()->reading() == triton::TextReading::Free);
  CHECK(s.content().constraints.empty());
}

TEST_CASE("the reading changes as a step of undo, and what was found stays where it was", "[app]") {
  Opened s(gemm());
  const auto problem = s.content().problem;
  s.apply(AddNote{{"mine", {}, 10}});
  s.apply(ShowPart{{{}, {}, "free"}});
  REQUIRE_FALSE(s.error());
  CHECK(s.content().triton()->reading() == triton::TextReading::Free);
  CHECK(s.content().problem != problem);
  CHECK(s.content().notes.empty());
  s.apply(ShowPart{{{}, {}, "triton"}});
  CHECK(s.content().problem == problem);
  CHECK(s.content().notes.size() == 1);
  s.apply(Undo{});
  CHECK(s.content().triton()->reading() == triton::TextReading::Free);
  s.apply(Undo{});
  CHECK(s.content().problem == problem);
  s.apply(ShowPart{{{}, 77, {}}});
  CHECK(s.error());
}

TEST_CASE("the machine changes and everything is resolved again on it", "[app]") {
  Opened s(gemm());
  const auto problem = s.content().problem;
  s.apply(SwitchMachine{"h200", true});
  REQUIRE_FALSE(s.error());
  CHECK(s.content().machine->name == "h200");
  REQUIRE(s.content().problem);
  CHECK(s.content().problem != problem);
  CHECK(s.content().triton());
  s.apply(Undo{});
  CHECK(s.content().machine->name == "h100");
  CHECK(s.content().problem == problem);
}

TEST_CASE("a text without anything to schedule opens with its sentence and its audit", "[app]") {
  for (const char* name : {"swiglu_elementwise.sm90.scheduled.ttgir", "gemm_pointers.sm80.scheduled.ttgir"}) {
    INFO(name);
    Session s(without_comparison());
    s.apply(OpenFile{text_of(name)});
    REQUIRE(s.content().triton());
    if (!s.content().kernel) {
      CHECK_FALSE(why_no_kernel(*s.content().source).empty());
      CHECK(build_header(s).ii == "no II");
    } else {
      CHECK_FALSE(s.view().notice.empty());  // there is no machine for its target
    }
    CHECK_FALSE(build_audit(s).headline.empty());
    CHECK_FALSE(s.solving().why_no_solve().empty());
    s.apply(ShowPart{{{}, {}, "free"}});
    s.apply(ShowSide{triton::Whose::BestOfMachine});
    s.apply(CompareTriton{});
    s.apply(CloseDocument{});
    CHECK_FALSE(s.content().triton());
  }
}

TEST_CASE("what cannot be read is an error, and what was open stays", "[app]") {
  const Folder folder;
  Opened s(gemm());
  s.apply(OpenFile{folder.write("broken.ttgir", "module {\n  tt.func @f( {\n")});
  CHECK(s.error());
  CHECK(s.content().source->path() == gemm());
}

TEST_CASE("a log offers its passes, and a folder its kernels to choose from", "[app]") {
  const Folder folder;
  Session s(without_comparison());
  s.apply(OpenFile{text_of("attention_forward_ws.sm100.mlir-enable-dump.log")});
  REQUIRE_FALSE(s.error());
  REQUIRE(s.content().triton());
  const SourceOutline log = s.content().source->outline();
  REQUIRE(log.offers.size() > 1);
  CHECK(std::count_if(log.offers.begin(), log.offers.end(), [](const SourceChoice& c) { return c.current; }) == 1);
  const auto other = std::find_if(log.offers.begin(), log.offers.end(), [](const SourceChoice& c) { return !c.current; });
  s.apply(ShowPart{*other->part});
  REQUIRE(s.content().triton());
  CHECK(s.content().source->outline().offers[static_cast<std::size_t>(other - log.offers.begin())].current);

  for (const char* name : {"gemm_descriptors.sm90.final.ttgir", "attention_forward.sm90.final.ttgir"}) {
    fs::create_directories(folder.path / "cache" / name);
    fs::copy_file(text_of(name), folder.path / "cache" / name / "kernel.ttgir");
  }
  s.apply(OpenFile{folder.file("cache")});
  REQUIRE_FALSE(s.error());
  REQUIRE(s.content().triton());
  CHECK(s.content().source->undecided());
  const SourceOutline kernels = s.content().source->outline();
  REQUIRE(kernels.offers.size() == 2);
  s.apply(ShowPart{*kernels.offers[0].part});
  CHECK_FALSE(s.content().source->undecided());
}

TEST_CASE("an op leads to its names, to its line in the text and to its line of Python", "[app]") {
  const Folder folder;
  fs::copy_file(attention(), folder.path / "a.ttgir");
  std::string python;
  for (int line = 1; line <= 140; ++line) python += "    line_" + std::to_string(line) + "\n";
  folder.write("kernels.py", python);
  Opened s(folder.file("a.ttgir"));
  const Problem& problem = *s.content().problem;
  const TritonText& source = *s.content().triton();
  std::size_t known = 0;
  for (const Op& op : problem.ops) {
    const TritonOpModel model = describe_triton_op(source, op.name);
    if (model.names.empty()) continue;
    ++known;
    CHECK(model.text_line > 0);
    if (model.line > 0 && model.line <= 140) {
      CHECK(model.place == "kernels.py:" + std::to_string(model.line));
      CHECK(model.code == "line_" + std::to_string(model.line));
    }
    CHECK(op_at_line(source, problem, model.text_line).valid());
  }
  CHECK(known >= problem.ops.size() / 2);
  // The same in the other reading, whose ops are parts of those.
  s.apply(ShowPart{{{}, {}, "free"}});
  std::size_t parts = 0;
  for (const Op& op : s.content().problem->ops) parts += describe_triton_op(*s.content().triton(), op.name).names.empty() ? 0 : 1;
  CHECK(parts >= s.content().problem->ops.size() / 2);
}

TEST_CASE("a place is opened in the person's editor where there is one, and goes to the clipboard in any case", "[app]") {
  const Folder folder;
  fs::copy_file(attention(), folder.path / "a.ttgir");
  folder.write("kernels.py", "x\n");
  std::string opened;
  Environment environment = without_comparison();
  environment.open_place = [&](const std::string& file, int line) -> Result<Ok> {
    opened = file + ":" + std::to_string(line);
    return Ok{};
  };
  Opened s(folder.file("a.ttgir"), std::move(environment));
  s.apply(OpenPlace{"kernels.py", 12});
  CHECK(opened == folder.file("kernels.py") + ":12");
  CHECK(s.view().clipboard == std::optional<std::string>("kernels.py:12"));
  opened.clear();
  s.apply(OpenPlace{"elsewhere.py", 3});
  CHECK(opened.empty());
  CHECK(s.view().notice.find("not here") != std::string::npos);
}

TEST_CASE("editors are told the line in their own way, and a terminal's editor is left to the desktop", "[app]") {
  CHECK(editor_words("code --wait", "/a/b.py", 7) == std::vector<std::string>{"code", "-g", "/a/b.py:7"});
  CHECK(editor_words("/usr/bin/kate", "/a/b.py", 7) == std::vector<std::string>{"/usr/bin/kate", "-l", "7", "/a/b.py"});
  CHECK(editor_words("gvim", "/a/b.py", 0) == std::vector<std::string>{"gvim", "+1", "/a/b.py"});
  CHECK(editor_words("vim", "/a/b.py", 7) == std::vector<std::string>{"xdg-open", "/a/b.py"});
  CHECK(editor_words("", "/a/b.py", 7) == std::vector<std::string>{"xdg-open", "/a/b.py"});
}

TEST_CASE("colours of a text lie in order, apart, and inside it", "[app]") {
  for (const std::string& text :
       {std::string("%a, %b:2 = \"tt.reduce\"(%x) <{axis = 1 : i32}> {loop.cluster = 2 : i32, loop.stage = 0 : i32} loc(#loc3)\n"),
        std::string("\"open"), std::string("%"), std::string("%a::"), std::string("\"a\\"), std::string("12x3xf16")}) {
    std::size_t end = 0;
    for (const TtgirToken& token : ttgir_tokens(text)) {
      INFO(text);
      CHECK(token.begin >= end);
      CHECK(token.end > token.begin);
      CHECK(token.end <= text.size());
      end = token.end;
    }
  }
}

TEST_CASE("what makes no sense for a Triton text is refused with its reason", "[app]") {
  Opened s(gemm());
  CHECK_FALSE(s.texts().why_no_edit(SourceOf::Kernel).empty());
  CHECK(s.texts().why_no_edit(SourceOf::Machine).empty());
  CHECK_FALSE(s.sweep().why_no_tune().empty());
  CHECK_FALSE(s.why_no_question(Topic::Family).empty());
  CHECK(s.projects().why_no_save().empty());
}

TEST_CASE("the audit's findings come by weight, and those about loads point at their ops", "[app]") {
  Opened s(text_of("gemm_pointers.sm90.scheduled.ttgir"));
  REQUIRE(s.content().problem);
  const AuditModel audit = build_audit(s);
  REQUIRE_FALSE(audit.lines.empty());
  bool pointed = false;
  for (const AuditLine& line : audit.lines) pointed = pointed || !line.shown.ops.empty();
  CHECK(pointed);
  CHECK(audit_markdown_of(s).find('|') != std::string::npos);
  CHECK(audit_command(s).find("heddle audit") == 0);
  CHECK(audit_command(s).find("h100") != std::string::npos);
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("the three schedules come side by side: rows, chart, prices", "[app]") {
  Opened s(gemm(), with_comparison());
  REQUIRE(s.content().entry());  // at once, before anything was solved
  CHECK(s.content().entry()->name == row_name(triton::Whose::Tritons));
  CHECK(s.content().entry()->verdict.valid());
  CHECK(build_triton_tab(s).rows.empty());
  s.settle();
  const TritonModel model = build_triton_tab(s);
  REQUIRE(model.rows.size() == 3);
  CHECK(model.faults.empty());
  CHECK_FALSE(model.prices.empty());
  CHECK_FALSE(model.options.empty());
  for (const TritonRow& row : model.rows) CHECK(row.there);
  CHECK(model.rows[0].shown);
  CHECK_FALSE(s.projects().worth_asking());  // opening it again finds all of it
  CHECK(s.content().baseline_entry());
  CHECK(s.content().baseline_entry()->name == row_name(triton::Whose::BestOfTriton));
  const auto three = build_three(s);
  REQUIRE(three);
  CHECK(three->charts.size() == 3);
  CHECK(three->live == 0);
  CHECK_FALSE(three->charts[2].gantt.bars.empty());
  CHECK(triton_tsv(model).find("num_stages") != std::string::npos);
}

TEST_CASE("each of the three is shown by the reading that it belongs to, as a step of undo", "[app]") {
  Opened s(gemm(), with_comparison());
  s.settle();
  s.apply(ShowSide{triton::Whose::BestOfTriton});
  CHECK(s.content().entry()->name == row_name(triton::Whose::BestOfTriton));
  CHECK(build_three(s)->live == 1);
  s.apply(ShowSide{triton::Whose::BestOfMachine});
  CHECK(s.content().triton()->reading() == triton::TextReading::Free);
  REQUIRE(s.content().entry());
  CHECK(s.content().entry()->name == row_name(triton::Whose::BestOfMachine));
  CHECK(s.content().entry()->verdict.valid());
  REQUIRE(build_three(s));
  CHECK(build_three(s)->live == 2);
  s.apply(Undo{});
  CHECK(s.content().triton()->reading() == triton::TextReading::Triton);
  CHECK(s.content().entry()->name == row_name(triton::Whose::BestOfTriton));
  s.apply(Redo{});
  CHECK(s.content().triton()->reading() == triton::TextReading::Free);
  s.apply(ShowSide{triton::Whose::Tritons});
  CHECK(s.content().entry()->name == row_name(triton::Whose::Tritons));
  CHECK_FALSE(s.triton().active());  // nothing of this is asked again
}

TEST_CASE("after a number is changed the three are not drawn, and each is still one click away", "[app]") {
  Opened s(gemm(), with_comparison());
  s.settle();
  const auto change = parse_change("TC.capacity=2", *s.content().kernel, *s.content().machine);
  REQUIRE(change);
  s.apply(SetChange{*change, false});
  CHECK_FALSE(build_three(s));
  s.apply(ShowSide{triton::Whose::BestOfMachine});
  REQUIRE(build_three(s));
  s.apply(Undo{});
  CHECK_FALSE(s.content().changes.empty());
}

TEST_CASE("a comparison is cancelled, and begun again only when asked", "[app]") {
  Opened s(attention(), with_comparison());
  s.pump();
  REQUIRE(s.triton().active());
  s.apply(CancelTriton{});
  CHECK_FALSE(s.triton().active());
  for (int i = 0; i < 5; ++i) s.pump();
  CHECK_FALSE(s.triton().active());
  CHECK(build_triton_tab(s).cancelled);
  s.apply(CompareTriton{});
  CHECK(s.triton().active());
  s.apply(CloseDocument{});
  s.pump();
  CHECK_FALSE(s.triton().active());
}

TEST_CASE("another machine asks about all three again, and the way back costs nothing", "[app]") {
  Opened s(gemm(), with_comparison());
  s.settle();
  s.apply(SwitchMachine{"h200", false});
  s.pump();
  CHECK(s.triton().active());
  s.settle();
  s.apply(Undo{});
  s.pump();
  CHECK_FALSE(s.triton().active());
  CHECK(build_triton_tab(s).rows.size() == 3);
}

TEST_CASE("a project of a Triton kernel opens with the text, its rows and its view", "[app]") {
  const Folder folder;
  fs::copy_file(gemm(), folder.path / "gemm.ttgir");
  Opened s(folder.file("gemm.ttgir"), with_comparison());
  s.settle();
  s.apply(SaveProject{folder.file("mine.heddle.json")});
  REQUIRE_FALSE(s.error());
  Session other(without_comparison());
  other.apply(OpenFile{folder.file("mine.heddle.json")});
  if (other.error()) FAIL(to_string(other.error()->error));
  REQUIRE(other.content().triton());
  CHECK(other.content().triton()->reading() == triton::TextReading::Triton);
  CHECK(other.content().schedules.size() == s.content().schedules.size());
  REQUIRE(other.content().entry());
  CHECK(other.content().entry()->name == row_name(triton::Whose::Tritons));
  CHECK(other.content().entry()->verdict.valid());
  CHECK(other.view().chart_view == ChartView::Three);
  CHECK(other.view().notice.empty());
}

TEST_CASE("command lines name the text, its reading and the machine", "[app]") {
  Opened s(gemm(), with_comparison());
  CHECK(s.last_line() == triton_command(s));
  CHECK(triton_command(s).find("heddle compare ") == 0);
  CHECK(triton_command(s).find(" h100") != std::string::npos);
  const std::string shown = shown_as_command(s);
  CHECK(shown.find("heddle show ") == 0);
  CHECK(shown.find(",triton' h100") + shown.find(",triton h100") > 0);
  CHECK(shown.find("--demand") == std::string::npos);
  s.settle();
  s.apply(ShowSide{triton::Whose::BestOfMachine});
  CHECK(s.last_line().find("free") != std::string::npos);
}
#endif

TEST_CASE("a text without a schedule of the triton reading has nothing to give back, and says why", "[app]") {
  CHECK(way_back(Content{}).why_not.find("no Triton kernel") != std::string::npos);
  Opened none(text_of("swiglu_elementwise.sm90.scheduled.ttgir"));
  CHECK_FALSE(way_back(none.content()).why_not.empty());
  Opened s(gemm());
  ShowPart free;
  free.part.reading = "free";
  s.apply(free);
  CHECK(way_back(s.content()).why_not.find("free reading") != std::string::npos);
  const Folder folder;
  s.apply(Export{ExportKind::Ttgir, folder.file("no.ttgir")});
  REQUIRE(s.error());
  CHECK_FALSE(fs::exists(folder.file("no.ttgir")));
  s.apply(DismissError{});
  // The program that this text was made from is not beside it.
  s.apply(Export{ExportKind::Python, folder.file("no.py")});
  REQUIRE(s.error());
  CHECK_FALSE(fs::exists(folder.file("no.py")));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("Triton's own schedule is not held to what a search for its passes obeys", "[app]") {
  for (const char* name : {"attention_forward_ws.sm100.partitioned.ttgir", "attention_forward.sm100.scheduled.ttgir"}) {
    Opened s(text_of(name));
    CAPTURE(name);
    REQUIRE(s.content().entry());
    CHECK(s.content().entry()->verdict.valid());
    // Other demands change nothing about that.
    UserConstraint few;
    few.name = "few stages";
    few.kind = ConstraintKind::MaxStages;
    few.high = 60;
    s.apply(AddConstraint{few});
    REQUIRE(s.content().entry());
    CHECK(s.content().entry()->verdict.valid());
  }
}

TEST_CASE("the chosen schedule goes into the text, or is refused by the rule that it breaks", "[app]") {
  const Folder folder;
  Opened s(attention());
  REQUIRE(s.content().entry());
  const WayBack own = way_back(s.content());
  REQUIRE(own.given);
  CHECK(own.changes.empty());
  CHECK(own.given->text == s.content().triton()->program().value()->module->text);
  s.apply(Export{ExportKind::Ttgir, folder.file("no/such/folder.ttgir")});
  REQUIRE(s.error());
  s.apply(DismissError{});
  // A row of one's own in which the exponentials come before their scores.
  Schedule early = s.content().entry()->schedule;
  const OpId exp = s.content().problem->find_op("p_17");
  REQUIRE(exp.valid());
  early.ops[exp.index()].start = 0;
  early.name = "early";
  s.apply(AdoptSchedule{early, "early"});
  REQUIRE(s.content().entry());
  const WayBack broken = way_back(s.content());
  REQUIRE_FALSE(broken.broken.empty());
  CHECK_FALSE(broken.given);
  CHECK_FALSE(why_not_given(broken).empty());
  s.apply(Export{ExportKind::Ttgir, folder.file("early.ttgir")});
  REQUIRE(s.error());
  CHECK_FALSE(fs::exists(folder.file("early.ttgir")));
}
#endif
