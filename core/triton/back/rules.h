// Triton's later passes obey `loop.stage`, `loop.cluster`, `tt.scheduled_max_stage` and `ttg.partition` without verifying any of it. These
// are the rules that they rest on, judged on the text itself, whoever wrote it: Triton, a user's editor, or give_back.h. What breaks one
// compiles without a word into a kernel that computes something else, or runs into an assertion of Triton's.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// A constraint family of the triton reading.
enum class Rule {
  Stage,  ///< every op of a scheduled loop has a stage and a cluster, plain numbers, not negative, the stages within what Triton unrolls
  LastStage,  ///< `tt.scheduled_max_stage` is there, and no stage is beyond it
  Order,      ///< no op runs before what it reads, nor before what uses the same memory: stage, then cluster, then place in the text
  Ring,       ///< no copy fills a slot of a ring before what was there is read
  Product,    ///< on Hopper no mma stands before the last stage, where Triton predicates it
  Tensor,     ///< what is in tensor memory is not overwritten before it is read
  Partition,  ///< partitions are such that Triton's lowering accepts them
  Memory,     ///< shared memory, tensor memory and warps are there
};
const char* to_string(Rule rule);  ///< "triton-order"

struct RuleViolation {
  Rule rule = Rule::Stage;
  std::string message;  ///< one sentence with op names, lines and numbers
  std::vector<mlir::OpId> ops;
  int line = 0;  ///< of the text; 0: of no one op
};

/// "triton-order: ...", as the lines of a refusal.
std::string in_words(const RuleViolation& violation);
/// A fault for each, with its line of the text. Pre: there are some.
Error refusal(const TritonProgram& program, const std::vector<RuleViolation>& violations);

/// Empty: Triton can be given this loop. Texts without a schedule (TextForm::Input) and loops without stages break none but Memory.
std::vector<RuleViolation> broken_rules(const TritonProgram& program, const LoopSite& loop, const Machine& machine);

/// The same for several loops of one text, parallel to them; memory, which is the whole kernel's, stands with the first.
std::vector<std::vector<RuleViolation>> broken_rules(const TritonProgram& program, const std::vector<const LoopSite*>& loops,
                                                     const Machine& machine);

/// The part of it that looks at `ttg.partition` (core/triton/back/rules_partition.cpp).
void judge_partitions(const TritonProgram& program, const LoopSite& loop, std::vector<RuleViolation>& found);

}  // namespace heddle::triton
