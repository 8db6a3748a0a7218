#include "app/session/triton_way_back.h"

#include <fmt/format.h>

#include <charconv>

#include "app/jobs/triton_return.h"
#include "app/session/triton_source.h"
#include "core/base/text_style.h"
#include "core/triton/back/rotated.h"

namespace heddle::app {
namespace {

/// "70" of "70" and of "70:5"; 0 where there is none.
int line_of(std::string_view pointer) {
  int line = 0;
  std::from_chars(pointer.data(), pointer.data() + pointer.size(), line);
  return line;
}

std::vector<OpId> ops_at(const Content& content, int line) {
  const OpId op = line > 0 ? op_at_line(*content.triton, *content.problem, line) : OpId();
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
  return entry.name == row_name(triton::Whose::Tritons) && entry.file.empty() && content.triton->the_loop()->scheduled;
}

std::string why_nothing(const Content& content) {
  if (!content.triton || !content.triton->program) return "no Triton kernel is open";
  if (!content.kernel || !content.problem || !content.machine) return "there is no loop to schedule";
  if (content.triton->reading != triton::Reading::Triton)
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
  const TritonSource& source = *content.triton;
  const triton::Program& program = *source.program;
  const ScheduleEntry& entry = *content.entry();
  way.before = triton::memory_of(program);
  const bool own = is_tritons_own(content);
  if (!own)
    for (const Violation& v : entry.verdict.violations) way.broken.push_back({v.family + ": " + printable(v.message), v.ops, 0});
  if (!way.broken.empty()) return way;
  Result<triton::GivenBack> given =
      own ? own_given_back(program, *source.the_loop(), *content.machine)
          : triton::give_back(program, *source.the_loop(), *source.native, *content.problem, entry.schedule, *content.machine);
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
  if (!content.triton || !content.triton->program || !content.triton->the_loop()) return Error::input("no loop of a Triton kernel is open");
  const triton::Program& program = *content.triton->program;
  const triton::LoopSite& loop = *content.triton->the_loop();
  const std::string found = find_source_file(*content.triton, triton::python_file(program, loop));
  const Result<triton::PythonSource> python = triton::read_python(program, loop, found);
  if (!python) return python.error();
  const Result<triton::RotatedLoop> rotated = triton::rotated_loop(program, loop, *python);
  if (!rotated) return rotated.error();
  return rotated->text;
}

}  // namespace heddle::app
