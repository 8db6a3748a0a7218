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
void say_unsolved(const Error& error, triton::Audit& audit) {
  triton::Finding finding{"schedules", triton::Weight::Fine, "the three schedules were not worked out", {}, {}};
  for (const Fault& fault : error.faults) finding.details.push_back(fault.message);
  audit.findings.push_back(std::move(finding));
}
#endif

}  // namespace

Result<AuditPage> audit_triton(const std::string& name, const Arguments& arguments, const Terminal& terminal, std::size_t files_left) {
  const Result<triton::Address> address = triton::parse_address(with_dump_options(name, arguments));
  if (!address) return address.error();
  const Result<triton::Program> program = triton::read_program(*address);
  if (!program) return program.error();
  const triton::LoopSite* only = nullptr;
  if (address->loop) {
    const auto number = [&](const triton::LoopSite& site) { return site.number == *address->loop; };
    const auto it = std::find_if(program->loops.begin(), program->loops.end(), number);
    // What is wrong with a loop that cannot be scheduled is the audit's to say.
    if (it == program->loops.end()) {
      const Result<const triton::LoopSite*> loop = triton::find_loop(*program, *address);
      return loop ? Error::input(fmt::format("{} has no loop {}", name, *address->loop)) : loop.error();
    }
    only = &*it;
  }
  triton::Audit audit = triton::audit(*program, limits_of_target(*program), only);
  std::optional<triton::Comparison> comparison;
  const triton::LoopSite* loop = only && only->why_not.empty() ? only : only ? nullptr : triton::usual_loop(*program);
  AuditPage page;
#ifdef HEDDLE_HAS_SOLVER
  if (!arguments.has("--no-solve") && loop) {
    const InterruptScope interrupt;
    const double seconds =
        arguments.has("--timeout") ? arguments.deadline().left() / static_cast<double>(files_left) : usual_seconds(kSecondsPerText);
    const Result<std::string> machine_name = triton::machine_for(*program);
    const Result<Machine> machine = machine_name ? read_triton_machine(name) : machine_name.error();
    Result<triton::Comparison> three = machine ? solve_three({*program, *loop, *machine}, arguments, terminal, seconds, interrupt.token())
                                               : Result<triton::Comparison>(machine.error());
    if (three)
      comparison = *std::move(three);
    else
      say_unsolved(three.error(), audit);
    page.interrupted = interrupt.interrupted();
  }
#else
  (void)loop, (void)files_left;
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
