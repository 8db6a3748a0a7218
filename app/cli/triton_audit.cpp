// The audit of a Triton text, with its three schedules at the end.
#include <fmt/format.h>

#include "app/cli/audit_page.h"
#include "app/cli/triton_solving.h"
#include "app/command/interrupt.h"
#include "core/library/triton_text.h"
#include "core/triton/audit/audit.h"

namespace heddle::app {
namespace {

#ifdef HEDDLE_HAS_SOLVER
constexpr double kSecondsPerText = 30;

/// Why the schedules are missing, as a row of the audit.
void say_unsolved(const Error& error, triton::TextAudit& audit) {
  triton::Finding finding{"schedules", triton::Weight::Fine, "the three schedules were not worked out", {}, {}};
  for (const Fault& fault : error.faults) finding.details.push_back(fault.message);
  audit.findings.push_back(std::move(finding));
}
#endif

}  // namespace

Result<AuditPage> audit_of(const TritonText& text, [[maybe_unused]] const Arguments& arguments, const Terminal& terminal,
                           [[maybe_unused]] std::size_t files_left) {
  const TritonText::SharedProgram read = text.program();
  if (!read) return read.error();
  const triton::TritonProgram& program = **read;
  const triton::LoopSite* only = nullptr;
  if (text.address()->loop) {
    // What is wrong with a loop that cannot be scheduled is the audit's to say.
    const Result<triton::LoweredLoop> named = text.loop();
    if (!named) return named.error();
    only = &named->site();
  }
  triton::TextAudit audit = triton::audit(program, limits_of_target(program), only);
  std::optional<triton::Comparison> comparison;
  const triton::LoopSite* loop = only && only->why_not.empty() ? only : only ? nullptr : triton::usual_loop(program);
  AuditPage page;
#ifdef HEDDLE_HAS_SOLVER
  if (!arguments.has("--no-solve") && loop) {
    const InterruptScope interrupt;
    const double seconds =
        arguments.has("--timeout") ? arguments.deadline().left() / static_cast<double>(files_left) : usual_seconds(kSecondsPerText);
    const Result<Machine> machine = text.machine(nullptr);
    Result<triton::Comparison> three = machine ? solve_three({text.loop(*loop), *machine}, arguments, terminal, seconds, interrupt.token())
                                               : Result<triton::Comparison>(machine.error());
    if (three)
      comparison = *std::move(three);
    else
      say_unsolved(three.error(), audit);
    page.interrupted = interrupt.interrupted();
  }
#else
  (void)loop;
#endif
  const triton::Comparison* found = comparison ? &*comparison : nullptr;
  page.headline = styled(audit_headline(audit), terminal.style);
  if (found) page.headline += "; " + styled(headline(*found, ungrouped), terminal.style);
  page.text = audit_text(audit, found, terminal.style);
  page.markdown = audit_markdown(audit, found);
  page.json = audit_json(audit, found);
  page.clean = audit.clean();
  return page;
}

}  // namespace heddle::app
