#include "app/session/way_back.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/jobs/triton_return.h"
#include "app/session/triton_origins.h"
#include "core/base/scanner.h"
#include "core/base/text_style.h"
#include "core/dump/export.h"
#include "core/library/dump_text.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/back/rotated.h"

namespace heddle::app {
namespace {

/// "70" of "70" and of "70:5"; 0 where there is none.
int line_of(std::string_view pointer) { return number_in_front<int>(pointer); }

std::vector<OpId> ops_at(const Content& content, int line) {
  const OpId op = line > 0 ? op_at_line(*content.triton(), *content.problem, line) : OpId();
  return op.valid() ? std::vector{op} : std::vector<OpId>();
}

/// The line that a sentence names: "... (tt.load, line 70): ...".
int line_in(const std::string& sentence) {
  constexpr std::string_view kLine = "line ";
  const std::size_t at = sentence.find(kLine);
  return at == std::string::npos ? 0 : line_of(std::string_view(sentence).substr(at + kLine.size()));
}

/// The order of Triton's own is judged by Triton's rules alone: the model may not know how to run it.
bool is_tritons_own(const Content& content) {
  const ScheduleEntry& entry = *content.entry();
  return entry.name == row_name(triton::Whose::Tritons) && entry.file.empty() && content.triton()->site()->scheduled;
}

std::string why_nothing(const Content& content) {
  if (!content.triton() || content.triton()->undecided()) return "no Triton kernel is open";
  if (!content.kernel || !content.problem || !content.machine) return "there is no loop to schedule";
  if (content.triton()->reading() != triton::TextReading::Triton)
    return "a schedule of the free reading is more than Triton's passes can be told; choose one of Triton's reading";
  if (!content.entry()) return "there is no schedule yet";
  if (content.entry()->running) return "the solver is still at work on it";
  return {};
}

}  // namespace

WayBack way_back(const Content& content) {
  WayBack way;
  way.why_not = why_nothing(content);
  if (!way.why_not.empty()) return way;
  const TritonText::Lowered& lowered = *content.triton()->lowered();
  const triton::TritonProgram& program = lowered.loop.program();
  const ScheduleEntry& entry = *content.entry();
  way.before = triton::memory_of(program);
  const bool own = is_tritons_own(content);
  if (!own)
    for (const Violation& v : entry.verdict.violations) way.broken.push_back({v.family + ": " + printable(v.message), v.ops, 0});
  if (!way.broken.empty()) return way;
  Result<triton::GivenBack> given = own ? own_given_back(program, lowered.loop.site(), *content.machine)
                                        : give_back(lowered, *content.problem, entry.schedule, *content.machine);
  if (!given) {
    for (const Fault& fault : given.error().faults) {
      const int line = line_of(fault.pointer);
      way.broken.push_back({printable(fault.message), ops_at(content, line), line});
    }
    return way;
  }
  for (const std::string& change : given->changes) {
    const int line = line_in(change);
    const std::vector<OpId> ops = ops_at(content, line);
    way.changes.push_back({printable(change), ops.empty() ? OpId() : ops.front(), line});
  }
  way.given = *std::move(given);
  return way;
}

std::string why_no_way_back(const Content& content) {
  if (std::string reason = why_nothing(content); !reason.empty()) return reason;
  const ScheduleEntry& entry = *content.entry();
  return entry.verdict.valid() || is_tritons_own(content) ? "" : "it breaks a rule: " + printable(entry.verdict.violations.front().message);
}

std::string why_not_given(const WayBack& way) {
  if (!way.why_not.empty()) return way.why_not;
  return way.broken.empty() ? "" : way.broken.front().text;
}

Result<std::string> rotated_python(const Content& content) {
  if (!content.triton() || !content.triton()->site()) return Error::input("no loop of a Triton kernel is open");
  const TritonText::SharedProgram read = content.triton()->program();
  const triton::TritonProgram& program = **read;
  const triton::LoopSite& loop = *content.triton()->site();
  const std::string found = find_source_file(*content.triton(), triton::python_file(program, loop));
  const Result<triton::PythonSource> python = triton::read_python(program, loop, found);
  if (!python) return python.error();
  const Result<triton::RotatedLoop> rotated = triton::rotated_loop(program, loop, *python);
  if (!rotated) return rotated.error();
  return rotated->text;
}

namespace {

/// Best first: legal ones by II, the shown one before others as good.
std::vector<Schedule> variants_of(const Content& content) {
  std::vector<const ScheduleEntry*> entries;
  for (const EntryPtr& entry : content.schedules)
    if (!entry->running && entry->verdict.valid()) entries.push_back(entry.get());
  std::stable_sort(entries.begin(), entries.end(), [&](const ScheduleEntry* a, const ScheduleEntry* b) {
    return std::pair(a->schedule.ii, a != content.entry()) < std::pair(b->schedule.ii, b != content.entry());
  });
  std::vector<Schedule> schedules;
  for (const ScheduleEntry* entry : entries) schedules.push_back(entry->schedule);
  return schedules;
}

std::string why_not_into_dump(const Content& content, ExportKind kind) {
  if (!content.dump()) return "what is open is no compiler's dump";
  const dump::Format format = content.dump()->the_dump().format;
  const bool joint = format == dump::Format::JointCycles || format == dump::Format::JointGroups,
             wants_joint = kind == ExportKind::JointSolution;
  if (wants_joint && !joint) return fmt::format("a {} file poses no joint-solver problem", to_string(format));
  if (!wants_joint && format != dump::Format::ScheduleGraph)
    return fmt::format("a {} file has no place for a schedule; open the schedule_graph of the same run", to_string(format));
  if (!wants_joint && content.dump()->reading() != dump::DumpReading::Full)
    return "issue slots know no warp groups: choose the full reading";
  return content.entry() ? "" : "there is no schedule yet";
}

Result<std::string> ttgir_text(const Content& content) {
  WayBack way = way_back(content);
  if (way.given) return std::move(way.given->text);
  Error error = Error::input(why_not_given(way));
  for (std::size_t i = 1; i < way.broken.size(); ++i) error.faults.push_back({"", "", way.broken[i].text, ""});
  return error;
}

}  // namespace

bool goes_back(ExportKind kind) { return kind >= ExportKind::DumpGraph; }

std::string why_not_back(const Content& content, ExportKind kind) {
  if (kind == ExportKind::Ttgir) return why_no_way_back(content);
  if (kind == ExportKind::Python) return content.triton() ? "" : "no Triton kernel is open";
  return why_not_into_dump(content, kind);
}

Result<std::string> text_for_compiler(const Content& content, ExportKind kind) {
  if (kind == ExportKind::Ttgir) return ttgir_text(content);
  if (kind == ExportKind::Python) return rotated_python(content);
  if (const std::string reason = why_not_into_dump(content, kind); !reason.empty()) return Error::input(reason);
  const DumpText& text = *content.dump();
  const dump::Dump& dump = text.the_dump();
  const auto loop = static_cast<std::size_t>(&text.the_loop() - dump.loops.data());
  const Schedule& shown = content.entry()->schedule;
  if (kind == ExportKind::JointSolution) return dump::export_joint_solution(dump, *content.problem, shown);
  if (kind == ExportKind::DumpGraph) return dump::export_schedule_graph(text.text(), dump, loop, *content.problem, shown);
  const std::vector<Schedule> variants = variants_of(content);
  if (variants.empty()) return Error::input("no schedule of the list is legal, and only legal ones become variants", "solve first");
  return dump::export_variants(text.text(), dump, loop, *content.problem, variants);
}

}  // namespace heddle::app
