// Inside build_program(): what the steps of the builder hand to each other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "codegen/program/build.h"

namespace heddle::codegen {

/// A step of a role's loop before the loop is cut: iterations are relative (Place::iteration is minus the distance).
struct LoopStep {
  Step step;
  int first = 0, spare = 0;      ///< as PipelineLine's
  OpId retires;                  ///< Retire: which op, so many iterations ago
  int distance = 0;
  bool new_line = true;          ///< begins a line of the pipeline program; a cut is possible before it
};

/// A role while it is being built. Begin and end have absolute iterations; -1: what the kernel's prologue made.
struct RoleDraft {
  Role role;
  std::vector<LoopStep> loop;
  std::vector<Step> begin, end;
  std::vector<bool> by_mma;      ///< per variable: some wgmma reads or writes it
  std::vector<bool> chained;     ///< per variable: a wgmma adds to what an earlier iteration left in it
};

/// Cuts the loop, decides copies, and fills role.sections, role.stages and role.cursors.
void cut_and_fold(const Problem& problem, std::int64_t trips, RoleDraft& draft,
                  std::vector<Refusal>& refusals);

/// Threads, shared memory, register budgets.
void lay_out(const Kernel& kernel, const Problem& problem, const Schedule& schedule, Program& program,
             std::vector<Refusal>& refusals);

/// A refusal with its demand, which gets its describing sentence as name.
Refusal refusal(std::string rule, std::vector<std::string> ops, std::string sentence,
                std::optional<UserConstraint> constraint = {});

}  // namespace heddle::codegen
