// Every point that the Twill paper leaves open, as a named switch with a default and one sentence. The text of the paper
// decides what it can; where it is silent the default is what gives its printed example and the shapes it describes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/answers/paper.h"
#include "core/base/result.h"

namespace heddle::solver::paper {

enum class Table { Latency, Occupancy };
enum class CostList { Ops, OpsAndEdges, All };
enum class Entries { Distinct, Multiset };
enum class TieBreak { MaxSum, MinSum };
enum class Floor { Zero, One };
enum class VariableRule { Machine, Copies, None };
enum class Streaming { Edges, Whole, Off };
enum class Blocking { Async, Waits, None };
enum class Concurrency { Cycles, Issue };
enum class Pool { Groups, Warps };
enum class SameWarp { Equal, Contain, Literal };
enum class Charge { Member, Whole };
enum class CrossWarp { Free, NoRegisters, Never };
enum class Init { LastCopy, ByDistance };
enum class PaperForm { Compact, Literal };
enum class Secondary { None, FewestGroups };

struct Options {
  // Costs
  std::int64_t u = 300;
  bool normalize = true;
  Table table = Table::Latency;
  CostList list = CostList::All;
  Entries entries = Entries::Distinct;
  TieBreak tie_break = TieBreak::MaxSum;
  Floor floor = Floor::Zero;
  std::int64_t cluster = 0;
  // Graph
  VariableRule variable = VariableRule::Machine;
  Streaming streaming = Streaming::Edges;
  std::int64_t spill_cost = -1;
  Blocking blocking = Blocking::Async;
  // Joint problem
  Pool pool = Pool::Groups;
  std::int64_t groups = 0;
  SameWarp same_warp = SameWarp::Contain;
  Concurrency concurrency = Concurrency::Issue;
  bool spill_concurrency = false;
  std::int64_t registers = 0;
  Charge charge = Charge::Member;
  CrossWarp cross_warp = CrossWarp::Free;
  bool same_cycle_guard = true;
  Init init = Init::LastCopy;
  // Search
  PaperForm form = PaperForm::Compact;
  bool accelerate = true;
  std::int64_t limit = 0;
  Secondary secondary = Secondary::None;
};

/// All switches with the values they have in `options`.
std::vector<PaperSetting> settings(const Options& options);

/// Sets one switch from "NAME=VALUE". Unknown names and values are faults with a guess at what was meant.
Result<Ok> set_switch(Options& options, std::string_view assignment);

}  // namespace heddle::solver::paper
