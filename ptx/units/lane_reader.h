// Operands of a unit's instruction as one lane gives them. What must be known and is not ends the run, by what it came from.
#pragma once

#include <optional>
#include <vector>

#include "ptx/run/cluster.h"

namespace heddle::ptx {

/// Who does what to whom: an instruction that a fragment of a warp executes.
struct UnitIssue {
  ClusterRun& run;
  const WarpFragment& fragment;
  const PtxInstruction& instruction;

  Warp& warp() const { return run.warps[static_cast<std::size_t>(fragment.warp)]; }
  void find(CheckRule rule, std::string sentence, std::int64_t other = -1) const {
    run.find(rule, fragment, instruction, std::move(sentence), other);
  }
};

class LaneReader {
 public:
  LaneReader(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, int lane)
      : run_(run), fragment_(fragment), instruction_(instruction), lane_(lane) {}

  /// `what` is "the size". 0 where it is not known: the run is stopped then.
  std::uint64_t need(const PtxOperand& operand, const char* what);
  /// Nothing where it is not known.
  std::optional<std::uint64_t> ask(const PtxOperand& operand) const;
  /// The operand of that number; the run is stopped where there are not so many.
  const PtxOperand& operand(std::size_t index);
  std::uint64_t need(std::size_t index, const char* what) { return need(operand(index), what); }
  bool stopped() const { return run_.stopped(); }

 private:
  ClusterRun& run_;
  const WarpFragment& fragment_;
  const PtxInstruction& instruction_;
  int lane_ = 0;
};

/// Lanes that give operands of their own; one where all give the same. `of_one_thread`: more than one of those is a note (ManyLanesIssue).
std::vector<int> lanes_apart(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes,
                             bool of_one_thread);

/// Bytes [begin, begin + bytes) of a CTA's shared memory, cut to what it has; a finding where it has not so many, or there is no such CTA.
std::optional<ByteRange> shared_range(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction,
                                      std::uint64_t address, std::uint64_t bytes);

/// False, and a finding, where `address` is no multiple of `multiple`.
bool aligned(const UnitIssue& issue, std::uint64_t address, std::uint64_t multiple, const char* what);

/// A warp-wide instruction that only some of its live lanes execute is a finding; true where all do.
bool converged(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes);

/// All registers of an operand, those of an address, a vector, a pair.
void registers_in(const PtxOperand& operand, std::vector<RegisterId>& into);

/// What an instruction's results are from now on: numbers that nobody knows.
void forget_results(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, const PtxOperand& operand, LaneMask lanes);

}  // namespace heddle::ptx
