// The answer to "which member of this family of kernels is fastest?": tile sizes, sub-tiling factors and numbers of warp
// groups as decisions.
//
// Members do different amounts of work per iteration, so they are compared by II / work, an exact ratio. It speaks of the
// steady state of one CTA on one SM; prologue, epilogue and the number of waves are not counted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text_style.h"
#include "core/kernel/subtile.h"
#include "core/problem/problem.h"
#include "core/problem/work.h"
#include "core/schedule/outcome.h"

namespace heddle {

struct KernelSetMember {
  // What it is.
  std::string kernel;                                         ///< as named by the user: before cutting
  std::string label;                                          ///< "KV=128 Q_ROWS/2 groups<=3": what sets it apart
  std::vector<std::pair<std::string, std::int64_t>> choices;  ///< the parameters that vary
  std::vector<Subtile> subtiles;                              ///< factor above 1 only
  int groups = 1;                                             ///< at most so many warp groups, producer included
  int usual_groups = 1;                                       ///< what the kernel file says
  std::size_t series = 0;                                     ///< members with the same series are one problem but for `groups`
  std::vector<Fault> faults;                                  ///< why it is no problem at all; then nothing below counts
  Problem problem;
  Work work;

  // What is known about it.
  Cycle min_ii = 0;      ///< by arithmetic
  SolveOutcome outcome;  ///< best schedule, lower bound, status; `seconds.total` over all attempts
  bool pruned = false;   ///< its lower bound alone shows that it cannot win; it was not solved to the end
  std::string why;       ///< why it was pruned, or not settled; empty when it was
  bool invalid() const { return !faults.empty(); }
};

/// The best member under one objective.
struct KernelSetBest {
  std::string objective;  ///< "throughput" or the name of an objective
  std::size_t member = 0;
  std::int64_t value = 0;  ///< II for throughput
  bool proved = false;     ///< throughput: no member of the family can be better; otherwise: among the members solved
};

struct KernelSetAnswer {
  std::string machine;
  WorkKind work = WorkKind::Iterations;
  std::vector<KernelSetMember> members;  ///< in the order of the request
  std::vector<KernelSetBest> best;       ///< throughput first; empty when no member has a schedule
  /// Nothing undecided could still equal the best member's throughput, so it is also best in the objectives that break ties.
  bool ties_settled = false;
  bool complete = false;  ///< every member is solved, refuted, pruned or invalid
  bool cancelled = false, timed_out = false;
  double seconds = 0;
  std::string solver;
  std::uint64_t seed = 0;
};

// The answer of `heddle family` in words.

/// "KV=176 groups<=3 · II 2816 · 2048 MAC/cycle · 100 % of the tensor peak · proved", or why there is no best member.
std::string kernel_set_headline(const KernelSetAnswer& family, const TextStyle& style);

/// What is known about one member, without its name: "II 2816 · optimal · 2048 MAC/cycle".
std::string member_facts(const KernelSetMember& member, const TextStyle& style);

/// The members that are problems at all, the fastest first; a cell is empty where nothing is known.
struct KernelSetTable {
  std::vector<TextColumn> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> members;  ///< of each row, into KernelSetAnswer::members
};
KernelSetTable kernel_set_table(const KernelSetAnswer& family);

/// Headline, table of members (the fastest first), why the others were not solved, and the best under each objective.
std::string kernel_set_summary(const KernelSetAnswer& family, const TextStyle& style);

// The answer of `heddle family --json`. Written only.

/// One object: every member with what is proved about it, the best per objective (as indices into `members`), and the best
/// member's schedule in full. Ratios are exact: cycles and work as integers without a common factor.
Json kernel_set_json(const KernelSetAnswer& family);
Json kernel_set_schema();

}  // namespace heddle
