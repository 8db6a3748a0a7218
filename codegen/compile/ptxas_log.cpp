#include "codegen/compile/ptxas_log.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/program/refusal.h"
#include "core/base/scanner.h"

namespace heddle::codegen {
namespace {

/// The number in front of `words`; 0 when there is none.
std::int64_t number_before(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  return number_in_front<std::int64_t>(line.substr(begin, at - begin));
}

/// What another schedule must have for ptxas not to object.
enum class Remedy { Nothing, Registers, Stages, Groups };

struct Code {
  const char* code;
  const char* rule;  ///< null: harmless
  const char* means;
  Remedy remedy = Remedy::Nothing;
};

// Waits that the compiler does not follow come from iterations that overlap, so fewer stages; a wgmma in a function of its own and
// a kernel without launch bounds would be faults of the text, the same for every schedule.
constexpr std::array<Code, 11> kCodes{{
    {"C7507", "setmaxnreg", "a setmaxnreg was dropped: too many registers are needed", Remedy::Registers},
    {"C7508", "setmaxnreg", "all setmaxnreg were dropped"},
    {"C7510", "wgmma_serialized", "wgmmas are serialised: one of them is in a function of its own"},
    {"C7511", "wgmma_serialized", "wgmmas are serialised: an accumulator is written before its wait", Remedy::Stages},
    {"C7512", "wgmma_serialized", "wgmmas are serialised: too many registers are needed", Remedy::Registers},
    {"C7513", "wgmma_serialized", "wgmmas are serialised: registers that one of them reads are written while it is in flight",
     Remedy::Stages},
    {"C7514", "wgmma_serialized", "wgmmas are serialised: an accumulator is used before a wait that the compiler follows", Remedy::Stages},
    {"C7515", "wgmma_serialized", "wgmmas are serialised", Remedy::Stages},
    {"C7602", "entry_registers", "an instruction needs more registers than the block starts with", Remedy::Groups},
    {"C7517", nullptr, "a wait was added"},
    {"C7519", nullptr, "a fence was added"},
}};

std::optional<UserConstraint> demand_for(Remedy remedy, const Program& program) {
  // Less than the schedule has now, in its own count.
  int registers = 0;
  for (const Role& role : program.roles)
    registers = std::max(registers, role.scheduled_registers > 0 ? role.scheduled_registers : role.peak_registers);
  switch (remedy) {
    case Remedy::Registers: return UserConstraint{"", true, ConstraintKind::MaxRegisters, {}, "", 0, std::max((registers - 1) / 8 * 8, 24)};
    case Remedy::Stages: return program.stages > 1 ? std::optional(fewer_stages(program)) : std::nullopt;
    case Remedy::Groups:
      return program.roles.size() > 1
                 ? std::optional(
                       UserConstraint{"", true, ConstraintKind::MaxGroups, {}, "", 0, static_cast<std::int64_t>(program.roles.size()) - 1})
                 : std::nullopt;
    case Remedy::Nothing: break;
  }
  return std::nullopt;
}

}  // namespace

PtxasReport parse_ptxas_log(std::string_view log) {
  PtxasReport report;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    report.stack = std::max(report.stack, number_before(line, " bytes stack frame"));
    report.spill_stores = std::max(report.spill_stores, number_before(line, " bytes spill stores"));
    report.spill_loads = std::max(report.spill_loads, number_before(line, " bytes spill loads"));
    report.registers =
        std::max(report.registers, static_cast<int>(std::min<std::int64_t>(number_before(line, " registers, used "), 1'000'000)));
    report.barriers = std::max(report.barriers, static_cast<int>(std::min<std::int64_t>(number_before(line, " barriers"), 1'000'000)));
    if (line.find("(C7") != std::string_view::npos) report.remarks.emplace_back(line);
  }
  return report;
}

std::vector<Refusal> judge(const PtxasReport& report, const Program& program) {
  std::vector<Refusal> refusals;
  for (const std::string& remark : report.remarks)
    for (const Code& code : kCodes) {
      if (remark.find(code.code) == std::string::npos || !code.rule) continue;
      const std::string sentence = fmt::format("{} ({})", code.means, code.code);
      if (std::none_of(refusals.begin(), refusals.end(), [&](const Refusal& r) { return r.sentence == sentence; }))
        refusals.push_back(refusal(code.rule, {}, sentence, demand_for(code.remedy, program)));
    }
  if (report.spill_stores > 0 || report.spill_loads > 0)
    refusals.push_back(refusal("spills", {},
                               fmt::format("{} bytes are spilled and {} loaded back", report.spill_stores, report.spill_loads),
                               demand_for(Remedy::Registers, program)));
  else if (report.stack > 0)
    refusals.push_back(refusal("stack", {}, fmt::format("{} bytes of stack are used: an array is indexed at run time", report.stack)));
  return refusals;
}

}  // namespace heddle::codegen
