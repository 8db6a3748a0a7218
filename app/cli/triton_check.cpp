#include "app/cli/triton_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/solving.h"
#include "app/command/exit_code.h"
#include "app/jobs/triton_return.h"
#include "core/analysis/period.h"
#include "core/answers/summary.h"
#include "core/base/json.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostCounted = 16;  ///< loops; of more, dependences are not counted

struct JudgedLoop {
  const triton::LoopSite* loop = nullptr;
  std::size_t dependences = 0;  ///< 0: its graph is not known
  std::vector<triton::RuleViolation> violations;
};

/// The loop that is named; else all that are scheduled, and where none is, the one that Triton would begin with.
Result<std::vector<const triton::LoopSite*>> loops_to_judge(const triton::TritonProgram& program, const triton::TextAddress& address) {
  std::vector<const triton::LoopSite*> loops;
  for (const triton::LoopSite& loop : program.loops)
    if (address.loop ? loop.number == *address.loop : loop.scheduled) loops.push_back(&loop);
  if (address.loop && loops.empty()) {
    const Result<const triton::LoopSite*> found = triton::find_loop(program, address);
    if (!found) return found.error();
    loops.push_back(*found);
  }
  if (loops.empty() && triton::usual_loop(program)) loops.push_back(triton::usual_loop(program));
  return loops;
}

std::vector<JudgedLoop> judge(const TritonText& text, const std::vector<const triton::LoopSite*>& loops, const Machine& machine) {
  const triton::TritonProgram& program = **text.program();
  std::vector<JudgedLoop> judged;
  std::vector<std::vector<triton::RuleViolation>> broken = triton::broken_rules(program, loops, machine);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    JudgedLoop& now = judged.emplace_back();
    const triton::LoopSite* loop = now.loop = loops[i];
    now.violations = std::move(broken[i]);
    if (loop->why_not.empty() && loops.size() <= kMostCounted)
      if (const auto& native = text.loop(*loop).by(triton::TextReading::Triton)) now.dependences = (*native)->edges;
  }
  return judged;
}

std::string place_of(const triton::LoopSite& loop) {
  return loop.line > 0 ? fmt::format("loop #{} at line {}", loop.number, loop.line) : fmt::format("loop #{}", loop.number);
}

std::string in_order_line(const JudgedLoop& judged) {
  const triton::LoopSite& loop = *judged.loop;
  if (!loop.scheduled) return fmt::format("nothing to judge but memory, and that is in order: {} has no stages", place_of(loop));
  std::string counts = fmt::format("{} families, {}", kTritonRules, count_of(static_cast<std::int64_t>(loop.ops), "op"));
  if (judged.dependences > 0) counts += ", " + count_of(static_cast<std::int64_t>(judged.dependences), "dependence");
  return fmt::format("in order by Triton's rules: {} ({})", place_of(loop), counts);
}

Json violation_json(const triton::LoopSite& loop, const triton::RuleViolation& broken) {
  return Json::object()
      .set("rule", triton::to_string(broken.rule))
      .set("loop", loop.number)
      .set("line", broken.line > 0 ? Json(broken.line) : Json())
      .set("message", broken.message);
}

Json json_of(const triton::TritonProgram& program, const Machine& machine, const std::vector<JudgedLoop>& judged) {
  Json root = Json::object(), loops = Json::array(), all = Json::array();
  bool valid = true;
  for (const JudgedLoop& one : judged) {
    Json violations = Json::array();
    for (const triton::RuleViolation& broken : one.violations) {
      violations.push(violation_json(*one.loop, broken));
      all.push(violation_json(*one.loop, broken));
      valid = false;
    }
    loops.push(Json::object()
                   .set("loop", one.loop->number)
                   .set("line", one.loop->line)
                   .set("scheduled", one.loop->scheduled)
                   .set("ops", one.loop->ops)
                   .set("violations", std::move(violations)));
  }
  root.set("kernel", program.kernel).set("form", triton::to_string(program.form)).set("machine", machine.name).set("valid", valid);
  return root.set("violations", std::move(all)).set("loops", std::move(loops));
}

/// What check says of any schedule, of Triton's own: where the model can run it. False: a demand of the command line is broken.
bool say_by_model(const Arguments& arguments, const Terminal& terminal) {
  const Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) {
    for (const Fault& fault : inputs.error().faults) terminal.note("by the model nothing can be said: " + to_string(fault));
    return true;
  }
  const Schedule& schedule = *inputs->schedule;
  const Verdict verdict = check(inputs->problem(), schedule, inputs->constraints);
  const Period period = sustainable_period(inputs->problem(), schedule);
  terminal.out << fmt::format("by the model of {}: ", printable(inputs->machine().name)) << verdict_summary(verdict);
  terminal.out << join_facts({fmt::format("II {}", schedule.ii),
                              period.deadlock ? "deadlocks" : fmt::format("sustainable period {}", period.cycles())},
                             terminal.style)
               << "\n";
  if (!period.sentence.empty()) terminal.out << printable(period.sentence) << "\n";
  return verdict.valid() || (!arguments.has("--demand") && !arguments.has("--constraints"));
}

}  // namespace

bool checks_text(const Arguments& arguments) {
  const TritonText* text = arguments.source()->triton();
  return text && arguments.text("SCHEDULE") == text->name() && text->said() == triton::TextReading::Triton;
}

int check_text(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string kernel = *arguments.text("KERNEL"), given = *arguments.text("MACHINE");
  const TritonText& text = *arguments.source()->triton();
  const TritonText::SharedProgram read = text.program();
  if (!read) return report(terminal, read.error(), json);
  const triton::TritonProgram& program = **read;
  std::vector<Fault> warnings;
  const Result<Machine> machine = given == kernel ? Result<Machine>(limits_of_target(program)) : load_machine(given, &warnings);
  print_warnings(terminal, warnings);
  if (!machine) return report(terminal, machine.error(), json);
  const Result<std::vector<const triton::LoopSite*>> loops = loops_to_judge(program, *text.address());
  if (!loops) return report(terminal, loops.error(), json);
  const std::vector<JudgedLoop> judged = judge(text, *loops, *machine);
  const bool valid = std::all_of(judged.begin(), judged.end(), [](const JudgedLoop& one) { return one.violations.empty(); });
  if (json) {
    terminal.out << json_of(program, *machine, judged).pretty();
    return valid ? kDone : kNegative;
  }
  if (judged.empty())
    terminal.out << fmt::format("nothing to judge: {}\n",
                                program.loops.empty() ? "the kernel has no loop" : printable(program.loops.front().why_not));
  for (const JudgedLoop& one : judged) {
    if (one.violations.empty()) terminal.out << in_order_line(one) << "\n";
    for (const triton::RuleViolation& broken : one.violations) terminal.out << printable(in_words(broken)) << "\n";
  }
  if (!valid) {
    terminal.note("Triton verifies none of this: it would compile the text without a word, or run into an assertion of its own");
    return kNegative;
  }
  const bool scheduled = std::any_of(judged.begin(), judged.end(), [](const JudgedLoop& one) { return one.loop->scheduled; });
  if (!scheduled || terminal.quiet) return kDone;
  return say_by_model(arguments, terminal) ? kDone : kNegative;
}

std::string give_back_line(const CommandInputs& inputs, const Schedule& schedule) {
  if (!inputs.triton() || inputs.triton()->reading() != triton::TextReading::Triton) return {};
  const Result<triton::GivenBack> given = give_back(*inputs.triton()->lowered(), inputs.problem(), schedule, inputs.machine());
  if (!given) return "cannot be given back to Triton: " + given.error().faults.front().message;
  return given->changed == 0 ? std::string("given back to Triton it changes nothing")
                             : fmt::format("can be given back to Triton: {} would be changed (heddle export --format ttgir)",
                                           count_of(static_cast<std::int64_t>(given->changed), "op"));
}

}  // namespace heddle::app
